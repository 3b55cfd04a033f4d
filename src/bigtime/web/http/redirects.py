"""Redirects: after a form, and to the one address of a name from other spellings of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import quote, urlsplit

from starlette.responses import RedirectResponse, Response

from bigtime.model import DomainError

BUTTONS = ("like", "unlike", "watch", "unwatch")
"""The last part of the addresses that buttons on the page of a name are sent to."""


def see_other(address: str) -> Response:
    """To the page after a form that went well (303)."""
    return RedirectResponse(address, status_code=HTTPStatus.SEE_OTHER)


def key_of(name: str, spell: Callable[[str], str], unknown: type[DomainError]) -> str:
    """A name as its address has it; `unknown` is raised for what can be no name."""
    try:
        return spell(name)
    except DomainError:
        raise unknown() from None


def page_of_button(folder: str, name: str) -> str | None:
    """The page whose button is sent to this address: of `APPLE/LIKE` it is `APPLE`'s."""
    before, _, button = name.rpartition("/")
    return folder + quote(before, safe="") if before and button.lower() in BUTTONS else None


def redirect_to_canonical(folder: str, key: str) -> Response:
    """To the page of a name, from another spelling of it (308)."""
    address = folder + quote(key, safe="")
    return RedirectResponse(address, status_code=HTTPStatus.PERMANENT_REDIRECT)


# ------------------------------------------------------------------------------------------
# Paths on this site: where somebody is sent on to, when the address came from outside.
#
# A link to our log-in page may name any page to go to after it. Only a page of this site will do;
# browsers read `//host`, `/\host` and a path with a tab or newline in it as another site's.


LOCAL = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f]*")


MOST_CHARACTERS = 2_000


TALKING = ("/log-in", "/sign-up", "/log-out")
"""Pages that nobody wants to be sent back to."""


def local_path(text: str | None, *, default: str = "/") -> str:
    """The path itself if it leads to a page of this site, or else the default."""
    if not text or len(text) > MOST_CHARACTERS or not LOCAL.fullmatch(text):
        return default
    parts = urlsplit(text)
    if parts.scheme or parts.netloc or parts.path.startswith(TALKING):
        return default
    return text if text.isascii() else default
