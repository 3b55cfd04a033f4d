"""Stream records: what happened, as entities before and after."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.model.errors import DesignError, ItemMismatch
from bigtime.model.operations.delete import delete
from bigtime.model.operations.put import create, put
from bigtime.model.operations.update import update
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.table import Table, number, pascal_case
from bigtime.model.stream import Change, decode
from bigtime.store import consume
from bigtime.wire import Response
from bigtime.wire.requests import Steps
from tests.model.designs import NOON, TRENDING, BrandLike
from tests.model.invariants import SHOP, Brand, Customer, CustomerEmail
from tests.model.world import World

TABLES = [SHOP]


def changes(world: World, *tables: Table) -> list[Change[Any]]:
    """What the stream of the first table tells."""
    seen: list[Change[Any]] = []

    def handle(record: Response) -> Steps[None]:
        seen.append(decode(record, tables))
        return
        yield

    consume(world.store, tables[0].name, handle, name="test").run_once()
    return sorted(seen, key=lambda change: change.sequence)


def test_a_change_has_the_entity_before_and_after(world: World) -> None:
    al = world.run(create(Customer(username="al", email="a@b.c")))
    told = world.run(update(al, city="Omaha"))
    world.run(delete(told))
    seen = changes(world, SHOP)
    customers = [change for each in seen if (change := each.of(Customer))]
    assert [(customer.kind, customer.before, customer.after) for customer in customers] == [
        ("insert", None, al),
        ("modify", al, told),
        ("remove", told, None),
    ]
    assert all(customer.key.item == Customer.key("al").item for customer in customers)
    assert not any(each.by_service for each in seen)
    assert {each.entity for each in seen} == {Customer, CustomerEmail}
    assert all(abs(each.at - datetime.now(UTC)).total_seconds() < 60 for each in seen)


def record(*, name: str = "MODIFY", **told: Any) -> Response:
    """A record as Lambda gets it."""
    return {
        "eventName": name,
        "dynamodb": {
            "ApproximateCreationDateTime": 1773144000.0,
            "SequenceNumber": "100",
            **told,
        },
    }


def keys_of(entity: Entity) -> Any:
    return entity.own_key().item


X = Brand(brand="X", version=1)


def test_what_a_stream_does_not_show_is_none() -> None:
    item = Brand.layout.to_item(X)
    shown: list[tuple[dict[str, Any], Brand | None, Brand | None]] = [
        ({}, None, None),
        ({"NewImage": item}, None, X),
        ({"OldImage": item}, X, None),
        ({"NewImage": item, "OldImage": item}, X, X),
    ]
    for told, before, after in shown:
        change = decode(record(Keys=keys_of(X), **told), [SHOP])
        assert (change.entity, change.before, change.after) == (Brand, before, after)
        assert change.key.fields == {"brand": "X"}
        assert (change.kind, change.sequence, change.at) == ("modify", "100", NOON)


def test_the_key_tells_where_no_image_does() -> None:
    like = BrandLike(brand="a#b", username="al")
    change = decode(record(Keys=keys_of(like)), [BrandLike.layout.table])
    assert change.entity is BrandLike
    assert change.key.fields == {"brand": "a#b", "username": "al"}


def test_what_expired_was_deleted_by_the_service() -> None:
    expired = record(name="REMOVE", Keys=keys_of(X), OldImage=Brand.layout.to_item(X))
    expired["userIdentity"] = {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}
    assert decode(expired, [SHOP]).by_service
    expired["userIdentity"] = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
    assert decode(expired, [SHOP]).by_service  # as Lambda has it
    expired["userIdentity"] = None
    assert not decode(expired, [SHOP]).by_service


def test_a_time_may_come_as_one() -> None:
    told = record(Keys=keys_of(X), ApproximateCreationDateTime=NOON)
    assert decode(told, [SHOP]).at == NOON


def test_a_change_is_of_its_own_entity_only() -> None:
    change = decode(record(Keys=keys_of(X)), [SHOP])
    assert change.of(Brand) is change
    assert change.of(Customer) is None
    assert change.of(Entity) is change


def test_an_item_that_nobody_knows_is_not_lost() -> None:
    image = {"PK": {"S": "ROBOT#1"}, "SK": {"S": "ROBOT#1"}, "Type": {"S": "Robot"}}
    keys = {"PK": image["PK"], "SK": image["SK"]}
    with pytest.raises(ItemMismatch, match="no entity of the tables given has the key") as caught:
        decode(record(Keys=keys, NewImage=image), [SHOP, TRENDING])
    assert caught.value.item is image
    image["Type"] = {"S": "Brand"}
    with pytest.raises(ItemMismatch, match="Brand at"):
        decode(record(Keys=keys, NewImage=image), [SHOP])


FIRST = Table("First", "id", naming=pascal_case)
SECOND = Table("Second", "id", naming=pascal_case)
THIRD = Table("Third", number("n"))


class One(Entity, table=FIRST):
    keys = Keys(main="{name}")
    name: str


class Two(Entity, table=SECOND):
    keys = Keys(main="{name}")
    name: str


class Three(Entity, table=THIRD):
    keys = Keys(main="{n}")
    n: int


def test_of_several_tables_the_record_must_tell_which() -> None:
    tables = [FIRST, SECOND, THIRD]
    told = record(Keys={"id": {"S": "a"}})
    with pytest.raises(DesignError, match="may be of several tables: First, Second"):
        decode(told, tables)
    told["eventSourceARN"] = "arn:aws:dynamodb:eu-west-1:1:table/Second/stream/2026"
    assert decode(told, tables).entity is Two
    change = decode(record(Keys={"n": {"N": "5"}}), tables)
    assert (change.entity, change.key.fields) == (Three, {"n": 5})


def test_the_engine_s_records_of_numbers(engine: Engine) -> None:
    table = Table("Streamed", number("n"), stream="NEW_IMAGE")

    class Streamed(Entity, table=table):
        keys = Keys(main="{n}")
        n: int
        tags: set[str] = set()

    world = World(engine, table)
    world.run(put(Streamed(n=5, tags={"b", "a"})))
    world.run(put(Streamed(n=5)))
    first, second = changes(world, table)
    assert (first.before, first.after) == (None, Streamed(n=5, tags={"a", "b"}))
    assert (second.kind, second.before, second.after) == ("modify", None, Streamed(n=5))
    assert second.key.fields == {"n": 5}
