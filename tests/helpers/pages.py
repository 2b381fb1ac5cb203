"""What the documentation shows: commands, links, and the anchors that links may name."""

import re
import shlex
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
_FENCED = re.compile(r"^ *```.*?^ *```", flags=re.DOTALL | re.MULTILINE)


def shell_lines(text: str) -> list[list[str]]:
    """The arguments of every synthdp command in a block of shell."""
    lines = text.replace("\\\n", "").splitlines()
    words = [shlex.split(part, comments=True) for line in lines for part in line.split("&&")]
    return [line[1:] for line in words if line and line[0].split("/")[-1] == "synthdp"]


def links(page: Path) -> list[str]:
    """What a page links to inside of the project, with anchors."""
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    return re.findall(r"\]\((?!https?:)([^)\s]+)\)", text)


def anchors(page: Path) -> set[str]:
    """Anchors of a page's headings, as the site makes them."""
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {
        re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())
        for heading in headings
    }
