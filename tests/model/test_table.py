"""Tables: what DynamoDB would refuse is refused when it is declared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.model.errors import DesignError
from bigtime.model.operations.create_table import create_table_request
from bigtime.model.schema.table import (
    MAIN,
    Attribute,
    Index,
    Table,
    binary,
    global_index,
    half,
    local_index,
    number,
)
from bigtime.wire import ValidationException


def globals_(count: int, **more: Any) -> list[Index]:
    return [global_index(f"GSI{n}", f"GSI{n}PK", **more) for n in range(count)]


def locals_(count: int) -> list[Index]:
    return [local_index(f"LSI{n}", f"LSI{n}SK") for n in range(count)]


NAMES = [f"a{n}" for n in range(20)]


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"name": "ab"}, "table 'ab': its name must be 3 to 255 of the characters a-z, A-Z, 0-9,"),
        ({"name": "x" * 256}, "must be 3 to 255"),
        ({"name": "Big Time"}, "table 'Big Time': its name"),
        ({"name": "Größe"}, "table 'Größe': its name"),
        ({"indexes": [global_index("G1", "x")]}, "table Shop, index 'G1': its name must be 3 to"),
        ({"indexes": [local_index("by/x", "x")]}, "table Shop, index 'by/x': its name must be"),
        ({"indexes": [global_index("main", "x")]}, "'main' is the table itself; rename the index"),
        (
            {"indexes": [global_index("ByX", "x"), global_index("ByX", "y")]},
            "table Shop declares index 'ByX' twice; rename one",
        ),
        ({"hash": ""}, "table Shop, its own key: a key attribute has no name; give it one"),
        ({"range": ""}, "table Shop, its own key: a key attribute has no name; give it one"),
        ({"hash": "é" * 128}, "table Shop, its own key: a key attribute has a name of 256 bytes"),
        (
            {"indexes": [global_index("ByX", "x", "x" * 256)]},
            "table Shop, index ByX: a key attribute has a name of 256 bytes"
            " ('xxxxxxxxxxxxxxxxxxxx'...); DynamoDB allows 255: shorten it",
        ),
        (
            {"indexes": [global_index("ByX", "x", include=["y", ""])]},
            "table Shop, index ByX: an attribute that it includes has no name; give it one",
        ),
        (
            {"indexes": [global_index("ByX", "x", include=["a", "b", "a"])]},
            "table Shop, index ByX includes 'a' twice; name it once",
        ),
        (
            {"indexes": [global_index("ByX", "x", include=["a", "PK"])]},
            "table Shop, index ByX includes 'PK', a key, which it holds anyway; leave it out",
        ),
        (
            {"indexes": [global_index("ByX", "x", include=["x"])]},
            "table Shop, index ByX includes 'x', a key, which it holds anyway; leave it out",
        ),
        (
            {"indexes": [global_index("ByX", "x", keys_only=True, include=["a"])]},
            "table Shop, index ByX is KEYS_ONLY and includes attributes; choose one",
        ),
        (
            {"indexes": [global_index("ByX", "x", include=[*NAMES, "more"])]},
            "table Shop, index ByX includes 21 attributes; DynamoDB allows 20: project ALL",
        ),
        (
            {"indexes": globals_(6, include=NAMES)},
            "table Shop projects 120 attributes by name; DynamoDB allows 100 over all indexes",
        ),
        (
            {"indexes": globals_(21)},
            "table Shop has 21 global and 0 local indexes; DynamoDB allows 20 and 5",
        ),
        ({"indexes": locals_(6)}, "table Shop has 0 global and 6 local indexes"),
        (
            {"range": None, "indexes": locals_(1)},
            "table Shop has a local index but no sort key; declare `range`, or make",
        ),
        ({"hash": "PK", "range": "PK"}, "table Shop, its own key: 'PK' is there twice; name"),
        (
            {"indexes": [global_index("ByX", ["a", "b"], ["c", "a"])]},
            "table Shop, index ByX: 'a' is there twice",
        ),
        (
            {"indexes": [local_index("ByX", "PK")]},
            "table Shop, index ByX: 'PK' is there twice",
        ),
        ({"indexes": [global_index("ByX", ())]}, "index ByX has no partition key; declare `hash`"),
        (
            {"indexes": [local_index("ByX", ())]},  # type: ignore[arg-type]
            "table Shop, index ByX is local and has no sort key; declare `range`",
        ),
        (
            {"indexes": [global_index("ByX", list("abcde"))]},
            "table Shop, index ByX: a half of its key has 5 attributes, and may have 4 at most",
        ),
        (
            {"hash": ["a", "b"]},
            "table Shop, its own key: a half of its key has 2 attributes, and may have 1 at most",
        ),
        (
            {"indexes": [global_index("ByX", "x", number("SK"))]},
            "table Shop: key attribute 'SK' is declared with two types; give it one",
        ),
        (
            {"indexes": [global_index("ByX", Attribute("x", "BOOL"))]},  # type: ignore[arg-type]
            "table Shop, index ByX: key 'x' is of type BOOL, and must be S, N or B",
        ),
        ({"stream": "NEW"}, "table Shop: stream is 'NEW'; a stream shows KEYS_ONLY, NEW_IMAGE,"),
        ({"ttl": ""}, "table Shop: the attribute of `ttl` has no name; give it one"),
        ({"type_attribute": ""}, "table Shop: the attribute of `type_attribute` has no name"),
        (
            {"type_attribute": "PK"},
            "table Shop: 'PK' is both a key and what says which entity an item is; rename one",
        ),
        (
            {"type_attribute": "kind", "indexes": [global_index("ByKind", "kind")]},
            "table Shop: 'kind' is both a key and what says which entity an item is; rename one",
        ),
        (
            {"type_attribute": "kind", "ttl": "kind"},
            "table Shop: 'kind' is both `ttl` and `type_attribute`; rename one",
        ),
        ({"tags": {f"t{n}": "x" for n in range(51)}}, "table Shop has 51 tags; DynamoDB allows 50"),
        (
            {"tags": {f"{n}": "x" * 256 for n in range(40)}},
            "table Shop has tags of 10,310 bytes; DynamoDB allows 10,240: shorten some",
        ),
        ({"tags": {"": "x"}}, "table Shop: the tag '' needs a name of 1 to 128 characters"),
        ({"tags": {"team": "x" * 257}}, "table Shop: the tag 'team' has a value of 257 characters"),
        ({"tags": {"aws:team": "x"}}, "table Shop: the tag 'aws:team' begins with aws:, which"),
    ],
)  # fmt: skip
def test_a_table_that_dynamodb_would_refuse_is_refused_when_it_is_declared(
    declared: dict[str, Any], words: str
) -> None:
    with pytest.raises(DesignError) as caught:
        Table(**{"name": "Shop", "hash": "PK", "range": "SK", **declared})
    assert words in str(caught.value)


def test_what_dynamodb_allows_at_most_is_allowed(engine: Engine) -> None:
    largest = Table(
        "x" * 255,
        "é" * 127 + "a",
        "y" * 255,
        indexes=[
            *globals_(5, include=NAMES),
            *(global_index(f"More{n}", f"More{n}") for n in range(14)),
            global_index("z" * 255, list("abcd"), [binary("e"), number("f"), "g", "h"]),
            *locals_(5),
        ],
        tags={f"{n}".rjust(128): "v" * 256 if n < 15 else "" for n in range(50)},
    )
    engine(create_table_request(largest))


# Names and keys, most of them right and some of them wrong.
names = st.sampled_from(["Shop", "a.b-c_9", "ab", "a b", "é" * 3, "x" * 255, "x" * 256])
attributes = st.sampled_from(["PK", "SK", "a", "b", "", "é" * 127, "x" * 255, "x" * 256])
keys = attributes | st.builds(number, attributes) | st.builds(binary, attributes)
halves = keys | st.lists(keys, max_size=5)
projections: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({}),
    st.just({"keys_only": True}),
    st.lists(attributes, max_size=3).map(lambda include: {"include": include}),
    st.integers(1, 21).map(lambda count: {"include": [f"i{n}" for n in range(count)]}),
)


def declared_globally(name: str, hash: Any, range: Any, more: dict[str, Any]) -> Index:
    return global_index(name, hash, range, **more)


indexes: st.SearchStrategy[Index] = st.builds(
    declared_globally, names, halves, halves, projections
) | st.builds(lambda name, key, more: local_index(name, key, **more), names, keys, projections)


def test_one_name_alone_is_included_as_a_list_of_it_would_be() -> None:
    assert global_index("ByX", "x", include="title").include == ("title",)
    assert local_index("ByX", "x", include="title").include == ("title",)


def request_of(hash: Any, range: Any, indexes: Sequence[Index], name: str) -> Any:
    """The request for a table that nobody has checked."""
    unchecked = Table("Unchecked", "PK")
    unchecked.name, unchecked.hash, unchecked.range = name, hash, range
    unchecked.main = Index(MAIN, half(hash), half(() if range is None else range), True)
    unchecked.indexes = tuple(unchecked.with_partition_key(index) for index in indexes)
    return create_table_request(unchecked)


@given(names, keys, st.none() | keys, st.lists(indexes, max_size=3))
def test_what_the_engine_refuses_no_declaration_lets_through(
    name: str, hash: Any, range: Any, indexes: list[Index]
) -> None:
    try:
        with Engine.memory(housekeeping=False) as engine:
            engine(request_of(hash, range, indexes, name))
    except ValidationException:
        with pytest.raises(DesignError):
            Table(name, hash, range, indexes=indexes)
