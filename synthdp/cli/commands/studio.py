"""``synthdp studio``: a local web page from a table to a publication."""

from dataclasses import dataclass
from typing import final

from synthdp.cli.commands.table import SERVE_STUDIO
from synthdp.cli.shared.first_compile import compile_beside
from synthdp.core.imports import import_extra, import_named

_LIBRARIES = ("starlette", "uvicorn", "jinja2", "python_multipart")


@final
@dataclass(frozen=True, kw_only=True)
class StudioOptions:
    """``synthdp studio``."""

    file: str | None
    project: str | None
    port: int
    no_browser: bool


def studio_command(options: StudioOptions) -> None:
    """``synthdp studio``: serves on 127.0.0.1 until Ctrl-C."""
    for library in _LIBRARIES:
        import_extra(
            library,
            "the studio's libraries are not installed; install them with pip install 'synthdp[studio]'",
        )
    compile_beside()
    import_named(SERVE_STUDIO)(
        options.file,
        project=options.project,
        port=options.port,
        opens_browser=not options.no_browser,
    )
