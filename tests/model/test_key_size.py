"""Keys that DynamoDB would not take, too long or empty, are refused before any request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.model.errors import ValueRefused
from bigtime.model.operations.batch import get_many, put_many
from bigtime.model.operations.bucket_query import buckets
from bigtime.model.operations.change import IfMissing
from bigtime.model.operations.get import get
from bigtime.model.operations.put import create, put
from bigtime.model.operations.query import query
from bigtime.model.operations.update import update
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.key_range import at_least, begins_with, between, less_than
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.table import Table, binary, global_index, local_index
from bigtime.wire import Request, ValidationException
from tests.model.designs import NOON, Measurement
from tests.model.world import World

SHELVES = Table(
    "Shelves",
    "PK",
    "SK",
    indexes=[
        global_index("ByOwner", "ByOwnerPK", "ByOwnerSK"),
        global_index("ByLabel", "label", "note"),
        local_index("ByDigest", binary("digest")),
        global_index("ByStamp", binary("stamp")),
    ],
)


class Shelf(Entity, table=SHELVES):
    keys = Keys(
        main=("SHELF#{hall}", "SHELF#{row}#{name}"),
        ByOwner=("OWNER#{owner}", "{hall}#{name}"),
        ByLabel=("{label}", "{note}"),
        ByDigest=("SHELF#{hall}", "{digest}"),
        ByStamp="{stamp}",
    )
    hall: str
    row: str = "1"
    name: str = "x"
    owner: str | None = None
    label: str | None = None
    note: str | None = None
    digest: bytes | None = None
    stamp: bytes | None = None


TABLES = [SHELVES]
KEY = Shelf.key("h", "1", "x")


def text(size: int) -> str:
    """A text of so many bytes, a quarter as many characters."""
    return "\U0001f600" * (size // 4) + "x" * (size % 4)


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: put(Shelf(hall=text(2043))),
        "Shelf: field 'hall' of the key 'SHELF#{hall}' makes it 2,049 bytes long, and DynamoDB"
        " takes 2,048: shorten it",
    ),
    (
        lambda: put(Shelf(hall="h", row=text(500), name=text(600))),
        "Shelf: fields 'row', 'name' of the key 'SHELF#{row}#{name}' make it 1,107 bytes long, and"
        " DynamoDB takes 1,024: shorten them",
    ),
    (lambda: create(Shelf(hall=text(3000))), "Shelf: field 'hall' of the key"),
    (lambda: put_many([Shelf(hall=text(3000))]), "Shelf: field 'hall' of the key"),
    (lambda: get(Shelf.key(text(3000), "1", "x")), "Shelf: field 'hall' of the key"),
    (lambda: get_many([Shelf.key("h", "1", text(1018))]), "Shelf: fields 'row', 'name' of the key"),
    (lambda: put(Shelf(hall="h", owner=text(2043))), "Shelf: field 'owner' of the key 'OWNER#{"),
    (lambda: update(KEY, owner=text(2043)), "Shelf: field 'owner' of the key 'OWNER#{owner}'"),
    (lambda: put(Shelf(hall="h", note=text(1025))), "Shelf.note of the key '{note}'"),
    (lambda: update(KEY, note=text(1025)), "Shelf.note of the key '{note}' makes it"),
    (lambda: update(KEY, note=IfMissing(text(1025))), "Shelf.note of the key"),
    (lambda: update(KEY, label=text(2049)), "Shelf.label of the key '{label}' makes"),
    (lambda: update(KEY, label=""), "Shelf.label of the key '{label}' is empty, and no key may be"),
    (lambda: put(Shelf(hall="h", label="")), "Shelf.label of the key '{label}' is empty"),
    (lambda: put(Shelf(hall="h", digest=b"")), "Shelf.digest of the key '{digest}' "),
    (lambda: put(Shelf(hall="h", digest=bytes(1025))), "makes it 1,025 bytes long, and Dyn"),
    (lambda: update(KEY, stamp=b""), "Shelf.stamp of the key '{stamp}' is empty"),
    (lambda: update(KEY, stamp=bytes(2049)), "makes it 2,049 bytes long, and DynamoDB takes 2,048"),
    (lambda: query(Shelf.within("main", hall=text(2043))), "Shelf.within('main'): field 'hall' of"),
    (
        lambda: query(Shelf.within("main", hall="h", row="1", name=text(1024))),
        "Shelf.within('main'): fields 'row', 'name' of the key",
    ),
    (
        lambda: query(Shelf.within("main", hall="h", row="1", name=less_than(text(1024)))),
        "Shelf.within('main'): fields 'row', 'name' of the key",
    ),
    (
        lambda: query(Shelf.within("main", hall="h", row=begins_with(text(1024)))),
        "Shelf.within('main'): fields 'row', 'name' of the key",
    ),
    (lambda: query(Shelf.within("ByStamp", stamp=b"")), "field 'stamp' of the key '{stamp}' is"),
    (
        lambda: query(Shelf.within("ByDigest", hall="h", digest=at_least(b""))),
        "field 'digest' of the key '{digest}' is empty",
    ),
    (
        lambda: query(Shelf.within("ByDigest", hall="h", digest=between(b"a", bytes(1025)))),
        "makes it 1,025 bytes long",
    ),
    (
        lambda: buckets(Measurement, "main", sensor=text(2030)).after(at=NOON),
        "Measurement: fields 'sensor', 'at' of the key 'SENSOR#{sensor}#{at:hour}' make it",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("make", "words"), REFUSED, ids=range(len(REFUSED)))
def test_a_key_that_dynamodb_would_not_take_is_refused_before_any_request(
    world: World, make: Callable[[], Any], words: str
) -> None:
    with pytest.raises(ValueRefused) as caught:
        world.run(make())
    assert words in str(caught.value)
    assert world.operations() == []


def test_the_longest_keys_are_taken(world: World) -> None:
    long = Shelf(hall=text(2042), name=text(1016), label=text(2048), note=text(1024))
    bytes_ = Shelf(hall="h", digest=bytes(1024), stamp=bytes(2048), owner=text(2042))
    for shelf in (long, bytes_):
        assert world.run(put(shelf)) == shelf
        assert world.run(get(shelf.own_key())) == shelf
    below = Shelf.within("main", hall="h", row="1", name=less_than(text(1016)))
    assert world.run(query(below)).items == [bytes_]


LETTERS = ["a", "é", "€", "\U0001f600"]


@given(
    st.sampled_from(["hall", "name", "label", "note", "stamp", "digest"]),
    st.sampled_from(LETTERS),
    st.sampled_from([1008, 1010, 1016, 1020, 1024, 1028, 2036, 2040, 2042, 2044, 2048, 2052]),
    st.integers(0, 8),
)
def test_what_is_refused_is_what_the_engine_refuses(
    name: str, letter: str, size: int, more: int
) -> None:
    value: Any = letter * (size // len(letter.encode())) + "x" * more
    if name in ("stamp", "digest"):
        value = value.encode()
    shelf = Shelf.model_validate({"hall": "h", name: value})
    with Engine.memory(housekeeping=False) as engine:
        world = World(engine, SHELVES)
        bare = Shelf.layout.to_item(Shelf(hall="h"))
        written = {
            "hall": {"PK": {"S": f"SHELF#{value}"}},
            "name": {"SK": {"S": f"SHELF#1#{value}"}},
        }.get(name, {name: Shelf.layout.declared_forms[name].write(value)})
        try:
            engine(Request("PutItem", {"TableName": "Shelves", "Item": {**bare, **written}}))
        except ValidationException:
            with pytest.raises(ValueRefused):
                world.run(put(shelf))
        else:
            assert world.run(put(shelf)) == shelf
