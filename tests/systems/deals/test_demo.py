"""Demo data: true counts, the same each time, made one by one."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from itertools import islice
from random import Random

import pytest

from bigtime.model import UNTIL, Entity, Scale, load_many, verify
from bigtime.systems.deals import SYSTEM
from bigtime.systems.deals.brands import CATEGORIES, fetch_all_brands, fetch_brand, fetch_category
from bigtime.systems.deals.demo import DEMO, SIZES, entities
from bigtime.systems.deals.design import Deal, Message, User
from bigtime.systems.deals.featured import fetch_editors_choice
from bigtime.systems.deals.front_page import fetch_front_page
from bigtime.systems.deals.notifications import announce_deal
from bigtime.systems.deals.users import view_unread_messages
from tests.store.places import Place
from tests.systems.deals.scene import dump, react


def demo_entities(scale: Scale, seed: int = 1) -> list[Entity]:
    return list(DEMO.entities(scale, Random(seed)))


@pytest.fixture(scope="module")
def small() -> list[Entity]:
    return demo_entities(Scale.SMALL)


def test_its_counts_are_true(alone: Place, small: list[Entity]) -> None:
    alone.run(load_many(small))

    assert alone.run(verify(SYSTEM)) == []
    stored = [each for each in dump(alone) if each["Type"] != {"S": "BucketEntry"}]
    assert len(stored) == len(small) == DEMO.count(Scale.SMALL)
    brands = [alone.run(fetch_brand(name)) for name in alone.run(fetch_all_brands())]
    assert len(brands) == 60
    assert sum(brand.like_count for brand in brands) == 100
    assert sum(brand.watch_count for brand in brands) == 60


def test_a_site_on_it_has_something_on_every_page(alone: Place, small: list[Entity]) -> None:
    alone.run(load_many(small))
    alone.time.now = UNTIL

    front, deals = alone.run(fetch_front_page())

    assert len(deals) == 25 and len(front.featured_deals) == 8
    assert alone.run(fetch_editors_choice()).featured_deals
    for name in CATEGORIES:
        category, of_category = alone.run(fetch_category(name))
        assert 5 <= len(category.featured_deals) <= 10 and of_category
    usernames = [each.username for each in small if isinstance(each, User)]
    unread = [len(alone.run(view_unread_messages(username))) for username in usernames]
    assert sum(unread) > 20 and min(unread) == 0


def test_it_is_the_same_for_the_same_seed(small: list[Entity]) -> None:
    assert demo_entities(Scale.SMALL) == small
    assert demo_entities(Scale.SMALL, seed=2) != small


def test_it_can_end_at_any_moment() -> None:
    until = UNTIL + timedelta(days=400)
    newest = next(entities(Scale.SMALL, Random(1), until))
    assert isinstance(newest, Deal)
    assert timedelta(hours=2) <= until - newest.created_at < timedelta(hours=5)


def test_nobody_is_told_of_it_when_the_stream_is_read(alone: Place, small: list[Entity]) -> None:
    alone.time.now = UNTIL
    alone.run(load_many(small))
    before = dump(alone)
    react(alone, announce_deal)
    assert dump(alone) == before


def test_medium_is_as_much_as_it_says() -> None:
    kinds = Counter(type(entity).__name__ for entity in DEMO.entities(Scale.MEDIUM, Random(1)))
    assert kinds.total() == DEMO.count(Scale.MEDIUM)
    assert (kinds["Deal"], kinds["User"]) == (20_000, 2_000)


def test_large_is_made_one_by_one() -> None:
    first = list(islice(DEMO.entities(Scale.LARGE, Random(1)), 2_000))
    assert len({each.own_key().item["PK"]["S"] for each in first}) == 2_000
    assert (SIZES[Scale.LARGE].deals, SIZES[Scale.LARGE].users) == (1_000_000, 200_000)


def test_deals_cost_less_than_they_did_and_messages_tell_of_deals(small: list[Entity]) -> None:
    deals = {each.deal_id: each for each in small if isinstance(each, Deal)}
    for deal in deals.values():
        assert deal.list_price is not None and deal.price < deal.list_price
        assert deal.created_at == deal.deal_id.at
    for message in small:
        if isinstance(message, Message):
            assert deals[message.deal_id].title in message.subject
