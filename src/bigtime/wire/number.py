"""DynamoDB's numbers: 38 significant digits, from 1E-130 to 9.99...E+125, and zero.

A number crosses the network as text and stays text here. On input, every number is normalised to
the plain notation in which DynamoDB returns it: no exponent, no plus sign, no zeros that do not
change the value. So equal numbers are equal texts, and the rest of the engine compares, hashes and
stores them as they are. Three rules make this safe and quick:

1. The magnitude is found by counting digits and reading the exponent, before any arithmetic:
   ``1e100000000`` is refused without ever being expanded.
2. `Decimal` is used for sums only, in a context wide enough that no sum of two numbers is rounded;
   a result of more than 38 digits is refused, never rounded.
3. In keys a number is a byte string that memcmp puts in numeric order. With the value written
   as 0.d1d2d3... x 10^e, the string is

   - zero: ``80``;
   - positive: ``81``, e + 129, then each pair of digits plus 1, then ``00``;
   - negative: ``7f``, and the same bytes inverted, so that larger magnitudes come first:
     255 - (e + 129), 100 minus each pair, then ``ff``.

   Pairs are never 0 or 255, so the last byte ends the string and sorts a shorter number right;
   no string begins another, and strings may be joined into longer keys.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

from bigtime.wire.errors import ValidationException

# AWS: "Constraints in Amazon DynamoDB", "Data types"
# https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
MAX_DIGITS = 38
MAX_MAGNITUDE = 125
MIN_MAGNITUDE = -130

NOT_A_NUMBER = "The parameter cannot be converted to a numeric value"
OVERFLOW = (
    "Number overflow. Attempting to store a number with magnitude larger than supported range"
)
UNDERFLOW = (
    "Number underflow. Attempting to store a number with magnitude smaller than supported range"
)
TOO_MANY_DIGITS = "Attempting to store more than 38 significant digits in a Number"

is_canonical_integer = re.compile(r"0|-?[1-9][0-9]{0,37}").fullmatch
# The quantifiers are possessive, so that a long malformed text is scanned only once.
match_number = re.compile(r"([+-]?)([0-9]*+)(?:\.([0-9]*+))?+(?:[eE]([+-]?[0-9]++))?+").fullmatch

CACHED_NUMBERS = 8192
LONGEST_CACHED_TEXT = 64
# Greater than any exponent that the digits of a request could bring back into range.
ENDLESS = 10**9
# AWS does not parse a greater exponent: it is the maximum of Java's `long`.
GREATEST_EXPONENT = 2**63 - 1


def canonical(text: str) -> str:
    """The number in canonical form; raises AWS's error if it is invalid."""
    if is_canonical_integer(text):
        return text
    # Or a client could fill the cache with megabytes of zeros.
    return recall(text) if len(text) <= LONGEST_CACHED_TEXT else convert(text)


def convert(text: str) -> str:
    match = match_number(text)
    if match is None:
        raise not_a_number(text)
    sign, whole, fraction, exponent = match.groups(default="")
    if not whole and not fraction:
        raise not_a_number(text)
    scale = (read_exponent(text, exponent) if exponent else 0) - len(fraction)
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return zero(scale)
    magnitude = len(digits) - 1 + scale
    significant = digits.rstrip("0")
    check_range(len(significant), magnitude)
    return ("-" if sign == "-" else "") + plain(significant, magnitude + 1)


recall = lru_cache(CACHED_NUMBERS)(convert)


def not_a_number(text: str) -> ValidationException:
    return ValidationException(f"{NOT_A_NUMBER}: {text}" if text else NOT_A_NUMBER)


def read_exponent(text: str, exponent: str) -> int:
    digits = exponent.lstrip("+-").lstrip("0")
    if len(digits) > 19 or int(digits or "0") > GREATEST_EXPONENT:
        raise not_a_number(text)
    size = min(int(digits or "0"), ENDLESS)
    return -size if exponent[0] == "-" else size


def zero(scale: int) -> str:
    # AWS refuses 0e126 and accepts 0.0e126: it checks the scale and not the value. Witness:
    # https://github.com/scylladb/scylladb/blob/master/test/alternator/test_number.py
    if scale > MAX_MAGNITUDE:
        raise ValidationException(OVERFLOW)
    if scale < MIN_MAGNITUDE:
        raise ValidationException(UNDERFLOW)
    return "0"


def check_range(digit_count: int, magnitude: int) -> None:
    if magnitude > MAX_MAGNITUDE:
        raise ValidationException(OVERFLOW)
    if magnitude < MIN_MAGNITUDE:
        raise ValidationException(UNDERFLOW)
    if digit_count > MAX_DIGITS:
        raise ValidationException(TOO_MANY_DIGITS)


def plain(significant: str, point: int) -> str:
    """The digits with the decimal point after the first `point` of them."""
    if point <= 0:
        return "0." + "0" * -point + significant
    if point >= len(significant):
        return significant + "0" * (point - len(significant))
    return f"{significant[:point]}.{significant[point:]}"


@lru_cache(CACHED_NUMBERS)
def decimal(text: str) -> Decimal:
    """The value of a canonical text."""
    return Decimal(text)


def from_decimal(value: Decimal) -> str:
    return canonical(str(value))


def scientific(text: str) -> tuple[str, int]:
    """The significant digits d1d2... and e, where the number's magnitude is 0.d1d2... x 10^e."""
    whole, _, fraction = text.lstrip("-").partition(".")
    if whole == "0":
        significant = fraction.lstrip("0")
        return significant, len(significant) - len(fraction)
    return (whole + fraction).rstrip("0"), len(whole)


# Digits packed two to a byte are hexadecimal that happens to have no letters. These tables
# map such a byte to a key's byte; a byte with a letter never occurs.
UPWARD = bytes((byte >> 4) * 10 + (byte & 15) + 1 & 255 for byte in range(256))
DOWNWARD = bytes(100 - (byte >> 4) * 10 - (byte & 15) & 255 for byte in range(256))


@lru_cache(CACHED_NUMBERS)
def sort_bytes(text: str) -> bytes:
    """A canonical number as bytes that memcmp orders by value, none a prefix of another."""
    if text == "0":
        return b"\x80"
    significant, exponent = scientific(text)
    pairs = bytes.fromhex(significant + "0" if len(significant) % 2 else significant)
    if text[0] == "-":
        return b"\x7f%c%b\xff" % (126 - exponent, pairs.translate(DOWNWARD))
    return b"\x81%c%b\x00" % (exponent + 129, pairs.translate(UPWARD))


@lru_cache(CACHED_NUMBERS)
def size(text: str) -> int:
    """The size of a canonical number in an item, in bytes.

    AWS says "approximately" one byte for two digits and one more ("DynamoDB item sizes and
    formats", https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html).
    This rule agrees with what AWS bills: pairs of digits are counted from the decimal point, as in
    base 100.
    """
    if text == "0":
        return 1
    significant, exponent = scientific(text)
    pairs = (len(significant) + exponent % 2 + 1) // 2
    return 1 + pairs + (text[0] == "-")


@lru_cache(CACHED_NUMBERS)
def measure(text: str) -> tuple[str, int]:
    """A short text's canonical form and size; raises AWS's error if it is invalid."""
    kept = canonical(text)
    return kept, size(kept)
