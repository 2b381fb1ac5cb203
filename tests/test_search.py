"""Words that people search for stand on a page that answers them, besides the list of other words
on the home page: the site's search looks for words as they are written.
"""

import re

import pytest
from helpers.pages import DOCS

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="no checkout")

ANSWERS = {
    "nightly": "nightly",
    "cron": "nightly",
    "Docker": "nightly",
    "systemd": "nightly",
    "Airflow": "nightly",
    "schedule": "nightly",
    "Spark": "sources",
    "Postgres": "sources",
    "BigQuery": "sources",
    "SDV": "coming-from",
    "SmartNoise": "coming-from",
    "GDPR": "stewards",
    "HIPAA": "stewards",
    "anonymise": "stewards",
    "pseudonym": "stewards",
    "k-anonymity": "limits",
    "re-identification": "limits",
    "membership": "limits",
    "epsilon": "plan",
    "delta": "stewards",
    "noise": "stewards",
    "weights": "survey-tables",
    "microdata": "survey-tables",
    "time series": "persons",
    "longitudinal": "persons",
    "panel": "persons",
    "missing": "schema",
    "imputation": "slices",
    "outlier": "domain",
    "Jupyter": "notebook",
    "household": "linked",
    "synthetic": "index",
    "Excel": "files",
    "Parquet": "files",
    "seed": "limits",
    "certificate": "certificate",
    "confidence interval": "limits",
}
"""By word the page, without its ending."""


@pytest.mark.parametrize(("word", "page"), ANSWERS.items())
def test_a_word_that_people_search_for_stands_on_its_page(word, page):
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    assert re.search(rf"(?<!\w){re.escape(word)}", re.sub(r"\s+", " ", text), re.IGNORECASE)
