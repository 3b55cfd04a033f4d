"""Pages as bytes with slots: what everybody sees, and the places for what is one visitor's.

A page costs half a millisecond to render, and most of it is the same for everyone. So it is
rendered once, as segments of bytes, and kept. Where something is personal, the template says
`{{ slot("header") }}`, which leaves a mark; the marks become the slots between the segments, and
each answer is one join of segments and of what is in the slots for this visitor.

A mark begins with `<`, which templates escape in all text that they are given: so nothing that
somebody wrote can be taken for one. It also holds a word that is drawn when the program starts, so
that no template has one by chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from secrets import token_hex

from markupsafe import Markup

OPENS, CLOSES = f"<\x02{token_hex(8)}:", "\x03"
MARK = re.compile(f"{OPENS}([^{CLOSES}]*){CLOSES}")

HTML = b"text/html; charset=utf-8"
JSON = b"application/json"


def slot(name: str) -> Markup:
    """The mark of a slot, for a template."""
    return Markup(f"{OPENS}{name}{CLOSES}")


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """A rendered answer: one segment more than there are slots."""

    segments: tuple[bytes, ...]
    slots: tuple[str, ...] = ()
    status: int = 200
    content_type: bytes = HTML

    @classmethod
    def rendered(cls, text: str, *, status: int = 200) -> Page:
        parts = MARK.split(text)
        segments = tuple(part.encode() for part in parts[::2])
        return cls(segments, tuple(parts[1::2]), status)

    @classmethod
    def json(cls, body: bytes, *, status: int = 200) -> Page:
        return cls((body,), (), status, JSON)

    def join(self, slots: Iterable[bytes]) -> bytes:
        """The bytes of the answer, with these in its slots."""
        parts = [self.segments[0]]
        for rendered, segment in zip(slots, self.segments[1:], strict=True):
            parts += (rendered, segment)
        return b"".join(parts)
