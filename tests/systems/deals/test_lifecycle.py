"""Deals that end, are taken off, published again, and moved to another brand or category."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from bigtime.model import Conflict, all_of, get, setup, transact, verify
from bigtime.store import Store, consume, open_store
from bigtime.systems.deals import SYSTEM
from bigtime.systems.deals.brands import (
    create_brand,
    create_categories,
    fetch_all_brands,
    fetch_brand,
    fetch_category,
    follow_brand_name,
    update_brand,
)
from bigtime.systems.deals.deals import (
    FACTS,
    create_deal,
    facts_write,
    fetch_brand_deals,
    fetch_deal,
    fetch_deals,
    find_place,
    rewrite_deal,
    update_deal,
)
from bigtime.systems.deals.design import Deal, DealEnd, DealStatus
from bigtime.systems.deals.errors import DealUnpublished, EndPassed, EndRefused, OtherBrand
from bigtime.systems.deals.featured import follow_featured_deals, set_category_deals
from bigtime.systems.deals.front_page import fetch_front_page, keep_deals_cache
from bigtime.systems.deals.lifecycle import (
    expire_deals,
    publish_deal,
    unpublish_deal,
    unpublish_write,
)
from bigtime.wire import Response, Steps
from tests.store.places import START, Place
from tests.systems.deals.dying import AFTER
from tests.systems.deals.scene import LINK, TABLE, deal, load, open_site, post_deal, react

HOUR = timedelta(hours=1)
ROOT = Path(__file__).parents[3]


def ends(place: Place) -> list[DealEnd]:
    return place.run(all_of(DealEnd.within("main")))


def status(place: Place, found: Deal) -> DealStatus:
    stored = place.run(get(found.own_key(), missing=DealUnpublished))
    return stored.status


def test_a_deal_expires_once_when_its_end_has_come(place: Place) -> None:
    open_site(place)
    ending = post_deal(place, ends_at=START + HOUR)
    later = post_deal(place, ends_at=START + 3 * HOUR)
    post_deal(place)

    assert place.run(expire_deals()) == 0
    place.time.sleep(2 * 3600)
    assert [place.run(expire_deals()) for _ in range(2)] == [1, 0]

    assert (status(place, ending), status(place, later)) == ("expired", "active")
    assert [end.deal_id for end in ends(place)] == [later.deal_id]
    assert place.run(verify(SYSTEM)) == []
    assert place.run(fetch_deal(ending.deal_id)).is_listed
    assert len(place.run(fetch_brand_deals("Apple"))) == 3


def test_what_came_due_while_nothing_ran_expires_at_once(alone: Place) -> None:
    open_site(alone)
    for number in range(60):
        post_deal(alone, ends_at=START + (number + 1) * HOUR)
    alone.time.sleep(100 * 3600)
    before = len(alone.operations)
    assert alone.run(expire_deals()) == 60
    sent = Counter(alone.operations[before:])
    assert sent["Scan"] == 0 and sent["Query"] == 3
    assert ends(alone) == [] and alone.run(verify(SYSTEM)) == []
    before = len(alone.operations)
    alone.run(expire_deals())
    assert alone.operations[before:] == ["Query"]  # a round with nothing due


def test_an_end_that_was_moved_is_not_due(alone: Place) -> None:
    open_site(alone)
    moved = post_deal(alone, ends_at=START + HOUR)
    alone.run(update_deal(moved.deal_id, ends_at=START + 9 * HOUR))
    dropped = post_deal(alone, ends_at=START + HOUR)
    alone.run(rewrite_deal(dropped.deal_id, "A lamp", LINK, Decimal(5)))
    alone.time.sleep(2 * 3600)
    assert alone.run(expire_deals()) == 0
    assert alone.run(verify(SYSTEM)) == []


def test_a_later_end_lets_an_expired_deal_go_on_and_a_past_one_ends_it(alone: Place) -> None:
    open_site(alone)
    lamp = post_deal(alone, ends_at=START + HOUR)
    alone.time.sleep(2 * 3600)
    alone.run(expire_deals())
    assert alone.run(update_deal(lamp.deal_id, ends_at=START + 9 * HOUR)).status == "active"
    assert alone.run(update_deal(lamp.deal_id, ends_at=START)).status == "expired"
    assert alone.run(update_deal(lamp.deal_id, price=Decimal(3))).status == "expired"
    assert ends(alone) == [] and alone.run(verify(SYSTEM)) == []


def test_a_new_deal_does_not_end_in_the_past_and_an_end_has_a_zone(alone: Place) -> None:
    open_site(alone)
    with pytest.raises(EndPassed):
        post_deal(alone, ends_at=START - HOUR)
    with pytest.raises(EndRefused):
        post_deal(alone, ends_at=(START + HOUR).replace(tzinfo=None))
    assert ends(alone) == []


def test_a_deal_that_is_taken_off_is_in_no_list(place: Place) -> None:
    open_site(place)
    lamps = [post_deal(place, ends_at=START + HOUR) for _ in range(6)]
    place.run(set_category_deals("Home", [lamp.deal_id for lamp in lamps]))
    react(place, keep_deals_cache, follow_featured_deals)
    gone = lamps[0]

    assert place.run(unpublish_deal(gone.deal_id, why="A mistake")).unpublished_why == "A mistake"
    react(place, keep_deals_cache, follow_featured_deals)

    with pytest.raises(DealUnpublished):
        place.run(fetch_deal(gone.deal_id))
    assert place.run(fetch_deals([gone.deal_id])) == []
    assert place.run(fetch_deals([gone.deal_id], unpublished=True))[0].title == "A lamp"
    category, latest = place.run(fetch_category("Home"))
    _, front = place.run(fetch_front_page())
    for found in (category.featured_deals, latest, front, place.run(fetch_brand_deals("Apple"))):
        assert gone.deal_id not in [each.deal_id for each in found] and len(list(found)) == 5
    assert len(ends(place)) == 5 and place.run(verify(SYSTEM)) == []

    assert place.run(publish_deal(gone.deal_id)).unpublished_why is None
    react(place, keep_deals_cache, follow_featured_deals)
    _, front = place.run(fetch_front_page())
    assert gone.deal_id in [each.deal_id for each in front]
    assert len(place.run(fetch_brand_deals("Apple"))) == 6
    assert len(ends(place)) == 6 and place.run(verify(SYSTEM)) == []


def test_a_deal_that_ends_while_it_is_off_comes_back_expired(alone: Place) -> None:
    open_site(alone)
    lamp = post_deal(alone, ends_at=START + HOUR)
    alone.run(unpublish_deal(lamp.deal_id))
    alone.time.sleep(2 * 3600)
    assert alone.run(expire_deals()) == 0
    assert alone.run(publish_deal(lamp.deal_id)).status is DealStatus.EXPIRED


def test_what_was_seen_before_another_change_is_refused(alone: Place) -> None:
    open_site(alone)
    seen = post_deal(alone, ends_at=START + HOUR)
    alone.run(update_deal(seen.deal_id, ends_at=START + 2 * HOUR))
    with pytest.raises(Conflict):
        alone.run(unpublish_write(seen))


def move(seen: Deal, brand: str, category: str) -> Steps[None]:
    place = yield from find_place(brand, category)
    facts = {name: getattr(seen, name) for name in FACTS}
    yield from transact(facts_write(seen, {**facts, **place}, at=START))


def test_a_corrected_deal_changes_its_lists(place: Place) -> None:
    open_site(place)
    lamps = [post_deal(place) for _ in range(6)]
    place.run(set_category_deals("Home", [lamp.deal_id for lamp in lamps]))
    react(place, follow_featured_deals)

    place.run(move(lamps[0], "Sony", "Toys"))
    react(place, follow_featured_deals)

    assert [len(place.run(fetch_brand_deals(name))) for name in ("Apple", "Sony")] == [5, 1]
    home, in_home = place.run(fetch_category("Home"))
    toys, in_toys = place.run(fetch_category("Toys"))
    assert (len(in_home), len(in_toys)) == (5, 1)
    assert (len(home.featured_deals), len(toys.featured_deals)) == (5, 0)
    assert place.run(fetch_deal(lamps[0].deal_id)).brand_name == "Sony"
    assert place.run(verify(SYSTEM)) == []


def test_a_deal_from_before_there_were_ends_can_be_changed(alone: Place) -> None:
    open_site(alone)
    load(alone, [deal(START)])
    old = deal(START)
    alone.ask(
        "UpdateItem",
        TableName=TABLE,
        Key=old.own_key().item,
        UpdateExpression="REMOVE #s",
        ExpressionAttributeNames={"#s": "Status"},
    )
    found = alone.run(fetch_deal(old.deal_id))
    alone.run(move(found, "Sony", "Toys"))
    found = alone.run(fetch_deal(old.deal_id))
    assert found.status is DealStatus.ACTIVE and found.brand == "SONY"
    assert alone.run(update_deal(old.deal_id, ends_at=START + HOUR)).ends_at == START + HOUR
    assert alone.run(unpublish_deal(old.deal_id)).status is DealStatus.UNPUBLISHED


def test_a_brand_is_spelled_otherwise_and_its_deals_follow(place: Place) -> None:
    open_site(place)
    lamp = post_deal(place)
    with pytest.raises(OtherBrand):
        place.run(update_brand("Apple", name="Pear"))
    place.run(update_brand("apple", name="aPPle", description="Phones.", logo=LINK))
    react(place, follow_brand_name)
    brand = place.run(fetch_brand("Apple"))
    assert (brand.name, brand.description, brand.logo) == ("aPPle", "Phones.", LINK)
    assert place.run(fetch_all_brands()) == ["aPPle", "Sony"]
    assert place.run(fetch_deal(lamp.deal_id)).brand_name == "aPPle"
    react(place, follow_brand_name, name="again")
    assert place.run(verify(SYSTEM)) == []


@pytest.mark.proof
def test_killed_workers_expire_each_deal_once(tmp_path: Path) -> None:
    """Each is killed at a later request; what the stream tells is one change of each status."""
    file, count = tmp_path / "deals.db", 12
    with open_store(f"file:{file}") as store:
        store.clock = lambda: START
        ids = make_ending_deals(store, count)
    command = [sys.executable, "-m", "tests.systems.deals.dying", str(file), "16"]
    subprocess.run(command, cwd=ROOT, check=True)
    with open_store(f"file:{file}") as store:
        store.clock = lambda: AFTER
        store.run(expire_deals())
        assert store.run(verify(SYSTEM)) == []
        assert store.run(all_of(DealEnd.within("main"))) == []
        assert expiries(store) == dict.fromkeys(ids, 1)


def make_ending_deals(store: Store, count: int) -> list[str]:
    store.run(setup(SYSTEM))
    store.run(create_categories())
    store.run(create_brand("Apple"))
    made = [
        create_deal(f"Lamp {number}", LINK, Decimal(5), "Apple", "Home", ends_at=START + HOUR)
        for number in range(count)
    ]
    return [store.run(steps).deal_id for steps in made]


def expiries(store: Store) -> dict[str, int]:
    """How often each deal has become expired, as the stream tells it."""
    found: Counter[str] = Counter()

    def handle(record: Response) -> Steps[None]:
        images = (record["dynamodb"].get(name, {}) for name in ("OldImage", "NewImage"))
        before, after = (image.get("Status", {}).get("S") for image in images)
        if (before, after) == ("active", "expired"):
            found[record["dynamodb"]["NewImage"]["DealId"]["S"]] += 1
        return
        yield

    consume(store, TABLE, handle, name="proof").run_once()
    return dict(found)
