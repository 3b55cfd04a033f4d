"""Form tokens: proof that a form was sent from a page of ours.

A browser sends its cookies along with any form, also one on somebody else's page. So each form
carries a token that only a page of this site can have read: the cookie's value, signed. Nothing
is stored, and a token lasts as long as the cookie it belongs to.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode
from hashlib import sha256


class FormTokens:
    """Makes and checks the tokens of forms, for whoever holds a cookie."""

    def __init__(self, secret: bytes) -> None:
        self._key = hmac.digest(secret, b"form-token", sha256)

    def token(self, cookie: str) -> str:
        signed = hmac.digest(self._key, cookie.encode(), sha256)
        return urlsafe_b64encode(signed[:24]).decode()

    def fits(self, cookie: str | None, given: str | None) -> bool:
        if not cookie or not given:
            return False
        return hmac.compare_digest(self.token(cookie).encode(), given.encode())
