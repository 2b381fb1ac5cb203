"""``synthdp certificate``: a certificate in the forms in which it is published."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from synthdp.cli.commands.describe import describe
from synthdp.cli.shared.announcing import RESULT_SCHEMA_FILE
from synthdp.cli.shared.changed_certificates import refuse_changed_certificates
from synthdp.cli.shared.outputs import check_distinct
from synthdp.cli.shared.printing import print_text
from synthdp.core.errors import DataFileError, ParameterError
from synthdp.core.files.json_files import json_text
from synthdp.core.files.writing import STANDARD_STREAM, check_writable, write_atomically
from synthdp.core.sealing import sealed
from synthdp.release.certificate.about import read_about
from synthdp.release.certificate.certificate import SCHEMA_FILE
from synthdp.release.certificate.deployment_record import deployment_record, next_tier
from synthdp.release.certificate.dp_events import event_tree
from synthdp.release.certificate.yaml_files import yaml_text
from synthdp.report.release_pages.certificate_page import certificate_page

FORMS = ("html", "registry", "json", "dp-events")
_ENDINGS = {
    ".html": "html",
    ".htm": "html",
    ".yaml": "registry",
    ".yml": "registry",
    ".json": "json",
}


@final
@dataclass(frozen=True, kw_only=True)
class CertificateOptions:
    """``synthdp certificate``."""

    file: str | None
    output: str
    form: str | None
    about: str | None
    schema: str | None
    force: bool


def certificate_command(options: CertificateOptions) -> None:
    """``synthdp certificate``: opens nothing but the certificate, or the model that it is in, and
    ``--about``.
    """
    if options.schema is not None:
        file = RESULT_SCHEMA_FILE if options.schema == "result" else SCHEMA_FILE
        _write(file.read_text(encoding="utf-8"), options)
        return
    if options.file is None:
        raise ParameterError(
            "FILE is missing; give a .privacy.json file or one written by `synthdp run --save`"
        )
    form = _form(options)
    check_distinct(
        [options.output], inputs=(options.file, *([options.about] if options.about else []))
    )
    check_writable(options.output, force=options.force)
    statement = read_about(options.about) if options.about else {}
    certificate = _certificate(options.file)
    if statement:
        certificate["about"] = (certificate.get("about") or {}) | statement
    with refuse_changed_certificates(
        f"{options.file!r}: the certificate was changed, or is too old for this form"
    ):
        text = _text(certificate, form)
    _write(text, options)
    if form == "registry":
        _say_tier(certificate["about"])


def _form(options: CertificateOptions) -> str:
    """What to write: as asked for, or by the ending of the output."""
    form: str | None = options.form or _ENDINGS.get(Path(options.output).suffix.lower())
    if form is None:
        raise ParameterError(
            f"--output is {options.output!r}; end it in .html, .yaml or .json, or say --as FORM"
        )
    if form not in FORMS:
        raise ParameterError(f"--as is {form!r}; give one of {', '.join(FORMS)}")
    return form


def _certificate(path: str) -> dict[str, Any]:
    """The certificate that a file is, or holds."""
    content, _ = describe(path)
    certificate = content.get("certificate", content)
    if not isinstance(certificate, Mapping) or "guarantee" not in certificate:
        raise DataFileError(
            f"{path!r}: it holds no certificate; give a .privacy.json file or one written by --save"
        )
    return dict(certificate)


def _text(certificate: Mapping[str, Any], form: str) -> str:
    if form == "html":
        return certificate_page(certificate)
    if form == "registry":
        return yaml_text(deployment_record(certificate, certificate.get("about", {})))
    return json_text(event_tree(certificate) if form == "dp-events" else sealed(certificate))


def _write(text: str, options: CertificateOptions) -> None:
    if options.output == STANDARD_STREAM:
        print_text(text)
        return
    with write_atomically(options.output, force=options.force) as stream:
        stream.write(text.encode(errors="replace"))


def _say_tier(about: Mapping[str, Any]) -> None:
    """Say how complete a record of the registry is, and what it lacks."""
    tier, missing = next_tier(about)
    more = f"; for tier {tier + 1} say {', '.join(missing)} in --about" if missing else ""
    sys.stderr.write(f"synthdp: a draft for the registry, of tier {tier}{more}\n")
