"""What is wrong with a field, in words for the person who filled it in.

Rules of the systems speak for themselves. The rest is found by pydantic, which speaks to those who
write programs; each kind that it tells apart has a sentence here.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final, get_args

from pydantic_core import ErrorDetails
from pydantic_core.core_schema import ErrorType

OTHERWISE: Final = "This cannot be read; write it otherwise."
WHOLE: Final = "Write a whole number, such as 3."
NUMBER: Final = "Write a number, such as 19.99."
CHOICE: Final = "Choose one of those that are offered."
DAY: Final = "Write a day, such as 2026-07-31."
MOMENT: Final = "Write a day and a time, such as 2026-07-31T12:00."
TIME: Final = "Write a time, such as 12:00."
LINK: Final = "Write an address such as https://example.com."

WORDS: Final = {
    "missing": "Please fill this in.",
    "string_too_long": "This has at most {max_length} characters; shorten it.",
    "string_too_short": "This has at least {min_length} characters; write more.",
    "string_pattern_mismatch": "This is not written as it should be; look at it again.",
    "string_unicode": "This has characters that cannot be read; leave them out.",
    "too_long": "This is too much; leave all but {max_length} out.",
    "too_short": "This is too little; {min_length} or more are needed.",
    "int_parsing_size": "This number is too large; write a smaller one.",
    "greater_than": "Write a number above {gt}.",
    "greater_than_equal": "Write a number of {ge} or more.",
    "less_than": "Write a number below {lt}.",
    "less_than_equal": "Write a number of {le} or less.",
    "multiple_of": "Write a multiple of {multiple_of}.",
    "decimal_max_places": "This has at most {decimal_places} digits after the point; shorten it.",
    "decimal_max_digits": "This number is too long; write a shorter one.",
    "decimal_whole_digits": "This number is too large; write a smaller one.",
    "date_past": "Write a day of the past.",
    "date_future": "Write a day that is still to come.",
    "datetime_past": "Write a time of the past.",
    "datetime_future": "Write a time that is still to come.",
    "enum": CHOICE,
    "literal_error": CHOICE,
}
BY_BEGINNING: Final = {
    "int_": WHOLE,
    "decimal_": NUMBER,
    "float_": NUMBER,
    "finite_number": NUMBER,
    "bool_": "Choose yes or no.",
    "datetime_": MOMENT,
    "timezone_": MOMENT,
    "date_": DAY,
    "time_delta_": TIME,
    "time_": TIME,
    "url_": LINK,
}
OF_PYDANTIC: Final = frozenset(get_args(ErrorType))
RAISED: Final = ("value_error", "assertion_error")


def field_message(error: ErrorDetails) -> str:
    """What to tell of an error that pydantic has found."""
    kind, told = error["type"], error.get("ctx", {})
    if kind in RAISED:
        return sentence(str(told.get("error", "")) or OTHERWISE)
    if kind not in OF_PYDANTIC:
        return sentence(error["msg"])
    if kind in WORDS:
        return WORDS[kind].format_map({name: written(value) for name, value in told.items()})
    return next((text for start, text in BY_BEGINNING.items() if kind.startswith(start)), OTHERWISE)


def written(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int | float | Decimal) else str(value)


def sentence(text: str) -> str:
    whole = text[:1].upper() + text[1:]
    return whole if whole.endswith((".", "?", "!")) else f"{whole}."
