"""Texts that people write, and what cannot be part of one.

    if not is_readable(title):
        raise TitleRefused
    Line = Annotated[str, AfterValidator(one_line)]

A character that controls a terminal or ends a string, half of a surrogate pair, a separator of
lines where there is one line: nobody types these, nobody sees them, and files, mails and labels
break on them. All other characters are people's own, of whatever script.

Names that take part in keys are held to more: see `names`.
"""

from __future__ import annotations

import re

from pydantic_core import PydanticCustomError

UNREADABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
UNREADABLE_IN_LINES = re.compile(r"(?![\t\n\r])" + UNREADABLE.pattern)


def is_readable(text: str, *, lines: bool = False) -> bool:
    """Whether all of a text can be read; `lines` allows several, and tabs."""
    if text.isprintable():  # nearly every text is, and to see that costs next to nothing
        return True
    return (UNREADABLE_IN_LINES if lines else UNREADABLE).search(text) is None


def one_line(text: str) -> str:
    """The text itself, for the type of a field."""
    if not is_readable(text):
        raise PydanticCustomError(
            "unreadable_text", "This has characters that cannot be seen; leave them out."
        )
    return text
