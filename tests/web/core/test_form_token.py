"""Form tokens: of this site, and of this cookie."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bigtime.web.http.cookies import FormTokens

TOKENS = FormTokens(b"a secret of thirty-two bytes ....")


@given(cookie=st.text(min_size=1), other=st.text(min_size=1))
def test_a_token_fits_its_own_cookie_only(cookie: str, other: str) -> None:
    token = TOKENS.token(cookie)
    assert TOKENS.fits(cookie, token)
    assert TOKENS.fits(other, token) == (other == cookie)


@given(given=st.none() | st.text())
def test_nothing_else_fits(given: str | None) -> None:
    assert not TOKENS.fits("cookie", given)
    assert not TOKENS.fits(None, given)
    assert not FormTokens(b"another secret of thirty-two byte").fits("c", TOKENS.token("c"))
