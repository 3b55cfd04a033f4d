"""Deals by id, by brand and by category, wherever the store is."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from bigtime.model import CursorError, Cursors, Position, verify
from bigtime.systems.catalog import SYSTEM
from bigtime.systems.catalog.deals import (
    CategoryDeal,
    change_deal_status,
    create_deal,
    expire_deal,
    get_deal_by_id,
    get_deals_by_brand,
    get_deals_by_category,
    get_recent_deals_by_brand,
    put_deal,
    update_deal,
)
from bigtime.systems.catalog.design import DealStatus
from bigtime.systems.catalog.errors import DealExists, DealMoved, NothingToChange, UnknownDeal
from tests.store.places import Place
from tests.systems.catalog.samples import (
    ASUS,
    SONY,
    TEN,
    all_items,
    deal,
    join_lists,
    minutes,
    pages,
    stored_items,
)


def of_brand(place: Place, brand_id: str = SONY) -> list[str]:
    return [each.deal_id for each in place.run(get_deals_by_brand(brand_id))]


def of_category(place: Place, category_id: str = "electronics") -> list[str]:
    return [each.deal_id for each in place.run(get_deals_by_category(category_id))]


def test_a_deal_comes_back_as_it_was_created(place: Place) -> None:
    made = place.run(create_deal(deal()))

    assert made == deal()
    assert place.run(get_deal_by_id("deal-12345")) == deal()
    assert place.run(get_deal_by_id("deal-12345", consistent=False)) == deal()


def test_a_deal_is_stored_as_the_schema_has_it(alone: Place) -> None:
    alone.run(create_deal(deal()))

    (item,) = stored_items(alone, "Deals")
    assert item["price"] == {"N": "149.99"}
    assert item["status"] == {"S": "active"}
    assert item["created_at"] == item["posted_at"] == {"S": "2024-01-15T10:00:00Z"}


def test_a_deal_is_created_once_and_put_again(place: Place) -> None:
    place.run(create_deal(deal()))

    with pytest.raises(DealExists):
        place.run(create_deal(deal(title="Another")))
    assert place.run(get_deal_by_id("deal-12345")).title == deal().title
    place.run(put_deal(deal(title="Another", brand_id=ASUS)))
    assert place.run(get_deal_by_id("deal-12345")).title == "Another"
    assert (of_brand(place), of_brand(place, ASUS)) == ([], ["deal-12345"])


def test_a_deal_by_id_is_read_consistently_unless_told_otherwise(alone: Place) -> None:
    """D6: only the read that may be eventual can come from a cache."""
    alone.run(create_deal(deal()))
    alone.exchanges.clear()

    alone.run(get_deal_by_id("deal-12345"))
    alone.run(get_deal_by_id("deal-12345", consistent=False))

    asked = [exchange.request.params.get("ConsistentRead", False) for exchange in alone.exchanges]
    assert asked == [True, False]


def test_an_unknown_deal_is_an_error_and_no_update_makes_it(place: Place) -> None:
    for steps in (
        get_deal_by_id("deal-0"),
        update_deal("deal-0", title="Ghost"),
        expire_deal("deal-0"),
        change_deal_status("deal-0", DealStatus.FEATURED),
    ):
        with pytest.raises(UnknownDeal):
            place.run(steps)
    assert stored_items(place, "Deals") == []


def test_deals_of_a_brand_and_a_category_come_newest_first(place: Place) -> None:
    for number in (2, 1, 3):
        place.run(create_deal(deal(f"deal-{number}", posted_at=minutes(number))))
    place.run(create_deal(deal("deal-4", brand_id=ASUS, category_id="computers")))

    assert of_brand(place) == ["deal-3", "deal-2", "deal-1"]
    assert of_category(place) == ["deal-3", "deal-2", "deal-1"]
    assert (of_brand(place, ASUS), of_category(place, "computers")) == (["deal-4"], ["deal-4"])
    oldest = place.run(get_deals_by_brand(SONY, ascending=True, limit=1))
    assert [each.deal_id for each in oldest] == ["deal-1"]
    assert place.run(get_deals_by_brand("brand-nobody")).items == []


def test_the_index_of_a_category_tells_what_it_projects(alone: Place) -> None:
    """D15: a part of an item is not the entity."""
    alone.run(create_deal(deal()))

    assert alone.run(get_deals_by_category("electronics")).items == [
        CategoryDeal(
            deal_id="deal-12345",
            category_id="electronics",
            posted_at=TEN,
            title=deal().title,
            price=Decimal("149.99"),
            brand_name="Sony",
        )
    ]


def test_recent_deals_begin_with_the_second_that_was_asked_for(place: Place) -> None:
    """D9: `>=`. A time between two seconds begins with the later one."""
    for number in range(4):
        place.run(create_deal(deal(f"deal-{number}", posted_at=minutes(number))))

    def since(moment: datetime, *, ascending: bool = False) -> list[str]:
        page = place.run(get_recent_deals_by_brand(SONY, moment, ascending=ascending))
        return [each.deal_id for each in page]

    assert since(minutes(2)) == ["deal-3", "deal-2"]
    assert since(minutes(2), ascending=True) == ["deal-2", "deal-3"]
    assert since(minutes(2) + timedelta(microseconds=1)) == ["deal-3"]
    assert since(minutes(4)) == []


def test_only_listed_deals_are_browsed(place: Place) -> None:
    """D5: what is stored of a deal decides; the deal itself stays."""
    place.run(create_deal(deal("deal-1")))
    place.run(create_deal(deal("deal-2", status="featured", posted_at=minutes(1))))
    place.run(create_deal(deal("deal-3", status="expired", posted_at=minutes(2))))
    assert of_brand(place) == of_category(place) == ["deal-2", "deal-1"]

    place.run(expire_deal("deal-2"))
    assert of_brand(place) == of_category(place) == ["deal-1"]
    items = {item["deal_id"]["S"]: item for item in stored_items(place, "Deals")}
    assert [name for name, item in items.items() if "created_at" in item] == ["deal-1"]
    assert items["deal-2"]["posted_at"] == {"S": "2024-01-15T10:01:00Z"}
    assert items["deal-2"]["brand_id"] == {"S": SONY}

    place.run(change_deal_status("deal-3", DealStatus.ACTIVE))
    assert of_brand(place) == of_category(place) == ["deal-3", "deal-1"]
    assert place.run(verify(SYSTEM)) == []


def test_expiring_twice_is_fine(alone: Place) -> None:
    alone.run(create_deal(deal()))

    assert alone.run(expire_deal("deal-12345")).status is DealStatus.EXPIRED
    assert alone.run(expire_deal("deal-12345")).status is DealStatus.EXPIRED
    assert of_brand(alone) == []


def test_a_status_moves_only_from_the_one_that_was_seen(place: Place) -> None:
    place.run(create_deal(deal()))
    place.run(expire_deal("deal-12345"))

    with pytest.raises(DealMoved):
        place.run(change_deal_status("deal-12345", DealStatus.FEATURED, seen=DealStatus.ACTIVE))
    assert place.run(get_deal_by_id("deal-12345")).status is DealStatus.EXPIRED
    place.run(change_deal_status("deal-12345", DealStatus.ACTIVE, seen=DealStatus.EXPIRED))
    assert of_brand(place) == ["deal-12345"]


def test_an_update_reaches_the_deal_and_its_indexes(place: Place) -> None:
    place.run(create_deal(deal()))

    place.run(update_deal("deal-12345", title="Now in blue", price=Decimal("99.5")))

    (of_sony,) = place.run(get_deals_by_brand(SONY))
    assert (of_sony.title, of_sony.price) == ("Now in blue", Decimal("99.5"))
    (of_electronics,) = place.run(get_deals_by_category("electronics"))
    assert (of_electronics.title, of_electronics.price) == ("Now in blue", Decimal("99.5"))
    assert of_sony.description == deal().description


def test_an_update_of_nothing_is_refused(alone: Place) -> None:
    alone.run(create_deal(deal()))
    before = all_items(alone)

    with pytest.raises(NothingToChange):
        alone.run(update_deal("deal-12345"))
    assert all_items(alone) == before


def test_pages_join_up_to_the_whole(place: Place) -> None:
    """Several deals of one second, too: the position tells them apart."""
    for number in range(11):
        place.run(create_deal(deal(f"deal-{number:02}", posted_at=minutes(number // 4))))

    whole = place.run(get_deals_by_brand(SONY, limit=100))
    paged = [*pages(place, lambda after: get_deals_by_brand(SONY, limit=3, after=after))]
    assert join_lists(paged) == whole.items
    assert [len(page) for page in paged][:3] == [3, 3, 3]
    cards = place.run(get_deals_by_category("electronics", limit=100))
    paged_cards = pages(
        place, lambda after: get_deals_by_category("electronics", limit=4, after=after)
    )
    assert join_lists(paged_cards) == cards.items
    assert len({card.deal_id for card in cards}) == 11


def test_a_cursor_that_was_touched_is_refused(place: Place) -> None:
    """Deciding test 11 (T23)."""
    for number in range(3):
        place.run(create_deal(deal(f"deal-{number}", posted_at=minutes(number))))
    cursors = Cursors(["sixteen bytes or more of secret"])
    page = place.run(get_deals_by_brand(SONY, limit=1))
    text = cursors.write(page.position)
    assert text is not None
    before = all_items(place)

    for spot in range(0, len(text), 7):
        other = "A" if text[spot] != "A" else "B"
        with pytest.raises(CursorError) as caught:
            cursors.read(text[:spot] + other + text[spot + 1 :])
        assert caught.value.code == "cursor-error"
    following = place.run(get_deals_by_brand(SONY, limit=1, after=cursors.read(text)))
    assert [each.deal_id for each in following] == ["deal-1"]
    assert all_items(place) == before


def test_a_position_of_one_list_does_not_continue_another(alone: Place) -> None:
    for number in range(3):
        alone.run(create_deal(deal(f"deal-{number}", posted_at=minutes(number))))
    position: Position | None = alone.run(get_deals_by_brand(SONY, limit=1)).position

    for steps in (
        get_deals_by_brand(ASUS, after=position),
        get_deals_by_brand(SONY, ascending=True, after=position),
        get_recent_deals_by_brand(SONY, TEN, after=position),
        get_deals_by_category("electronics", after=position),
    ):
        with pytest.raises(CursorError):
            alone.run(steps)
