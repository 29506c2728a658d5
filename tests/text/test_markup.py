from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotrope.text.markup import has_markup, strip_markup


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("<p>Hello,<br/>my VPN</p>\n<p>is &quot;down&quot;</p>", 'Hello, my VPN is "down"'),
        ("a <b>bo</b>ld word", "a bold word"),
        ("<style>p {color: red}</style><script>if (a < b) {}</script>text", "text"),
        ("before<!-- a comment -->after", "beforeafter"),
        ("<DIV CLASS='x'>upper</DIV>", "upper"),
        ("List<String> of <name>, see <a href='x'>here</a>", "List<String> of <name>, see here"),
        ("&#8364;5 &#x20AC;5", "€5 €5"),
    ],
)
def test_markup_is_taken_out(text: str, wanted: str) -> None:
    assert has_markup(text)
    assert strip_markup(text).lower() == wanted.lower()


@pytest.mark.parametrize("text", ["a < b and c > d", "I <3 it", "x&y; AT&T", "map<int, string>", "mail <me@x.org>"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert not has_markup(text)
    assert strip_markup(text) == text


@given(st.text(alphabet="<>/&;!-ab p\n", max_size=40))
def test_any_text_is_taken(text: str) -> None:
    stripped = strip_markup(text)
    assert has_markup(text) or stripped == text
