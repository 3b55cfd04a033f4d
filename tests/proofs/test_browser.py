"""The browser of the proofs: what it reads from a page, and what it takes amiss."""

from __future__ import annotations

import pytest

from proofs.browser import Unexpected, fields_in

PAGE = """
<form method="get" action="/search"><input name="q"></form>
<form class="sheet" method="post" action="/cart/add?a=1&amp;b=2" novalidate>
<input type="hidden" name="form_token" value="a&#34;b">
<label for="count">How many</label><input id="count" value="3" name="count">
<input type="submit" value="Go">
</form>
"""


def test_it_reads_what_stands_in_a_form() -> None:
    assert fields_in(PAGE, "/", "/cart/add?a=1&b=2") == {"form_token": 'a"b', "count": "3"}
    assert fields_in(PAGE, "/", "/search") == {"q": ""}


def test_a_form_that_is_not_there_is_unexpected() -> None:
    with pytest.raises(Unexpected, match="/ has no form for /checkout"):
        fields_in(PAGE, "/", "/checkout")
