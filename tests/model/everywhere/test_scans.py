"""Scans: all items of an entity, in pages, in segments, and of an index."""

from __future__ import annotations

from collections.abc import Iterable

from bigtime.model import Page, Position, attr, delete, each_page, put, put_many, scan, scan_all
from bigtime.wire import Steps
from tests.model.designs import BIG_TIME_DEALS, NOON, PLACES, Brand, Message, Shop, User, ksuid
from tests.model.everywhere.scenario import everywhere


def brands(count: int) -> list[Brand]:
    return [Brand(brand=f"B{n:02}", like_count=n % 3) for n in range(count)]


def by_name(found: Iterable[Brand]) -> list[Brand]:
    """A scan has an order of its own, and not the same everywhere."""
    return sorted(found, key=lambda one: one.brand)


@everywhere(BIG_TIME_DEALS)
def test_a_scan_finds_every_item_of_its_entity_and_no_other() -> Steps[object]:
    yield from put_many([*brands(30), *(User(username=f"u{n}") for n in range(30))])
    assert by_name((yield from scan_all(Brand))) == brands(30)
    liked = yield from scan_all(Brand, filter=attr("like_count") > 1, consistent=True)
    assert by_name(liked) == [brand for brand in brands(30) if brand.like_count > 1]
    return len((yield from scan_all(User)))


@everywhere(BIG_TIME_DEALS)
def test_pages_of_a_scan_join_up() -> Steps[object]:
    yield from put_many([*brands(13), *(User(username=f"u{n}") for n in range(13))])
    for limit in (1, 4, 13, 20):
        found: list[Brand] = []
        position: Position | None = None
        while True:
            page = yield from scan(Brand, limit=limit, after=position)
            assert len(page) <= limit
            found += page
            position = page.position
            if position is None:
                break
        assert by_name(found) == brands(13)
    return by_name(found)


@everywhere(BIG_TIME_DEALS)
def test_segments_share_the_items_among_them() -> Steps[object]:
    yield from put_many(brands(40))
    for segments in (2, 4, 7):
        apart: list[Brand] = []
        for segment in range(segments):
            page = yield from scan(Brand, segment=segment, segments=segments)
            assert page.position is None
            apart += page
        assert by_name(apart) == brands(40)
        assert by_name((yield from scan_all(Brand, segments=segments))) == brands(40)
    return len(apart)


@everywhere(BIG_TIME_DEALS)
def test_each_page_is_handed_to_steps() -> Steps[object]:
    yield from put_many([User(username=f"u{n}") for n in range(25)])

    def tell(page: Page[User]) -> Steps[None]:
        yield from put_many(
            Message(username=each.username, message_id=ksuid(NOON, 1), subject="Hi")
            for each in page
        )

    assert (yield from each_page(User, tell, index="UserIndex", segments=3, limit=4)) == 25
    told = {message.username for message in (yield from scan_all(Message))}
    assert told == {f"u{n}" for n in range(25)}
    return sorted(told)


@everywhere(PLACES)
def test_what_was_deleted_softly_is_passed_over() -> Steps[object]:
    shops = [Shop(country="US", state="NE", city="Omaha", zip_code=f"{n}") for n in range(6)]
    for shop in shops:
        yield from put(shop)
    for shop in shops[::2]:
        yield from delete(shop.own_key())
    open_ones = sorted(shop.zip_code for shop in (yield from scan_all(Shop)))
    assert open_ones == ["1", "3", "5"]
    assert len((yield from scan_all(Shop, deleted=True))) == 6
    return open_ones
