"""HTML in text: is there any, and the text without it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

# Only names that HTML has: `List<String>` and `<name>` stay as they are.
INLINE_TAGS = "a abbr b big code em font i label mark q s small span strike strong sub sup tt u"
BLOCK_TAGS = """
    address article aside audio blockquote body br button center dd div dl dt fieldset figcaption figure footer form
    h1 h2 h3 h4 h5 h6 head header hr html iframe img input li link main meta nav o:p ol option p pre section select
    source svg table tbody td textarea tfoot th thead title tr ul video
"""
INLINE, BLOCKS = frozenset(INLINE_TAGS.split()), frozenset(BLOCK_TAGS.split())
SILENT = frozenset(("script", "style"))  # whose content is no text
TAGS = INLINE | BLOCKS | SILENT
_MARKUP = re.compile(r"<!--|</?([a-zA-Z][\w:]*)(?:\s[^<>]*)?/?>|&(?:[a-zA-Z]{2,8}|#\d{1,6}|#x[0-9a-fA-F]{1,6});")


def has_markup(text: str) -> bool:
    """Whether there are tags, comments or entities of HTML in it.

    >>> has_markup("<p>Hello&nbsp;you</p>"), has_markup("a < b, List<String>, AT&T")
    (True, False)
    """
    return any(found[1] is None or found[1].lower() in TAGS for found in _MARKUP.finditer(text))


def strip_markup(text: str) -> str:
    """The text without tags and comments, entities as what they stand for, on one line; other text as it is.

    >>> strip_markup("<p>Hello,<br/>you &amp; <b>me</b></p>")
    'Hello, you & me'
    """
    if not has_markup(text):
        return text
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return " ".join("".join(reader.pieces).split())


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.silent = 0  # how many elements without text are open

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in TAGS:
            self.pieces.append(self.get_starttag_text() or "")
        elif tag not in INLINE:
            self.pieces.append(" ")
        self.silent += tag in SILENT

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.pieces.append(" " if tag in TAGS else self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        if tag not in TAGS:
            self.pieces.append(f"</{tag}>")
        elif tag not in INLINE:
            self.pieces.append(" ")
        self.silent = max(0, self.silent - (tag in SILENT))

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self.pieces.append(data)
