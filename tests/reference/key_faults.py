"""Mistakes about the table, the item or its key."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from tests.reference.designs import ATTRIBUTE_TYPES, Design
from tests.reference.faults import (
    BATCHES,
    BY_KEY,
    INVALID,
    ITEM_WRITES,
    NO_MATCH,
    NOT_FOUND,
    SINGLE,
    TRANSACTIONS,
    WRONG_VALUES,
    Fault,
    item_or_key,
    part,
    setting,
)


def elsewhere(params: dict[str, Any], _design: Design) -> None:
    if "RequestItems" in params:
        tables = params["RequestItems"]
        tables["nowhere"] = tables.pop(next(iter(tables)))
    else:
        part(params)["TableName"] = "nowhere"


def without_key(params: dict[str, Any], design: Design) -> None:
    del item_or_key(params)[design.partition]


def wrong_key_type(params: dict[str, Any], design: Design) -> None:
    item_or_key(params)[design.partition] = WRONG_VALUES[ATTRIBUTE_TYPES[design.partition]]


def empty_key(params: dict[str, Any], design: Design) -> None:
    item_or_key(params)[design.partition] = {ATTRIBUTE_TYPES[design.partition]: ""}


def can_be_empty(_params: dict[str, Any], design: Design) -> bool:
    return ATTRIBUTE_TYPES[design.partition] != "N"


def longer_key(params: dict[str, Any], _design: Design) -> None:
    item_or_key(params)["extra"] = {"S": "x"}


def has_key(params: dict[str, Any], _design: Design) -> bool:
    return "Key" in part(params)


def has_item(params: dict[str, Any], _design: Design) -> bool:
    return "Item" in part(params)


def has_emptiable_item(params: dict[str, Any], design: Design) -> bool:
    return has_item(params, design) and can_be_empty(params, design)


def wrong_index_key(params: dict[str, Any], design: Design) -> None:
    name = design.index_keys[0]
    part(params)["Item"][name] = WRONG_VALUES[ATTRIBUTE_TYPES[name]]


def empty_index_key(params: dict[str, Any], design: Design) -> None:
    name = next(name for name in design.index_keys if ATTRIBUTE_TYPES[name] != "N")
    part(params)["Item"][name] = {ATTRIBUTE_TYPES[name]: ""}


def has_indexed_item(params: dict[str, Any], design: Design) -> bool:
    types = {ATTRIBUTE_TYPES[name] for name in design.index_keys}
    return has_item(params, design) and bool(types - {"N"})


def key_faults() -> list[Fault]:
    return [
        Fault("unknown table", SINGLE, elsewhere, "ResourceNotFoundException", lambda _: NOT_FOUND),
        Fault("unknown table", BATCHES + TRANSACTIONS, elsewhere, "ResourceNotFoundException"),
        Fault("key missing", (*BY_KEY, *BATCHES), without_key, fits=has_key, sentence=no_match),
        Fault("key of wrong type", BY_KEY, wrong_key_type, sentence=no_match),
        Fault("key of wrong type", BATCHES, wrong_key_type, fits=has_key, sentence=no_match),
        Fault("key too long", (*BY_KEY, *BATCHES), longer_key, fits=has_key, sentence=no_match),
        Fault("key empty", (*BY_KEY, *BATCHES), empty_key, fits=can_be_empty),
        Fault("key empty", ("PutItem",), empty_key, fits=can_be_empty),
        Fault("key missing", ("PutItem",), without_key, sentence=missing_sentence),
        Fault("key of wrong type", ("PutItem",), wrong_key_type, sentence=mismatch_sentence),
        Fault("index key of wrong type", ("PutItem",), wrong_index_key, fits=has_indexed_item),
        Fault("index key empty", ("PutItem",), empty_index_key, fits=has_indexed_item),
        # Inside a transaction a key of the wrong type is found when its action is tried, an empty
        # one before anything is: github.com/paritysuite/dynamodb-conformance/pull/46.
        Fault("key empty", ("TransactWriteItems",), empty_key, fits=has_emptiable_item),
        Fault("index key empty", ("TransactWriteItems",), empty_index_key, fits=has_indexed_item),
        Fault(
            "index key of wrong type",
            ("TransactWriteItems",),
            wrong_index_key,
            "TransactionCanceledException",
            fits=has_indexed_item,
        ),
        Fault("key of wrong type", TRANSACTIONS, wrong_key_type, "TransactionCanceledException"),
        Fault("key missing", TRANSACTIONS, without_key, "TransactionCanceledException"),
    ]


def no_match(_design: Design) -> str:
    return NO_MATCH


def missing_sentence(design: Design) -> str:
    return f"{INVALID}Missing the key {design.partition} in the item"


def mismatch_sentence(design: Design) -> str:
    expected = ATTRIBUTE_TYPES[design.partition]
    (actual,) = WRONG_VALUES[expected]
    return (
        f"{INVALID}Type mismatch for key {design.partition} expected: {expected} actual: {actual}"
    )


def twice(params: dict[str, Any], _design: Design) -> None:
    if "TransactItems" in params:
        params["TransactItems"].append(params["TransactItems"][0])
        return
    asked = next(iter(params["RequestItems"].values()))
    requests = asked["Keys"] if isinstance(asked, dict) else asked
    requests.append(requests[0])


def twice_in_two_spellings(params: dict[str, Any], design: Design) -> None:
    """1 and 1.0 are one key."""
    twice(params, design)
    copied = deepcopy(params)
    params.clear()
    params.update(copied)
    number = item_or_key(params)[design.partition]
    number["N"] = {"1": "1.0", "1.0": "1e0", "-2": "-2.00"}[number["N"]]


def by_number(_params: dict[str, Any], design: Design) -> bool:
    return ATTRIBUTE_TYPES[design.partition] == "N"


def crowd(params: dict[str, Any], _design: Design) -> None:
    asked = next(iter(params["RequestItems"].values()))
    requests = asked["Keys"] if isinstance(asked, dict) else asked
    requests.extend(requests[:1] * 100)


def other_faults() -> list[Fault]:
    returns = "ReturnValues can only be ALL_OLD or NONE"
    duplicates = "Provided list of item keys contains duplicates"
    several = "Transaction request cannot include multiple operations on one item"
    return [
        Fault("unknown ReturnValues", ITEM_WRITES, setting(ReturnValues="ALL")),
        Fault(
            "ReturnValues of an update",
            ("PutItem",),
            setting(ReturnValues="UPDATED_NEW"),
            sentence=lambda _: returns,
        ),
        Fault("ReturnValues of an update", ("DeleteItem",), setting(ReturnValues="ALL_NEW")),
        Fault("one key twice", BATCHES, twice, sentence=lambda _: duplicates),
        Fault("one item twice", TRANSACTIONS, twice, sentence=lambda _: several),
        Fault("one number twice", BATCHES, twice_in_two_spellings, fits=by_number),
        Fault("one number twice", TRANSACTIONS, twice_in_two_spellings, fits=by_number),
        Fault("too many", BATCHES, crowd),
        Fault("nothing asked", BATCHES, setting(RequestItems={})),
        Fault("nothing asked", TRANSACTIONS, setting(TransactItems=[])),
        Fault("token too long", ("TransactWriteItems",), setting(ClientRequestToken="t" * 37)),
        Fault("no action", ("TransactWriteItems",), setting(TransactItems=[{}])),
    ]
