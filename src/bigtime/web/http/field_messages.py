"""What is wrong with a field, in words for the person who filled it in.

Rules of the systems speak for themselves. The rest is found by pydantic, which speaks to those who
write programs; each kind that it tells apart has a sentence here.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, get_args

from pydantic_core import ErrorDetails
from pydantic_core.core_schema import ErrorType

from bigtime.systems import accounts, cart, deals, shop

OTHERWISE: Final = "Please enter a valid value."
WHOLE: Final = "Enter a whole number, such as 3."
NUMBER: Final = "Enter a number, such as 19.99."
CHOICE: Final = "Choose one of the options."
DAY: Final = "Enter a date, such as 2026-07-31."
MOMENT: Final = "Enter a date and time, such as 2026-07-31T12:00."
TIME: Final = "Enter a time, such as 12:00."
LINK: Final = "Enter an address such as https://example.com."

WORDS: Final = {
    "missing": "Please fill out this field.",
    "string_too_long": "At most {max_length} characters.",
    "string_too_short": "At least {min_length} characters.",
    "string_pattern_mismatch": "Please check the format.",
    "string_unicode": "Please remove the unreadable characters.",
    "too_long": "At most {max_length} entries.",
    "too_short": "At least {min_length} entries.",
    "int_parsing_size": "This number is too large.",
    "greater_than": "Enter a number above {gt}.",
    "greater_than_equal": "Enter a number of {ge} or more.",
    "less_than": "Enter a number below {lt}.",
    "less_than_equal": "Enter a number of {le} or less.",
    "multiple_of": "Enter a multiple of {multiple_of}.",
    "decimal_max_places": "At most {decimal_places} decimal places.",
    "decimal_max_digits": "This number has too many digits.",
    "decimal_whole_digits": "This number is too large.",
    "date_past": "Enter a date in the past.",
    "date_future": "Enter a date in the future.",
    "datetime_past": "Enter a time in the past.",
    "datetime_future": "Enter a time in the future.",
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


# ------------------------------------------------------------------------------------------
# Bounds that pages tell of, taken from where they are kept: `bounds` in every template.


@dataclass(frozen=True, slots=True)
class Bounds:
    """How little or how much of something there may be."""

    least_password: int = accounts.LEAST_CHARACTERS
    most_addresses: int = shop.MOST_ADDRESSES
    most_count: int = cart.MOST_COUNT
    most_description: int = deals.MOST_DESCRIPTION


BOUNDS: Final = Bounds()
