"""What pages are made of: tables of texts, and scripts that are named by their hash."""

import re
from base64 import b64encode
from hashlib import sha256

import pandas as pd
import pytest
from helpers.html_pages import Page

from synthdp.report import Listing, Section, rendered

pytest.importorskip("jinja2")

FRAME = pd.DataFrame(
    {"what": ["<b>", "a", "b"], "much": [0.5, float("nan"), 12345.6], "is": [True, False, True]}
)


def test_a_listing_has_the_columns_that_are_named_and_says_what_is_left_out():
    listing = Listing.from_frame(FRAME, {"much": "how much", "what": "what"}, "Caption.", most=2)
    assert listing.head == ("how much", "what")
    assert listing.is_number == (True, False)
    assert listing.rows == (("0.5", "<b>"), ("", "a"))
    assert listing.n_more == 1
    assert Listing.from_frame(FRAME, {"is": "is"}, "").rows == (("yes",), ("no",), ("yes",))
    assert Listing.from_frame(FRAME, {"is": "is"}, "").is_number == (False,)


def test_a_page_shows_its_sections_and_runs_no_script_but_its_own():
    listing = Listing.from_frame(FRAME, {"what": "what", "much": "much"}, "Caption.", most=2)
    section = Section(name="one", title="<i>One</i>", words=["A & B"], listings=[listing])
    text = rendered("report.html", {"title": "T", "sections": [section]})
    page = Page(text)
    assert "<i>One</i>" in page.text
    assert "A & B" in page.text
    assert page.rows[1:] == [["<b>", "0.5"], ["a", ""]]
    assert "1 more rows are not on this page" in page.text
    assert ("a", {"href": "#one"}) in page.tags
    (script,) = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    (policy,) = [each["content"] for each in page.all("meta") if "http-equiv" in each]
    assert policy.startswith("default-src 'none';")
    assert policy.endswith(f"script-src 'sha256-{digest}'")
