"""Pages of HTML as tests look at them."""

from html.parser import HTMLParser

import pytest


class Page(HTMLParser):
    """Texts and tags; fails on tags that do not close in order, and on names that come twice."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.words, self.rows, self.names = [], [], [], [], []
        self.feed(text)
        assert self.open == []
        assert len(set(self.names)) == len(self.names)

    def handle_starttag(self, tag, attributes):
        self._note(tag, attributes)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self._note(tag, attributes)

    def _note(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.names += [value for key, value in attributes if key == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if {"script", "style"} & set(self.open):
            return
        self.words.append(data)
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data

    def all(self, tag):
        """The attributes of all tags of a kind."""
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def html_of(found, home, **sizes):
    """The page of an evaluation, with constants of a module set so that it is small."""
    with pytest.MonkeyPatch.context() as patched:
        for name, size in sizes.items():
            patched.setattr(home, name, size)
        return found.to_html()


def assert_says_first_that_it_is_not_private(words, warning):
    """A page of what was read off the records says so before its summary."""
    assert words.startswith("NOT PRIVATE")
    assert words.index(warning) < words.index("Summary")
