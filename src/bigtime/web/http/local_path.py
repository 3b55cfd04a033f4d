"""Paths on this site: where somebody is sent on to, when the address came from outside.

A link to our log-in page may name any page to go to after it. Only a page of this site will do;
browsers read `//host`, `/\\host` and a path with a tab or newline in it as another site's.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

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
