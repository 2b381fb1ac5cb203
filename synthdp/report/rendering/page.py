"""Pages of HTML that need nothing else: one file, no network, no font; scripts only such as are
named by their hash.
"""

from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from synthdp.core.imports import import_extra
from synthdp.report.rendering.figures import themed

TEMPLATES = Path(__file__).parent / "templates"
"""What all pages share."""


def rendered(
    template: str, view: Mapping[str, Any], *, folder: Path = TEMPLATES, extra: str = "report"
) -> str:
    """A page of HTML; whatever is in ``view`` is escaped, pictures aside.

    Parameters
    ----------
    template
        The name of its template.
    view
        What the template asks for.
    folder
        Where templates lie besides the shared ones.
    extra
        Which extra has Jinja, for the message.

    Raises
    ------
    MissingExtraError
        If Jinja is not installed.
    """
    page: str = _environment(folder, extra).get_template(template).render(view)
    return page


def kept_together(text: str) -> str:
    """A sentence in which no line ends between a number and its per cent.

    >>> kept_together("5 % of 9")
    '5\\xa0% of 9'
    """
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def import_jinja(extra: str = "report") -> Any:
    """Jinja; raises `MissingExtraError`, which names the extra, if it is not installed."""
    return import_extra(
        "jinja2",
        f"Jinja is not installed, which pages are made with; install it with pip install 'synthdp[{extra}]'",
    )


@cache
def _environment(folder: Path, extra: str) -> Any:
    jinja2 = import_jinja(extra)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, TEMPLATES]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = (TEMPLATES / "sorting.js").read_text(encoding="utf-8")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    environment.globals |= {"script": script, "script_hash": f"sha256-{digest}"}
    environment.filters |= {"themed": themed, "kept_together": kept_together}
    return environment
