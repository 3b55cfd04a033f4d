"""The site's cookies: for the session, for forms and carts before sign-in, for known devices.

Over TLS their names begin with `__Host-`: a browser then accepts them from this host only, and for
all of its paths. They are HttpOnly, and are not sent with forms from other sites.
"""

from __future__ import annotations

import hmac
import re
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Iterable
from hashlib import sha256
from typing import Final

from bigtime.web.http.responses import Header

SESSION = "session"
VISIT = "visit"
DEVICE = "device"
CART = "cart"
WEEK_SECONDS = 7 * 24 * 3600
DEVICE_SECONDS = 180 * 24 * 3600


class Cookies:
    """Reads and writes the site's cookies."""

    def __init__(self, *, secure: bool) -> None:
        prefix = "__Host-" if secure else ""
        self.names = {name: prefix + name for name in (SESSION, VISIT, DEVICE, CART)}
        self._attributes = "; Path=/; HttpOnly; SameSite=Lax" + ("; Secure" if secure else "")
        self._marks = {name: f"{given}=".encode() for name, given in self.names.items()}

    def read(self, name: str, headers: Iterable[Header]) -> str | None:
        """The value of a cookie in the headers of a request."""
        mark = self._marks[name]
        for key, value in headers:
            if key == b"cookie" and mark in value:
                for pair in map(bytes.strip, value.split(b";")):
                    if pair.startswith(mark):
                        return pair[len(mark) :].decode("latin-1") or None
        return None

    def set_header(self, name: str, value: str, *, seconds: int = WEEK_SECONDS) -> Header:
        """The Set-Cookie header of a cookie."""
        text = f"{self.names[name]}={value}; Max-Age={seconds}{self._attributes}"
        return b"set-cookie", text.encode("latin-1")

    def clear_header(self, name: str) -> Header:
        return self.set_header(name, "", seconds=0)


# --- Form tokens: proof that a form was sent from a page of ours --------------------------
# A browser sends its cookies with any form, also one on another site's page. So each form has a
# token that only a page of this site can have read: the cookie's value, signed. Nothing is stored,
# and a token is valid as long as its cookie.


class FormTokens:
    """Makes and checks the tokens of forms, from a cookie."""

    def __init__(self, secret: bytes) -> None:
        self._key = hmac.digest(secret, b"form-token", sha256)

    def token(self, cookie: str) -> str:
        signed = hmac.digest(self._key, cookie.encode(), sha256)
        return urlsafe_b64encode(signed[:24]).decode()

    def fits(self, cookie: str | None, given: str | None) -> bool:
        if not cookie or not given:
            return False
        return hmac.compare_digest(self.token(cookie).encode(), given.encode())


# --- Known devices: browsers in which a login has signed in -------------------------------
# Wrong passwords for a login are limited over all addresses together, or a program could guess from
# many. That alone would let strangers keep its owner out. So a browser in which the login has
# signed in has tries of its own, which a stranger cannot use up.
#
# The cookie is a random id and, for each of the last logins, the signature of the id with the
# login. It opens nothing, and does not tell who has signed in.


MOST_LOGINS: Final = 5
MARK: Final = r"[\w-]{32}"
DEVICE_SHAPE: Final = re.compile(rf"{MARK}(\.{MARK}){{1,{MOST_LOGINS}}}", re.ASCII)


class KnownDevices:
    """Makes and checks the cookies of browsers in which logins have signed in."""

    def __init__(self, secret: bytes) -> None:
        self._key = hmac.digest(secret, b"known-device", sha256)

    def id_for(self, cookie: str | None, login: str) -> str | None:
        """The id of the browser, if the login has signed in there."""
        device, *marks = parts_of(cookie)
        wanted = self.mark(device, login).encode()
        known = [mark for mark in marks if hmac.compare_digest(mark.encode(), wanted)]
        return device if known else None

    def with_login(self, cookie: str | None, login: str) -> str:
        """The cookie after a login has signed in, with that login first."""
        device, *marks = parts_of(cookie)
        device = device or secrets.token_urlsafe(24)
        mark = self.mark(device, login)
        others = [other for other in marks if other != mark]
        return ".".join((device, mark, *others[: MOST_LOGINS - 1]))

    def mark(self, device: str, login: str) -> str:
        signed = hmac.digest(self._key, f"{device}\0{login}".encode(), sha256)
        return urlsafe_b64encode(signed[:24]).decode()


def parts_of(cookie: str | None) -> list[str]:
    """The id and the signatures in a cookie; a single empty id if it is malformed."""
    return cookie.split(".") if cookie and DEVICE_SHAPE.fullmatch(cookie) else [""]
