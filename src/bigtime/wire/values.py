"""Attribute values: validation, sizes and comparisons.

A value is DynamoDB's JSON as received: one tag and its content. Checking walks a value once and
returns it with every number in canonical form, together with its size. What is already canonical
is not copied: a plain item is returned as it is, and only branches in which something changed are
rebuilt. The caller's objects are never changed.

Everything after the check relies on it: equal numbers and equal binaries are equal texts, a set
has no duplicates, and a value has exactly one tag. The comparisons at the end of the file are
for checked values only.

The messages of the errors, and which of several comes first, are as dynalite recorded them from
the service: https://github.com/architect/dynalite/blob/master/test/helpers.js

The size of an item is the UTF-8 length of its names plus its values; a list or map counts
3 bytes and 1 for each member. (AWS: "DynamoDB item sizes and formats",
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html)
"""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from bigtime.wire import number
from bigtime.wire.errors import DynamoDBError, SerializationException, ValidationException
from bigtime.wire.requests import AttributeValue, Item

# AWS: "Constraints in Amazon DynamoDB", "Items" and "Attributes"
# https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
MAX_ITEM_BYTES = 409_600
MAX_NESTING = 32
MAX_NAME_BYTES = 65_535

INVALID = "One or more parameter values were invalid: "
NO_DATATYPE = (
    "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
)
MANY_DATATYPES = (
    "Supplied AttributeValue has more than one datatypes set, "
    "must contain exactly one of the supported datatypes"
)
EMPTY_NAME = "Empty attribute name"
NAME_TOO_LARGE = "Attribute name is too large, must be less than 65536 bytes"
TOO_DEEP = (
    "Nesting Levels have exceeded supported limits: "
    "Attributes in the item have nested levels beyond supported limit"
)

MOST_NAMES = 142_720
"""With more names than this, even with empty strings as values, an item is too large.

There are 128 names of one byte in UTF-8 and 18,304 of two; each further one takes three or more.
"""

Checker: TypeAlias = Callable[[Any, int], tuple[Any, int]]
"""Takes a tag's content and its depth; returns the content as it is stored and its size."""


def check_item(item: Any, depth: int = 1) -> tuple[Item, int]:
    """The item, or a map's members, as stored, and the size; raises AWS's error."""
    if not isinstance(item, dict):
        raise not_a_map(item)
    if len(item) > MOST_NAMES:
        raise too_many()
    respelt: Item = {}
    size = 0
    for name, value in item.items():
        # Most values are plain strings or numbers, for which this saves a call.
        if type(value) is dict and len(value) == 1:
            if "S" in value and type(text := value["S"]) is str:
                size += len(text) if text.isascii() else utf8_length(text)
                continue
            if "N" in value and (text := value["N"]):
                kept_text, value_bytes = check_number(text, depth)
                size += value_bytes
                if kept_text is not text:
                    respelt[name] = {"N": kept_text}
                continue
        kept, value_bytes = check_value(value, depth)
        size += value_bytes
        if kept is not value:
            respelt[name] = kept
    if depth == 1 and "" in item:
        raise ValidationException(INVALID + EMPTY_NAME)
    try:
        names = "".join(item)
        is_plain = names.isascii() and len(names) <= MAX_NAME_BYTES
    except TypeError:  # a name is not a string
        is_plain = False
    size += len(names) if is_plain else names_size(item)
    return {**item, **respelt} if respelt else item, size


def names_size(item: Mapping[str, Any]) -> int:
    """The total size of the names; raises AWS's error if one is too long."""
    sizes = [utf8_length(name) for name in item]
    if max(sizes) > MAX_NAME_BYTES:
        raise ValidationException(NAME_TOO_LARGE)
    return sum(sizes)


def item_size(item: Mapping[str, Any]) -> int:
    return check_item(item)[1]


def check_value(value: Any, depth: int = 1) -> tuple[AttributeValue, int]:
    """The value as it is stored, and its size; raises AWS's error."""
    if type(value) is not dict or len(value) != 1:
        return check_odd(value, depth)
    for tag, content in value.items():
        if tag == "S" and type(content) is str and content.isascii():
            return value, len(content)
        if content is not None and tag in CHECKERS:
            kept, size = CHECKERS[tag](content, depth)
            return value if kept is content else {tag: kept}, size
    raise ValidationException(NO_DATATYPE)


def check_odd(value: Any, depth: int) -> tuple[AttributeValue, int]:
    """Checks a value with several members, of which AWS ignores nulls and unknown ones."""
    if value is None:
        raise ValidationException(NO_DATATYPE)
    if isinstance(value, list):
        raise unrecognized_collection("class com.amazonaws.dynamodb.v20120810.AttributeValue")
    if not isinstance(value, dict):
        raise SerializationException("Unexpected value type in payload")
    present = {tag: value[tag] for tag in CHECKERS if value.get(tag) is not None}
    checked = [check_value({tag: content}, depth) for tag, content in present.items()]
    if len(checked) == 1:
        return checked[0]
    raise ValidationException(MANY_DATATYPES if checked else NO_DATATYPE)


def utf8_length(text: Any) -> int:
    if not isinstance(text, str):
        raise not_a_scalar(text, "String")
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        # Half of a surrogate pair is a legal JSON escape that has no UTF-8.
        raise SerializationException("Unexpected token received from parser") from None


def check_number(content: Any, depth: int) -> tuple[str, int]:
    if type(content) is str and len(content) <= number.LONGEST_CACHED_TEXT and content.isascii():
        kept, size = number.measure(content)
    else:
        utf8_length(content)  # The refusal repeats the text, so it must be text.
        kept = number.canonical(content)
        size = number.size(kept)
    return content if kept == content else kept, size


def check_binary(content: Any, depth: int = 0) -> tuple[str, int]:
    if isinstance(content, list):
        raise unrecognized_collection("class java.nio.ByteBuffer")
    if isinstance(content, Mapping):
        raise unexpected_structure()
    if not isinstance(content, str):
        raise SerializationException("only base-64-encoded strings are convertible to bytes")
    fault = base64_fault(content)
    if fault:
        raise SerializationException(fault)
    return content, len(content) // 4 * 3 - content.count("=", -2)


BAD_BASE64 = "Invalid last non-pad Base64 character dectected"  # AWS's spelling
LAST_OF = {1: "AEIMQUYcgkosw048", 2: "AQgw"}
"""The last characters that leave no stray bits, by the amount of padding after them."""


def base64_fault(text: str) -> str | None:
    """AWS's complaint about a base64 text, which may be stray bits before its padding."""
    if len(text) % 4:
        return f"Base64 encoded length is expected a multiple of 4 bytes but found: {len(text)}"
    try:
        a2b_base64(text, strict_mode=True)
    except ValueError:
        return BAD_BASE64
    # Strict decoding accepts stray bits before the padding; a value must have only one spelling.
    if text.endswith("=") and text.rstrip("=")[-1] not in LAST_OF[text.count("=", -2)]:
        return BAD_BASE64
    return None


def check_bool(content: Any, depth: int = 0) -> tuple[bool, int]:
    if isinstance(content, bool):
        return content, 1
    if not isinstance(content, str):
        raise not_a_scalar(content, "Boolean")
    # AWS reads these words, in any case, as booleans. (undocumented)
    # https://github.com/scylladb/scylladb/issues/9432
    if content.upper() in {"TRUE", "1", "YES"}:
        return True, 1
    if content.upper() in {"FALSE", "0", "NO"}:
        return False, 1
    raise SerializationException("Unexpected token received from parser")


def check_null(content: Any, depth: int) -> tuple[bool, int]:
    kept, size = check_bool(content, depth)
    if not kept:
        raise ValidationException(
            INVALID + "Null attribute value types must have the value of true"
        )
    return kept, size


def check_strings(content: Any, depth: int) -> tuple[list[str], int]:
    check_list_shape(content)
    if not content:
        raise ValidationException(INVALID + "An string set  may not be empty")
    if None in content:
        raise ValidationException(INVALID + "An string set may not have a null string as a member")
    size = sum(map(utf8_length, content))
    if len(set(content)) < len(content):
        raise ValidationException(
            f"{INVALID}Input collection {in_brackets(content)} contains duplicates."
        )
    return in_order(content, sorted(content)), size


def check_numbers(content: Any, depth: int) -> tuple[list[str], int]:
    check_list_shape(content)
    if not content:
        raise ValidationException(INVALID + "An number set  may not be empty")
    checked = [check_number("" if text is None else text, depth) for text in content]
    kept = [text for text, _ in checked]
    if len(set(kept)) < len(kept):
        raise ValidationException("Input collection contains duplicates")
    return in_order(content, sorted(kept, key=number.decimal)), sum(size for _, size in checked)


def check_binaries(content: Any, depth: int) -> tuple[list[str], int]:
    check_list_shape(content)
    if not content:
        raise ValidationException(INVALID + "Binary sets should not be empty")
    if None in content:
        raise ValidationException(INVALID + "Binary sets may not contain null or empty values")
    size = sum(check_binary(text, depth)[1] for text in content)
    if len(set(content)) < len(content):
        # AWS leaves out the space before "of".
        raise ValidationException(
            f"{INVALID}Input collection {in_brackets(content)}of type BS contains duplicates."
        )
    return in_order(content, sorted(content, key=binary)), size


def in_order(content: list[str], ordered: list[str]) -> list[str]:
    """A set's elements sorted: AWS promises no order, but many clients' tests expect this one."""
    return content if content == ordered else ordered


def in_brackets(texts: list[str]) -> str:
    return f"[{', '.join(texts)}]"


def check_list(content: Any, depth: int) -> tuple[list[AttributeValue], int]:
    check_list_shape(content)
    check_depth(content, depth)
    size = 3 + len(content)
    kept = []
    changed = False
    for value in content:
        kept_value, value_bytes = check_value(value, depth + 1)
        kept.append(kept_value)
        size += value_bytes
        changed = changed or kept_value is not value
    return kept if changed else content, size


def check_map(content: Any, depth: int) -> tuple[Item, int]:
    check_depth(content, depth)
    kept, size = check_item(content, depth + 1)
    return kept, 3 + len(kept) + size


def too_many() -> ValidationException:
    """The error for a collection with more names or elements than any item can hold."""
    return ValidationException("Item size has exceeded the maximum allowed size")


def check_depth(content: Any, depth: int) -> None:
    # A top-level attribute is level 1: a scalar may be nested 31 times but not 32.
    if depth >= MAX_NESTING and content:
        raise ValidationException(TOO_DEEP)


CHECKERS: dict[Any, Checker] = {
    "S": lambda content, depth: (content, utf8_length(content)),
    "B": check_binary,
    "N": check_number,
    "BOOL": check_bool,
    "NULL": check_null,
    "BS": check_binaries,
    "NS": check_numbers,
    "SS": check_strings,
    "L": check_list,
    "M": check_map,
}
"""In the order in which AWS checks the members of a value that has several."""


def check_list_shape(content: Any) -> None:
    if not isinstance(content, list):
        if isinstance(content, Mapping):
            raise unexpected_structure()
        raise SerializationException("Unexpected field type")
    if len(content) > MAX_ITEM_BYTES:
        raise too_many()


def not_a_map(content: Any) -> DynamoDBError:
    if isinstance(content, list):
        return unrecognized_collection(
            "java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>"
        )
    return SerializationException("Unexpected field type")


def not_a_scalar(content: Any, wanted: str) -> DynamoDBError:
    if isinstance(content, list):
        return unrecognized_collection(f"class java.lang.{wanted}")
    if isinstance(content, Mapping):
        return unexpected_structure()
    return SerializationException(f"{token_of(content)} cannot be converted to {wanted}")


def token_of(content: Any) -> str:
    """AWS's JSON parser's name for the type of a scalar."""
    if isinstance(content, bool):
        return "TRUE_VALUE" if content else "FALSE_VALUE"
    names = {int: "NUMBER_VALUE", float: "DECIMAL_VALUE", str: "STRING_VALUE"}
    return names.get(type(content), "EMBEDDED_OBJECT")


def unrecognized_collection(java_type: str) -> DynamoDBError:
    return SerializationException(f"Unrecognized collection type {java_type}")


def unexpected_structure() -> DynamoDBError:
    return SerializationException("Start of structure or map found where not expected")


def binary(text: str) -> bytes:
    """The bytes of a checked binary."""
    return a2b_base64(text)


def same(a: AttributeValue, b: AttributeValue) -> bool:
    """Equality as `=` sees it: deep, with sets in any order."""
    if a == b:
        return True
    for tag, left in a.items():
        if tag not in UNORDERED_WITHIN or tag not in b:
            return False
        return UNORDERED_WITHIN[tag](left, b[tag])
    return False


def equal(a: AttributeValue, b: AttributeValue) -> bool:
    """Equality of unchecked values, in which a number may be spelled in different ways."""
    return same(check_value(a)[0], check_value(b)[0])


def same_sets(a: list[str], b: list[str]) -> bool:
    return len(a) == len(b) and set(a) == set(b)


def same_maps(a: Item, b: Item) -> bool:
    if a.keys() != b.keys():
        return False
    for name, value in a.items():
        other = b[name]
        if value != other and not same(value, other):
            return False
    return True


UNORDERED_WITHIN: dict[str, Callable[[Any, Any], bool]] = {
    "SS": same_sets,
    "NS": same_sets,
    "BS": same_sets,
    "L": lambda a, b: len(a) == len(b) and all(map(same, a, b)),
    "M": same_maps,
}

SORTABLE: dict[str, Callable[[str], Any]] = {"S": str, "N": number.decimal, "B": binary}
"""The types that have an order. Strings sort by code points as by their UTF-8 bytes."""


def comparable(value: AttributeValue) -> Any:
    """A string, number or binary as a value with Python's `<`; None for types without order."""
    ((tag, content),) = value.items()
    return SORTABLE[tag](content) if tag in SORTABLE else None


def order(a: AttributeValue, b: AttributeValue) -> int | None:
    """Negative, zero or positive as `a` is less than, equal to or greater than `b`.

    None when `<` does not apply: the types differ, or are not string, number or binary.
    """
    for tag, text in a.items():
        if tag in SORTABLE and tag in b:
            left, right = SORTABLE[tag](text), SORTABLE[tag](b[tag])
            return int(left > right) - int(left < right)
    return None


def contains(container: AttributeValue, operand: AttributeValue) -> bool:
    """Whether a string or binary contains a substring, or a set or list an element."""
    for tag, content in container.items():
        if tag == "L":
            return any(same(value, operand) for value in content)
        if tag in {"SS", "NS", "BS"}:
            return operand.get(tag[0]) in content
        if tag == "S":
            return "S" in operand and operand["S"] in content
        if tag == "B":
            return "B" in operand and binary(operand["B"]) in binary(content)
    return False


def size_of(value: AttributeValue) -> int | None:
    """The result of `size()`; None for a number, boolean or null, which have no size."""
    for tag, content in value.items():
        if tag == "S":
            # AWS counts UTF-16 code units: an emoji is two. (undocumented)
            # https://github.com/ExtendDB/extenddb/issues/60
            return len(content) if content.isascii() else len(content.encode("utf-16-le")) // 2
        if tag == "B":
            return len(binary(content))
        if tag in UNORDERED_WITHIN:
            return len(content)
    return None


# --- Identity: a hashable value that identifies an item ----------------------------------------

Identity: TypeAlias = tuple[Any, ...]
"""A table's name, then the name and the value of each key attribute."""


def item_identity(table: str, item: Item, names: Iterable[str]) -> Identity:
    """The identity of the item whose key has these attributes.

    A number has the same identity in every spelling, and values of different types never share one.
    A malformed key raises a ValueError, a KeyError or a ValidationException.
    """
    identity: list[Any] = [table]
    for name in names:
        ((tag, content),) = item[name].items()
        identity += (name, content if tag == "S" else key_value(tag, content))
    return tuple(identity)


def key_value(tag: str, content: str) -> Any:
    if tag == "N":
        return number.decimal(number.canonical(content))
    if tag == "B":
        return content.encode()  # base64, in the only spelling that DynamoDB accepts
    raise ValueError(f"a key attribute is never of type {tag}")
