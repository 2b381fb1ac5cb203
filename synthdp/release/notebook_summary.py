"""What a notebook shows of a release."""

from html import escape

from synthdp.core.cautions import grouped
from synthdp.core.measurement import estimate_total
from synthdp.release.answers import Answers


def notebook_summary(release: Answers) -> str:
    """The guarantee, what was measured and all cautions, as HTML."""
    stated = release.certificate
    unit = stated.get("unit_of_privacy")
    facts = {
        "protected as one": unit,
        "mechanism": (stated.get("mechanism") or {}).get("name"),
        "engine": (stated.get("engine") or {}).get("name"),
        "columns": len(release.schema.table_names),
        "measured": f"{len(release.measurements)} marginals",
        "records": f"about {estimate_total(release.measurements):,.0f}"
        if release.measurements and release.knows_size
        else "hidden by noise",
    }
    rows = "".join(
        f"<tr><th>{name}</th><td>{escape(str(value))}</td></tr>"
        for name, value in facts.items()
        if value
    )
    cautions = "".join(
        f"<li>{escape(caution)}</li>" for caution in grouped(stated.get("cautions", []))
    )
    said = f"\n<p>Cautions:</p><ul>{cautions}</ul>" if cautions else ""
    return f"<p><strong>{escape(str(stated.get('guarantee')))}</strong></p>\n<table>{rows}</table>{said}"
