"""Fail if a page of the site has a serious fault of accessibility: `python .ci/axe.py FOLDER`.

It needs Chromium and the test extra, and says so and passes without them.
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from helpers.browser import CHROMIUM, Browser

FAULTS = """axe.run(document, {resultTypes: ["violations"]}).then((found) => found.violations
    .filter((each) => ["serious", "critical"].includes(each.impact))
    .map((each) => `${each.id} (${each.nodes.length}): ${each.nodes[0].html.slice(0, 160)}`))"""


def main(folder: Path) -> int:
    """Try all pages and return the exit code."""
    spec = find_spec("axe_core_python")
    if CHROMIUM is None or spec is None or spec.origin is None:
        print("no Chromium, or no axe: pages were not tried")
        return 0
    script = next(Path(spec.origin).parent.rglob("axe.min.js")).read_text(encoding="utf-8")
    browser, n_faults = Browser(Path(mkdtemp())), 0
    try:
        for page in sorted({*folder.rglob("*.html")} - {folder / "404.html"}):  # it asks a server
            browser.open(page, width=1280)
            browser.run(script + ";1")
            for fault in browser.run(FAULTS):
                n_faults += 1
                print(f"{page.relative_to(folder)}: {fault}")
    finally:
        browser.close()
    print(f"{n_faults} serious faults")
    return int(n_faults > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
