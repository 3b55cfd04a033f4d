"""Price changes: each becomes an entry of the product's price history, once."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from bigtime.systems.portal import SYSTEM
from bigtime.systems.portal.design import Action, Audited, AuditEntry
from bigtime.systems.portal.products import log_price_changes, soft_delete_product, update_product
from bigtime.systems.portal.records import audit_log
from bigtime.systems.portal.verification import verify_audit
from bigtime.wire import Response, Steps
from tests.store.places import Place
from tests.systems.portal.scenes import ADMIN, contents, new_product, request_steps, stored_item


def consumer(place: Place, name: str = "prices") -> Callable[[], int]:
    return place.consumer("products", log_price_changes.handle, name=name)


def prices(place: Place, product_id: str) -> list[AuditEntry]:
    page = place.run(audit_log(Audited.PRICES, product_id, newest_first=False))
    return list(page)


def prices_in(entry: AuditEntry) -> tuple[Any, Any]:
    return (entry.before or {})["price"], (entry.after or {})["price"]


def test_each_new_price_is_told_once(place: Place) -> None:
    product = new_product(place)
    place.run(update_product(product.id, {"price": "250.00"}, by="editor@example.com"))
    place.run(update_product(product.id, {"name": "Another"}, by=ADMIN))
    place.run(soft_delete_product(product.id, by=ADMIN))
    consumer(place)()

    (entry,) = prices(place, product.id)

    assert (entry.action, entry.actor) == (Action.PRICE_CHANGED, "editor@example.com")
    assert prices_in(entry) == (Decimal("299.99"), Decimal(250))
    assert entry.event
    assert place.run(verify_audit()) == []


def test_a_replay_of_the_whole_stream_changes_nothing(place: Place) -> None:
    product, other = new_product(place), new_product(place, name="Other")
    for price in ("250.00", "260.00", "250.00", "299.99"):
        place.run(update_product(product.id, {"price": price}, by=ADMIN))
    place.run(update_product(other.id, {"price": "1.00"}, by=ADMIN))
    consumer(place)()
    before = contents(place)

    consumer(place, "again")()

    assert contents(place) == before
    assert [prices_in(price)[1] for price in prices(place, product.id)] == [
        Decimal(250),
        Decimal(260),
        Decimal(250),
        Decimal("299.99"),
    ]
    assert len(prices(place, other.id)) == 1


def test_a_crash_halfway_tells_nothing_twice(alone: Place) -> None:
    product = new_product(alone)
    for price in range(1, 6):
        alone.run(update_product(product.id, {"price": price}, by=ADMIN))
    handled = 0

    def failing(record: Response) -> Steps[None]:
        nonlocal handled
        yield from log_price_changes.handle(record)
        handled += 1
        if handled == 3:
            raise RuntimeError

    with pytest.raises(RuntimeError):
        alone.consumer("products", failing, name="prices")()
    consumer(alone)()

    assert [prices_in(price)[1] for price in prices(alone, product.id)] == [1, 2, 3, 4, 5]


def test_a_price_history_that_was_touched_is_found(alone: Place) -> None:
    product = new_product(alone)
    alone.run(update_product(product.id, {"price": 5}, by=ADMIN))
    alone.run(update_product(product.id, {"price": 6}, by=ADMIN))
    consumer(alone)()
    item = stored_item(alone, "audit", f"prices#{product.id}", f"{1:012}")
    assert item is not None
    alone.run(request_steps("PutItem", TableName="audit", Item={**item, "actor": {"S": "mallory"}}))
    assert [(each.record, each.sequence) for each in alone.run(verify_audit())] == [
        (f"prices#{product.id}", 1)
    ]


def test_the_reaction_belongs_to_the_system() -> None:
    assert [*SYSTEM.reactions] == ["log_price_changes"]
    assert SYSTEM.reactions["log_price_changes"].table.name == "products"


def test_the_same_change_from_the_stream_of_a_replica_is_told_once(alone: Place) -> None:
    product = new_product(alone)
    for price in (250, 260, 250):
        alone.run(update_product(product.id, {"price": price}, by=ADMIN))
    records: list[Response] = []

    def tell(record: Response) -> Steps[None]:
        records.append(record)
        yield from log_price_changes.handle(record)

    alone.consumer("products", tell, name="here")()
    before = contents(alone)
    for number, record in enumerate(records):
        elsewhere = {**record["dynamodb"], "SequenceNumber": f"{9 * 10**20 + number}"}
        alone.run(log_price_changes.handle({**record, "dynamodb": elsewhere}))
    assert contents(alone) == before
    assert len(prices(alone, product.id)) == 3
