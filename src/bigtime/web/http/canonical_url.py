"""One address for each name: other spellings of it lead there, and are not kept as pages."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import quote

from starlette.responses import RedirectResponse, Response

from bigtime.model import DomainError

DEEDS = ("like", "unlike", "watch", "unwatch")
"""What is done to a name, by a button on its page."""


def key_of(name: str, spell: Callable[[str], str], unknown: type[DomainError]) -> str:
    """A name as its address has it; what can be no name is that of nothing."""
    try:
        return spell(name)
    except DomainError:
        raise unknown() from None


def behind_button(folder: str, name: str) -> str | None:
    """The page whose button is sent to this address: of `APPLE/LIKE` it is `APPLE`'s."""
    before, _, deed = name.rpartition("/")
    return folder + quote(before, safe="") if before and deed.lower() in DEEDS else None


def spelled_otherwise(folder: str, key: str) -> Response:
    """To the page of a name, from how somebody else has spelled it."""
    address = folder + quote(key, safe="")
    return RedirectResponse(address, status_code=HTTPStatus.PERMANENT_REDIRECT)
