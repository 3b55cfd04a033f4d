"""Where somebody may be sent on to."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.web.http.responses import local_path

HOST = "https://bigtime.example"


@pytest.mark.parametrize("path", ["/", "/inbox", "/brands/A%26B?after=x&show=y", "/a//b", "/x#y"])
def test_a_path_of_this_site_will_do(path: str) -> None:
    assert local_path(path) == path


@pytest.mark.parametrize(
    "path",
    [None, "", "inbox", "//evil.example", "///evil.example", "/\\evil.example",
     "https://evil.example", "/ /evil", "/\t/evil.example", "/\r\nx", "/log-in", "/log-in?next=/",
     "/log-out-everywhere", "/é", "/" + "x" * 3_000],
)  # fmt: skip
def test_anything_else_is_the_default(path: str | None) -> None:
    assert local_path(path, default="/me") == "/me"


PIECES = st.sampled_from(["/", "\\", "evil.example", "\t", "\n", ":", "https:", "@", "?", "#", "a",
                          "%2f", "..", ";", " ", "\x00", "é"])  # fmt: skip


@given(st.lists(PIECES, max_size=6).map("".join) | st.text(max_size=20))
def test_no_path_leads_away(text: str) -> None:
    """As a browser reads it: tabs and newlines dropped, backslashes turned into slashes."""
    path = local_path(text)
    read = "".join(each for each in path if each not in "\t\r\n").strip().replace("\\", "/")
    parts = urlsplit(urljoin(HOST + "/somewhere", read))
    assert (parts.scheme, parts.netloc) == ("https", "bigtime.example")
    assert path.isprintable()
