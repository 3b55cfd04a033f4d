"""The site's cookies: one for the session, one for a form before there is a session.

Over TLS their names begin with `__Host-`: a browser then takes them from this host alone, and for
the whole of it. No script can read them, and they do not travel with forms from elsewhere.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Iterable
from hashlib import sha256

from bigtime.web.http.responses import Header

SESSION = "session"
VISIT = "visit"
WEEK_SECONDS = 7 * 24 * 3600


class Cookies:
    """Reads and writes them."""

    def __init__(self, *, secure: bool) -> None:
        prefix = "__Host-" if secure else ""
        self.names = {name: prefix + name for name in (SESSION, VISIT)}
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

    def setting(self, name: str, value: str, *, seconds: int = WEEK_SECONDS) -> Header:
        """The header that makes a browser keep a cookie."""
        text = f"{self.names[name]}={value}; Max-Age={seconds}{self._attributes}"
        return b"set-cookie", text.encode("latin-1")

    def clearing(self, name: str) -> Header:
        return self.setting(name, "", seconds=0)


# --- Form tokens: proof that a form was sent from a page of ours --------------------------
# A browser sends its cookies along with any form, also one on another site's page. So each form
# carries a token that only a page of this site can have read: the cookie's value, signed. Nothing
# is stored, and a token lasts as long as the cookie it belongs to.


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
