"""Reference counts: the number of those that refer, whatever comes and goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.model.errors import Conflict, DesignError, ItemExists, ItemMissing
from bigtime.model.invariants.reference_count import reference_count
from bigtime.model.operations.change import Add
from bigtime.model.operations.delete import delete, erase, restore
from bigtime.model.operations.get import get
from bigtime.model.operations.op import Op
from bigtime.model.operations.put import create, put, replace
from bigtime.model.operations.scan import scan_all
from bigtime.model.operations.transact import transact
from bigtime.model.operations.update import add, update
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.table import Table, global_index
from bigtime.model.system import System
from bigtime.model.verification import verify
from bigtime.store import Store
from bigtime.wire import Request
from tests.model.invariants import SHOP, SYSTEM, Brand, BrandLike, NotLiked, Offer, UnknownBrand
from tests.model.world import World

TABLES = [SHOP]


@pytest.fixture(autouse=True)
def _brands(world: World) -> None:
    world.run(transact(create(Brand(brand="X")), create(Brand(brand="Y"))))
    world.operations()


def counts(world: World, brand: str = "X") -> tuple[int, int]:
    found = world.run(get(Brand.key(brand)))
    assert found is not None
    return found.like_count, found.offer_count


def like(username: str, brand: str = "X") -> BrandLike:
    return BrandLike(brand=brand, username=username)


def test_like_twice_counts_once_and_unlike_restores(world: World) -> None:
    assert world.run(create(like("al"))) == like("al")
    assert world.operations() == ["TransactWriteItems"]
    with pytest.raises(ItemExists):
        world.run(create(like("al")))
    world.run(put(like("bo"), unless_exists=True))
    assert counts(world) == (2, 0)
    world.run(delete(like("al").own_key(), if_exists=NotLiked))
    with pytest.raises(NotLiked):
        world.run(delete(like("al").own_key(), if_exists=NotLiked))
    assert world.run(delete(like("al").own_key())) is None
    assert counts(world) == (1, 0)


def test_what_it_needs_is_in_the_key(world: World) -> None:
    world.run(create(like("al")))
    world.operations()
    world.run(delete(like("al").own_key()))
    assert world.operations() == ["TransactWriteItems"]


def test_there_must_be_something_to_refer_to(world: World) -> None:
    with pytest.raises(UnknownBrand):
        world.run(create(like("al", "Z")))
    with pytest.raises(UnknownBrand):
        world.run(create(Offer(offer_id="o", maker="Z")))
    world.run(create(Offer(offer_id="o")))
    with pytest.raises(UnknownBrand):
        world.run(update(Offer.key("o"), maker="Z"))
    assert len(world.items(SHOP)) == 3


def test_several_in_one_transaction_are_one_addition(world: World) -> None:
    made = world.run(transact(create(like("al")), create(like("bo")), create(like("cy", "Y"))))
    assert made == (like("al"), like("bo"), like("cy", "Y"))
    assert (counts(world), counts(world, "Y")) == ((2, 0), (1, 0))
    world.run(
        transact(delete(like("al")), create(like("di")), create(Offer(offer_id="o", maker="X")))
    )
    assert counts(world) == (2, 1)


def test_what_is_counted_in_is_not_written_in_the_same_transaction(world: World) -> None:
    with pytest.raises(DesignError, match=r"here two are of Brand.*a count or a marker"):
        world.run(transact(create(like("al")), update(Brand.key("X"), title="Ex")))
    assert world.operations() == []


def test_a_reference_that_changes_moves_the_count(world: World) -> None:
    offer = world.run(create(Offer(offer_id="o", maker="X")))
    assert counts(world) == (0, 1)
    told = world.run(update(offer, maker="Y"))
    assert told == Offer(offer_id="o", maker="Y")
    assert (counts(world), counts(world, "Y")) == ((0, 0), (0, 1))
    world.run(update(Offer.key("o"), maker=None))
    assert counts(world, "Y") == (0, 0)
    with pytest.raises(Conflict):
        world.run(update(offer, maker="Y"))


class TestWhatItRefersToIsGone:
    def test_it_can_go_too(self, world: World) -> None:
        for name in ("al", "bo"):
            world.run(create(like(name)))
        world.run(delete(Brand.key("X")))
        assert world.run(delete(like("al"))) == like("al")
        world.run(transact(delete(like("bo")), create(like("cy", "Y"))))
        assert (world.run(scan_all(BrandLike)), counts(world, "Y")) == ([like("cy", "Y")], (1, 0))
        assert world.run(get(Brand.key("X"))) is None

    def test_it_can_refer_to_something_else(self, world: World) -> None:
        world.run(create(Offer(offer_id="o", maker="X")))
        world.run(delete(Brand.key("X")))
        world.run(update(Offer.key("o"), maker="Y"))
        assert counts(world, "Y") == (0, 1)
        with pytest.raises(UnknownBrand):
            world.run(update(Offer.key("o"), maker="X"))
        assert world.run(verify(SYSTEM)) == []

    def test_one_that_comes_back_meanwhile_is_a_conflict(self, world: World) -> None:
        world.run(create(like("al")))
        world.run(delete(Brand.key("X")))
        cancelled: list[Request] = []

        def again(request: Request) -> None:
            cancelled.append(request)
            if len(cancelled) == 2:
                Store(world.engine).run(create(Brand(brand="X")))
            else:
                world.before = again

        world.before = again
        with pytest.raises(Conflict):
            world.run(delete(like("al")))
        assert world.run(get(like("al").own_key())) == like("al")

    def test_deleted_softly_it_is_counted_in_until_it_comes_back(self, engine: Engine) -> None:
        world = World(engine, ROOMS)
        world.run(create(Room(room="r")))
        for name in ("a", "b"):
            world.run(create(Chair(chair=name, room="r")))
        world.run(delete(Room.key("r")))
        world.run(delete(Chair.key("a")))
        with pytest.raises(ItemMissing):
            world.run(create(Chair(chair="c", room="r")))
        assert world.run(restore(Room.key("r"))) == Room(room="r", chairs=1)
        assert world.run(verify(System("rooms", (ROOMS,)))) == []


ROOMS = Table("Rooms", "PK")


class Room(Entity, table=ROOMS, deleted="gone_at"):
    keys = Keys(main="ROOM#{room}")
    room: str
    chairs: int = 0
    gone_at: datetime | None = None


class Chair(Entity, table=ROOMS):
    keys = Keys(main="CHAIR#{chair}")
    chair: str
    room: str


reference_count(Chair, Room, "chairs")


def test_what_is_deleted_softly_does_not_count(world: World) -> None:
    offer = world.run(create(Offer(offer_id="o", maker="X")))
    assert world.run(delete(offer)) == offer
    assert counts(world) == (0, 0)
    assert world.run(delete(Offer.key("o"))) is None
    assert counts(world) == (0, 0)
    assert world.run(restore(Offer.key("o"))) == offer
    assert counts(world) == (0, 1)
    assert world.run(restore(Offer.key("o"))) == offer
    assert counts(world) == (0, 1)
    world.run(delete(Offer.key("o")))
    world.run(erase(Offer.key("o")))
    assert counts(world) == (0, 0)
    world.run(create(offer))
    world.run(erase(Offer.key("o")))
    assert counts(world) == (0, 0)
    assert world.run(verify(SYSTEM)) == []


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: add(Brand.key("X"), like_count=1),
            "like_count is kept by the number of BrandLike",
        ),
        (lambda: update(Brand.key("X"), like_count=5), "and by nobody else"),
        (lambda: update(Brand(brand="X"), offer_count=Add(1)), "by the number of Offer"),
        (lambda: create(Brand(brand="Z", like_count=5)), "and by nobody else"),
        (lambda: put(Brand(brand="X")), "may write over one of which nothing is known"),
        (lambda: replace(Brand(brand="X")), "may write over one of which nothing is known"),
        (lambda: put(like("al")), "may write over one of which nothing is known"),
        (lambda: update(Offer.key("o"), upsert=True, maker="X"), "an upsert does not know"),
    ],
)
def test_what_would_break_it_is_refused(
    world: World, make: Callable[[], Op[Any]], words: str
) -> None:
    with pytest.raises(DesignError) as caught:
        world.run(make())
    assert words in str(caught.value)


def test_what_has_a_count_may_change_otherwise(world: World) -> None:
    world.run(create(like("al")))
    told = world.run(update(Brand.key("X"), title="Ex"))
    assert (told.title, told.like_count, told.version) == ("Ex", 1, 3)
    world.run(delete(Brand.key("Y")))
    assert len(world.run(scan_all(Brand))) == 1


# Declarations

SHELVES = Table("Shelves", "PK", indexes=[global_index("ByCount", "rank")])


class Shelf(Entity, table=SHELVES):
    keys = Keys(main="SHELF#{shelf}", ByCount="{books:06}#{colour}")
    shelf: str
    books: int = 0
    colour: str = ""
    pages: int
    name: str = ""


class Book(Entity, table=SHELVES, deleted="deleted_at"):
    keys = Keys(main="BOOK#{title}")
    title: str
    place: str | None = None
    deleted_at: datetime | None = None


@pytest.mark.parametrize(
    ("field", "by", "words"),
    [
        ("leaves", {"shelf": "place"}, "Shelf has no field 'leaves'"),
        ("name", {"shelf": "place"}, "Shelf.name is a count; declare it as `name: int = 0`"),
        ("pages", {"shelf": "place"}, "Shelf.pages is a count; declare it as `pages: int = 0`"),
        ("books", {"shelf": "place"}, "for which books, colour would have to be read first"),
    ],
)
def test_a_count_that_cannot_work_is_refused(field: str, by: dict[str, str], words: str) -> None:
    with pytest.raises(DesignError) as caught:
        reference_count(Book, Shelf, field, by=by)
    assert words in str(caught.value)


def test_it_must_be_clear_who_refers_to_whom() -> None:
    with pytest.raises(DesignError, match=r"Book has no field 'brand' to tell Brand\.brand; say"):
        reference_count(Book, Brand, "like_count")


# Any sequence

NAMES = st.sampled_from(["a", "b"])
MAKERS = st.sampled_from([None, "X", "Y"])
Writing = Callable[[World], Any]


def writer_of(make: Callable[..., Op[Any]]) -> Callable[..., Writing]:
    return lambda *given: lambda world: world.run(make(*given))


writings = st.one_of(
    st.builds(
        writer_of(lambda name, brand: create(like(name, brand))), NAMES, st.sampled_from("XY")
    ),
    st.builds(
        writer_of(lambda name, brand: delete(like(name, brand).own_key())),
        NAMES,
        st.sampled_from("XY"),
    ),
    st.builds(
        writer_of(lambda name, maker: create(Offer(offer_id=name, maker=maker))), NAMES, MAKERS
    ),
    st.builds(writer_of(lambda name, maker: update(Offer.key(name), maker=maker)), NAMES, MAKERS),
    NAMES.map(writer_of(lambda name: delete(Offer.key(name)))),
    NAMES.map(writer_of(lambda name: restore(Offer.key(name)))),
    NAMES.map(writer_of(lambda name: erase(Offer.key(name)))),
)


@given(st.lists(writings, max_size=12))
def test_counts_are_right_after_any_sequence(steps: list[Writing]) -> None:
    with Engine.memory() as engine:
        world = World(engine, SHOP)
        world.run(transact(create(Brand(brand="X")), create(Brand(brand="Y"))))
        for step in steps:
            with suppress(ItemExists, ItemMissing):
                step(world)
        liked = Counter(brand_like.brand for brand_like in world.run(scan_all(BrandLike)))
        offered = Counter(offer.maker for offer in world.run(scan_all(Offer)))
        for brand in "XY":
            assert counts(world, brand) == (liked[brand], offered[brand])
        assert world.run(verify(SYSTEM)) == []
