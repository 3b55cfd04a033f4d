from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from time import process_time

import pytest
from hypothesis import assume, example, given

from bigtime.engine.expressions.update import add_numbers, subtract_numbers
from bigtime.wire import ValidationException, number
from tests.strategies import decimals, spelt_numbers

OVERFLOW = (
    "Number overflow. Attempting to store a number with magnitude larger than supported range"
)
UNDERFLOW = (
    "Number underflow. Attempting to store a number with magnitude smaller than supported range"
)
TOO_MANY_DIGITS = "Attempting to store more than 38 significant digits in a Number"
NOT_A_NUMBER = "The parameter cannot be converted to a numeric value"


def text_of(value: Decimal) -> str:
    return number.from_decimal(value)


def refusal(text: str) -> str:
    with pytest.raises(ValidationException) as caught:
        number.canonical(text)
    return caught.value.message


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("0", "0"),
        ("-0", "0"),
        ("+0.00", "0"),
        ("0e-130", "0"),
        ("0.0e126", "0"),
        ("123", "123"),
        ("+3", "3"),
        (".123", "0.123"),
        ("5.", "5"),
        ("0001.23", "1.23"),
        ("1.0", "1"),
        ("1e2", "100"),
        ("1e+5", "100000"),
        ("1E0000000000000002", "100"),
        ("-17.4E37", "-174" + "0" * 36),
        ("1200e-3", "1.2"),
        ("1e-130", "0." + "0" * 129 + "1"),
        ("9.9e125", "99" + "0" * 124),
        ("9" * 38, "9" * 38),
        ("9" * 38 + "000", "9" * 38 + "000"),
    ],
)
def test_numbers_come_back_in_plain_notation(text: str, plain: str) -> None:
    assert number.canonical(text) == plain


@pytest.mark.parametrize(
    "text",
    [
        *("dog", "NaN", "Infinity", "-Infinity", " 1", "1 ", "1\n", "1_000", "0x10", "1,5"),
        *(".", "+", "-", "e5", "1e", "1e+", "--1", "1.2.3", "1e1.5", "\uff11", "\u0661"),
    ],
)
def test_text_that_is_no_number_is_named_in_the_refusal(text: str) -> None:
    assert refusal(text) == f"{NOT_A_NUMBER}: {text}"


@pytest.mark.parametrize("exponent", ["9223372036854775808", "-9223372036854775808", "9" * 5000])
def test_an_exponent_that_is_no_java_long_is_no_number(exponent: str) -> None:
    assert refusal(f"1e{exponent}") == f"{NOT_A_NUMBER}: 1e{exponent}"


def test_empty_text_is_refused_without_naming_it() -> None:
    assert refusal("") == NOT_A_NUMBER


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1e126", OVERFLOW),
        ("-1e126", OVERFLOW),
        ("10e125", OVERFLOW),
        ("1e100000000", OVERFLOW),
        ("1e9223372036854775807", OVERFLOW),
        ("1" * 127, OVERFLOW),
        ("0e126", OVERFLOW),
        ("0e-131", UNDERFLOW),
        ("0e-500", UNDERFLOW),
        ("1e-131", UNDERFLOW),
        ("0.9e-130", UNDERFLOW),
        ("-1e-100000000", UNDERFLOW),
        ("1" * 39, TOO_MANY_DIGITS),
        ("1." + "0" * 37 + "1", TOO_MANY_DIGITS),
        ("-" + "1" * 39, TOO_MANY_DIGITS),
    ],
)
def test_numbers_out_of_range_are_refused_in_amazons_words(text: str, message: str) -> None:
    assert refusal(text) == message


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("0" * 1_000_000 + "1", "1"),
        ("0." + "0" * 1_000_000 + "1e1000001", "1"),
        ("1" + "0" * 1_000_000 + "e-1000000", "1"),
    ],
)
def test_a_megabyte_of_zeros_is_still_the_number_it_is(text: str, plain: str) -> None:
    assert number.canonical(text) == plain


@pytest.mark.parametrize(
    "text", ["1" * 1_000_000, "1" * 1_000_000 + "x", "1e" + "9" * 1_000_000, "1e1000000000"]
)
def test_no_text_takes_long_to_refuse(text: str) -> None:
    started = process_time()
    refusal(text)
    assert process_time() - started < 0.1


@given(spelt_numbers)
def test_canonical_keeps_the_value(text: str) -> None:
    assert Decimal(number.canonical(text)) == Decimal(text)


@given(spelt_numbers)
def test_canonical_of_canonical_is_itself(text: str) -> None:
    once = number.canonical(text)
    assert number.canonical(once) == once
    assert number.convert(once) == once


@given(spelt_numbers)
def test_canonical_is_bare(text: str) -> None:
    plain = number.canonical(text).lstrip("-")
    assert set(plain) <= set("0123456789.")
    assert plain == "0" or plain[0] != "0" or plain.startswith("0.")
    assert "." not in plain or plain[-1] not in "0."


@given(decimals)
def test_a_decimal_survives_the_round_trip(value: Decimal) -> None:
    assert number.decimal(text_of(value)) == value


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-sNaN"])
def test_special_decimals_are_refused(value: str) -> None:
    with pytest.raises(ValidationException, match=NOT_A_NUMBER):
        number.from_decimal(Decimal(value))


@given(decimals, decimals)
@example(Decimal("1e50"), Decimal(1))
@example(Decimal("9.9e125"), Decimal("9.9e125"))
@example(Decimal(int("9" * 37)), Decimal(1))
def test_sums_are_exact_or_refused(a: Decimal, b: Decimal) -> None:
    with localcontext(prec=500):
        for operation, exact in ((add_numbers, a + b), (subtract_numbers, a - b)):
            digits = len(exact.normalize().as_tuple().digits)
            if digits <= 38 and (not exact or -130 <= exact.adjusted() <= 125):
                result = operation(text_of(a), text_of(b))
                assert Decimal(result) == exact
                assert number.canonical(result) == result
            else:
                with pytest.raises(ValidationException):
                    operation(text_of(a), text_of(b))


@pytest.mark.parametrize(
    ("operation", "a", "b", "message"),
    [
        (add_numbers, "1e50", "1", OVERFLOW),
        (add_numbers, "9.9e125", "1e125", OVERFLOW),
        (subtract_numbers, "-9.9e125", "1e125", OVERFLOW),
        (subtract_numbers, "1.1e-130", "1e-130", UNDERFLOW),
    ],
)
def test_a_sum_that_does_not_fit_is_refused_in_amazons_words(
    operation: Callable[[str, str], str], a: str, b: str, message: str
) -> None:
    with pytest.raises(ValidationException) as caught:
        operation(number.canonical(a), number.canonical(b))
    assert caught.value.message == message


@given(decimals, decimals)
def test_sort_bytes_are_in_numeric_order(a: Decimal, b: Decimal) -> None:
    left, right = number.sort_bytes(text_of(a)), number.sort_bytes(text_of(b))
    assert (left < right) == (a < b)
    assert (left == right) == (a == b)


@given(decimals, decimals)
def test_no_sort_bytes_begin_another(a: Decimal, b: Decimal) -> None:
    assume(a != b)
    left, right = number.sort_bytes(text_of(a)), number.sort_bytes(text_of(b))
    assert not left.startswith(right)
    assert not right.startswith(left)


@given(decimals, decimals, decimals, decimals)
def test_joined_sort_bytes_order_like_tuples(
    a: Decimal, b: Decimal, c: Decimal, d: Decimal
) -> None:
    left = number.sort_bytes(text_of(a)) + number.sort_bytes(text_of(b))
    right = number.sort_bytes(text_of(c)) + number.sort_bytes(text_of(d))
    assert (left < right) == ((a, b) < (c, d))


@pytest.mark.parametrize(
    ("text", "encoded"),
    [
        ("0", "80"),
        ("1", "81820b00"),
        ("99", "81836400"),
        ("-99", "7f7c01ff"),
        ("-1", "7f7d5aff"),
        ("100.5", "81840b0600"),
        ("1e-130", "81000b00"),
        ("9e125", "81ff5b00"),
        ("-9e125", "7f000aff"),
    ],
)
def test_sort_bytes_stay_as_files_have_them(text: str, encoded: str) -> None:
    assert number.sort_bytes(number.canonical(text)).hex() == encoded


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 1),
        ("1", 2),
        ("-1", 3),
        ("12", 2),
        ("-12", 3),
        ("100", 2),
        ("123", 3),
        ("120", 3),
        ("1200", 2),
        ("1234", 3),
        ("1.2", 3),
        ("12.3", 3),
        ("0.1", 2),
        ("0.12", 2),
        ("0.012", 3),
        ("9" * 38, 20),
        ("-" + "9" * 38, 21),
        ("9" * 38 + "0", 21),
        ("1e125", 2),
        ("1e-130", 2),
    ],
)
def test_sizes_of_numbers(text: str, size: int) -> None:
    assert number.size(number.canonical(text)) == size


@given(decimals)
def test_size_is_about_a_byte_for_two_digits(value: Decimal) -> None:
    digits = len(text_of(value).replace(".", "").strip("-0"))
    assert 0 <= number.size(text_of(value)) - (digits + 1) // 2 <= 3
