"""The pages are written as docs/style.md says: short sentences, short paragraphs, no words that a
reader has to guess.
"""

import re

import pytest
from helpers.pages import DOCS
from helpers.paths import ROOT

PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
MAX_SENTENCE, MAX_PARAGRAPH, MAX_ITEM, MAX_README, MAX_WORDS = 45, 60, 100, 900, 40_000
"""Words, of a list's items too, of README, and of all pages together."""

GUESSED = re.compile(
    r"\b(listened to|falls apart into residuals|do not listen|errs by E on|not so if|"
    r"below right|have floors themselves|be as right as|in all its spellings)\b",
    re.IGNORECASE,
)
"""Words of ours that a reader had to read twice."""

_FENCED = re.compile(r"^ *```.*?^ *```", flags=re.DOTALL | re.MULTILINE)
_END = re.compile(r"(?<=[.!?:;])[)\"*`]*\s+(?=[\"*`(\[]*[A-Z0-9`])|(?<=[:;])\s")

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="no checkout")


def paragraphs(text):
    """Paragraphs and items of lists, without code, tables and headings, links as their words."""
    text = re.sub(r"\]\([^)]*\)", "]", _FENCED.sub("", text))
    text = re.sub(r"^> ?", "", text, flags=re.MULTILINE)
    for block in re.split(r"\n\s*\n|\n(?= *(?:[-*]|\d+\.) )", text):
        if not block.strip().startswith(("|", "#", "!", "<!--", "    ")):
            yield " ".join(block.split())


def sentences(paragraph):
    return [sentence for sentence in _END.split(paragraph) if sentence]


def is_item(paragraph):
    return re.match(r"[-*] |\d+\. ", paragraph) is not None


def long_paragraphs(page):
    texts = paragraphs(page.read_text("utf-8"))
    return [
        text for text in texts if len(text.split()) > (MAX_ITEM if is_item(text) else MAX_PARAGRAPH)
    ]


def long_sentences(page):
    texts = paragraphs(page.read_text("utf-8"))
    found = [sentence for text in texts for sentence in sentences(text)]
    return [sentence for sentence in found if len(sentence.split()) > MAX_SENTENCE]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_sentences_and_paragraphs_are_short(page):
    assert long_sentences(page) == []
    assert long_paragraphs(page) == []
    assert GUESSED.findall(page.read_text("utf-8")) == []


@pytest.mark.parametrize("room", ["synthdp", "mechanisms"])
def test_texts_in_the_code_have_no_words_that_readers_read_twice(room):
    """Docstrings of mechanisms and engines are pages of the site, too."""
    files = sorted((ROOT / room).rglob("*.py"))
    texts = {file: " ".join(file.read_text("utf-8").split()) for file in files}
    assert {
        file.name: GUESSED.findall(text) for file, text in texts.items() if GUESSED.search(text)
    } == {}


def test_readme_is_one_screen_and_the_pages_are_no_book():
    assert len(PAGES[0].read_text("utf-8").split()) <= MAX_README
    n_words = sum(len(page.read_text("utf-8").split()) for page in PAGES[1:])
    more = "shorten what is there, or raise MAX_WORDS for a page of a new mechanism or engine"
    assert n_words <= MAX_WORDS, f"the pages have {n_words:,} words: {more}"


def test_a_long_sentence_and_a_long_paragraph_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Head\n\n" + "word " * 46 + ".\n\n" + "Three words here. " * 21, "utf-8")
    assert len(long_sentences(page)) == 1
    assert len(long_paragraphs(page)) == 1
