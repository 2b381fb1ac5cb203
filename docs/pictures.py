"""Make the pictures of README and docs from the made-up census: `python docs/pictures.py`. They differ by the noise.

The census is invented, so that comparing it with its synthetic copy in public harms nobody. The picture of a report is
made by a headless Chromium, and so is that of a certificate.
"""

import base64
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import pandas as pd
from PIL import Image

import synthdp
from synthdp.report.pages.columns import pictures
from synthdp.report.pages.view import PageView
from synthdp.report.release_pages.certificate_page import certificate_page
from synthdp.report.rendering.section import Picture
from synthdp.report.table_evaluation import TableEvaluation

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "data"
SHOWN = ("age", "hours", "income", "marital", "education", "status")
WIDTH, HEIGHT, GAP = 330.0, 190.0, 24.0
SCREEN, SHEET, COLOURS = (1280, 2490), (1000, 1200), 64
"""Pixels of the pictures of a report and of a certificate, and their colours: a page has few."""


def compared() -> tuple[TableEvaluation, dict[str, object]]:
    """The census against a synthetic one at epsilon 1, and its certificate."""
    people = pd.read_csv(DATA / "census.csv", dtype=str, keep_default_na=False)
    synthesis = synthdp.synthesize(people, DATA / "census.schema.json", epsilon=1, delta=1e-9)
    tables = {"synthetic.csv": synthesis.sample(text=True)}
    evaluation = synthdp.evaluate(
        people, tables, synthesis.schema, targets=[], certificate=synthesis.certificate
    )
    assert isinstance(evaluation, TableEvaluation)
    return evaluation, synthesis.certificate


def columns(found: TableEvaluation) -> list[Picture]:
    """The pictures of some columns."""
    sections = {name: getattr(found, name) for name in ("columns", "values", "distributions")}
    view = PageView(sections, found.facts, found.tables)
    by_name = {picture.title: picture for picture in pictures(view)}
    return [by_name[name] for name in SHOWN]


def sheet(shown: Sequence[Picture]) -> str:
    """Pictures in three columns on a sheet of its own, with what is drawn how."""
    parts = []
    for place, picture in enumerate(shown):
        x, y = GAP + place % 3 * (WIDTH + GAP), 50 + place // 3 * HEIGHT
        box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', picture.svg)
        assert box is not None
        height = WIDTH * float(box[2]) / float(box[1])
        parts.append(f'<text x="{x}" y="{y}" font-weight="bold">{picture.title}</text>')
        parts.append(
            picture.svg.replace(
                "<svg ", f'<svg x="{x}" y="{y + 8}" width="{WIDTH}" height="{height:.1f}" ', 1
            )
        )
    width, height = 3 * (WIDTH + GAP) + GAP, 60 + -(-len(shown) // 3) * HEIGHT
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="sans-serif" font-size="13" fill="#333">\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n'
        f'<rect x="{GAP}" y="12" width="26" height="12" fill="#b8b8b8"/>'
        f'<text x="{GAP + 34}" y="22">census.csv, made up</text>'
        f'<path d="M230 18h26" stroke="#0072B2" stroke-width="2"/><circle cx="243" cy="18" r="4" fill="#0072B2"/>'
        f'<text x="264" y="22">synthetic, (1, 1e-9)-differentially private</text>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def photographed(page: Path, path: Path, size: tuple[int, int]) -> None:
    """The beginning of a page as a browser shows it, as PNG."""
    browser = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    )
    with tempfile.TemporaryDirectory() as folder:
        shot = Path(folder, "shot.png")
        options = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--user-data-dir={folder}",
        ]
        window = ",".join(map(str, size))
        subprocess.run(
            [browser, *options, f"--window-size={window}", f"--screenshot={shot}", page.as_uri()],
            check=True,
            timeout=300,
        )
        Image.open(shot).convert("RGB").quantize(COLOURS, Image.Quantize.FASTOCTREE).save(
            path, optimize=True
        )


STUDIO = ROOT / "docs" / "pictures" / "studio"
STUDIO_STEPS = ("table", "columns", "people", "budget", "run", "look", "take")
STUDIO_WIDTH, STUDIO_HEIGHT = 1100, 1000
"""Pixels of the pictures of the studio; what is longer is cut."""


def studio_pictures(folder: Path) -> None:
    """Each step of the studio, on an export that is made up."""
    sys.path.insert(0, str(ROOT / "tests"))
    from helpers.browser import Browser
    from helpers.studio import Person, Served, declare_export, messy_export

    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory() as profile:
        clinic = Path(place, "clinic")
        clinic.mkdir()
        messy_export(clinic / "stays.csv", 4000)
        served, browser = Served("stays.csv", cwd=clinic), Browser(Path(profile))

        def photograph(step: str) -> None:
            answer = browser.ask("Page.captureScreenshot")
            shot = Image.open(BytesIO(base64.b64decode(answer["data"]))).convert("RGB")
            shot = shot.quantize(COLOURS, Image.Quantize.FASTOCTREE)
            shot.save(folder / f"{step}.png", optimize=True)

        try:
            browser.resize(STUDIO_WIDTH, STUDIO_HEIGHT)
            person = Person(browser, served)
            person.fill("mark", ",")
            photograph("table")
            person.press("then", "go_on", leads="/columns")
            declare_export(person)
            person.until("!document.querySelector('.said .bad')")
            time.sleep(2)
            photograph("columns")
            person.press("action", "go_on", leads="/people")
            browser.run("document.querySelector('#rules details').open = true")
            photograph("people")
            person.fill("several", "no")
            person.press("action", "go_on", leads="/budget")
            person.fill("rows", "4000")
            person.fill("epsilon", "2")
            person.until("document.querySelector('tr.here')?.textContent.trim().startsWith('2')")
            photograph("budget")
            person.press("action", "go_on", leads="/run")
            person.press("action", "start", leads="/run")
            person.until("document.querySelectorAll('.charges li').length > 9", 120)
            photograph("run")
            person.until("document.querySelector('.state-done')", 240)
            person.press("action", "go_on", leads="/look")
            person.press("action", "make")
            person.until("document.querySelector('iframe')", 120)
            time.sleep(2)
            photograph("look")
            person.press("action", "go_on", leads="/take")
            photograph("take")
        finally:
            browser.close()
            served.close()


if __name__ == "__main__":
    evaluation, certificate = compared()
    kept = ROOT / "docs" / "pictures"
    (kept / "columns.svg").write_text(sheet(columns(evaluation)), encoding="utf-8")
    with tempfile.TemporaryDirectory() as pages:
        report, stated = Path(pages, "report.html"), Path(pages, "certificate.html")
        evaluation.to_html(report)
        stated.write_text(certificate_page(certificate), encoding="utf-8")
        photographed(report, kept / "report.png", SCREEN)
        photographed(stated, kept / "certificate.png", SHEET)
    STUDIO.mkdir(exist_ok=True)
    studio_pictures(STUDIO)
