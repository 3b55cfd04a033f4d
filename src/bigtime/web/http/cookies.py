"""The site's cookies: one for the session, one for a form before there is a session.

Over TLS their names begin with `__Host-`: a browser then takes them from this host alone, and for
the whole of it. No script can read them, and they do not travel with forms from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable

from bigtime.web.http.headers import Header

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
