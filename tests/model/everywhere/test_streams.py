"""Streams: records become entities before and after, and a consumer meets each, in order."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.model import Change, create, decode, delete, update
from bigtime.wire import Response, Steps
from tests.model.everywhere.scenario import MOTO, ON_ENGINES, Front, open_place
from tests.model.invariants import SHOP, Brand, Customer, CustomerEmail
from tests.store.places import Place

everywhere = pytest.mark.parametrize("kind", [*ON_ENGINES, MOTO])


class Watcher:
    """A consumer of the shop's stream, and what it has seen."""

    def __init__(self, place: Place, name: str = "test") -> None:
        self.seen: list[Change[Any]] = []
        self.fails_at: int | None = None
        self.run_once = place.consumer(SHOP.name, self.handle, name=name, page_size=3)

    def handle(self, record: Response) -> Steps[None]:
        if len(self.seen) == self.fails_at:
            raise ZeroDivisionError
        self.seen.append(decode(record, [SHOP]))
        return
        yield

    def changes_of(self, key: Any) -> list[Change[Any]]:
        return [each for each in self.seen if each.key.item == key.item]


@everywhere
def test_a_record_is_an_entity_before_and_after(kind: str, front: Front) -> None:
    with open_place(kind, front, SHOP) as place:
        al = place.run(create(Customer(username="al", email="a@x.org")))
        moved = place.run(update(al, city="Omaha"))
        place.run(create(Brand(brand="X", title="x")))
        place.run(delete(moved))
        watcher = Watcher(place)
        assert watcher.run_once() == len(watcher.seen) == 6
    told = [(each.kind, each.before, each.after) for each in watcher.changes_of(Customer.key("al"))]
    assert told == [("insert", None, al), ("modify", al, moved), ("remove", moved, None)]
    markers = watcher.changes_of(CustomerEmail.key("a@x.org"))
    assert [(marker.kind, marker.entity) for marker in markers] == [
        ("insert", CustomerEmail),
        ("remove", CustomerEmail),
    ]
    (brand,) = (change for each in watcher.seen if (change := each.of(Brand)))
    assert brand.after is not None and brand.after.title == "x"
    assert not any(each.by_service for each in watcher.seen)


@everywhere
def test_a_consumer_goes_on_where_it_was(kind: str, front: Front) -> None:
    with open_place(kind, front, SHOP) as place:
        for n in range(7):
            place.run(create(Brand(brand=f"B{n}")))
        first = Watcher(place)
        assert first.run_once() == 7
        assert first.run_once() == 0
        place.run(update(Brand.key("B1"), title="new"))
        second = Watcher(place)
        assert second.run_once() == 1
        assert [each.kind for each in second.seen] == ["modify"]
        stranger = Watcher(place, name="other")
        assert stranger.run_once() == 8


@everywhere
def test_what_a_handler_fails_at_is_met_again_and_nothing_is_skipped(
    kind: str, front: Front
) -> None:
    with open_place(kind, front, SHOP) as place:
        place.run(create(Brand(brand="X")))
        for n in range(9):
            place.run(update(Brand.key("X"), title=f"{n}"))
        failing = Watcher(place)
        failing.fails_at = 5
        with pytest.raises(ZeroDivisionError):
            failing.run_once()
        again = Watcher(place)
        again.run_once()
    titles = [each.after.title for each in (*failing.seen, *again.seen) if each.after]
    assert list(dict.fromkeys(titles)) == ["", *(f"{n}" for n in range(9))]
    after = [each.after.title for each in again.seen if each.after]
    assert after == [*(f"{n}" for n in range(4, 9))]  # what was handled is not handled again
