"""What the catalogue learns from deals: the same things under the same ids, and its own kept."""

from __future__ import annotations

from decimal import Decimal
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bigtime.model import delete, get, load_many, scan_all, update
from bigtime.site.catalog_projection import project_deals
from bigtime.store import consume
from bigtime.systems.catalog import design as catalog
from bigtime.systems.catalog.deals import (
    change_deal_status,
    get_brand_by_id,
    get_deal_by_id,
    get_deals_by_brand,
    update_brand,
)
from bigtime.systems.catalog.errors import UnknownBrand, UnknownDeal, UnknownUser
from bigtime.systems.catalog.users import get_user_by_id, update_user
from bigtime.systems.deals.brands import create_brand
from bigtime.systems.deals.deals import create_deal, update_deal
from bigtime.systems.deals.design import BIG_TIME_DEALS, Brand, Deal, User
from bigtime.systems.deals.interests import like_brand, watch_brand
from bigtime.systems.deals.users import create_user
from bigtime.systems.deals.users import update_user as update_deals_user
from bigtime.wire import Response, Steps
from tests.store.places import START
from tests.web.cart.scene import Scene, deal
from tests.web.cart.scene import scene as opened

LONGEST = "@".join(("l" * 64, ".".join(("d" * 63, "d" * 63, "d" * 53, "example"))))
COPIES = (catalog.Deal, catalog.Brand, catalog.User)


def carry_over(scene: Scene, name: str = "projection") -> list[Response]:
    """Lets the reaction have what the stream tells under this name; gives that."""
    told: list[Response] = []

    def handle(record: Response) -> Steps[None]:
        told.append(record)
        yield from project_deals.handle(record)

    scene.wait(consume(scene.store, BIG_TIME_DEALS.name, handle, name=name).run_once())
    return told


def copies(scene: Scene) -> list[Any]:
    found = [each for kind in COPIES for each in scene.run(scan_all(kind))]
    return sorted(found, key=repr)


def test_a_deal_a_brand_and_a_user_are_those_of_the_catalogue_too(scene: Scene) -> None:
    scene.run(create_brand("Sony", logo="https://sony.example/" + "x" * 900))
    made = scene.run(
        create_deal("A lamp", "https://x.example", Decimal("9.90"), "Sony", "Home", description="L")
    )
    scene.run(create_user("liz", name="Liz", email=LONGEST))
    carry_over(scene)
    deal = scene.run(get_deal_by_id(made.deal_id))
    assert deal == catalog.Deal(
        deal_id=made.deal_id,
        title="A lamp",
        description="L",
        price=Decimal("9.90"),
        brand_id="SONY",
        brand_name="Sony",
        category_id="HOME",
        category_name="Home",
        posted_at=made.created_at,
        status=catalog.DealStatus.ACTIVE,
    )
    assert [each.deal_id for each in scene.run(get_deals_by_brand("SONY"))] == [made.deal_id]
    brand = scene.run(get_brand_by_id("SONY"))
    assert (brand.brand_name, brand.logo_url) == ("Sony", "https://sony.example/" + "x" * 900)
    user = scene.run(get_user_by_id("liz"))
    assert (user.username, user.display_name) == ("liz", "Liz")
    assert user.email == LONGEST


def test_what_changes_is_carried_over_and_the_catalogue_s_own_stays(scene: Scene) -> None:
    scene.post(deal(0))
    scene.run(create_user("liz", email="liz@example.com"))
    carry_over(scene)
    scene.run(change_deal_status(deal(0).deal_id, catalog.DealStatus.FEATURED))
    scene.run(update_brand("APPLE", description="Since 1976"))
    scene.run(update_user("liz", last_login=START))
    scene.run(update_deal(deal(0).deal_id, price=Decimal("5.00"), title="A lamp, again"))
    scene.run(update(Brand.key("APPLE"), name="Apple Inc."))
    scene.run(update_deals_user("liz", email="elizabeth@example.com"))
    carry_over(scene)
    found = scene.run(get_deal_by_id(deal(0).deal_id))
    assert (found.title, found.price) == ("A lamp, again", Decimal("5.00"))
    assert found.status is catalog.DealStatus.FEATURED
    brand = scene.run(get_brand_by_id("APPLE"))
    assert (brand.brand_name, brand.description) == ("Apple Inc.", "Since 1976")
    user = scene.run(get_user_by_id("liz"))
    assert (user.email, user.last_login) == ("elizabeth@example.com", START)


def test_a_user_without_an_e_mail_address_is_none_of_the_catalogue(scene: Scene) -> None:
    scene.run(create_user("chad"))
    carry_over(scene)
    with pytest.raises(UnknownUser):
        scene.run(get_user_by_id("chad"))
    scene.run(update_deals_user("chad", email="chad@example.com"))
    carry_over(scene)
    assert scene.run(get_user_by_id("chad")).email == "chad@example.com"


def test_likes_and_watches_of_a_brand_write_nothing(scene: Scene) -> None:
    scene.run(create_user("liz", email="liz@example.com"))
    carry_over(scene)
    scene.run(like_brand("APPLE", "liz"))
    scene.run(watch_brand("APPLE", "liz"))
    scene.exchanges.clear()
    assert carry_over(scene)
    tables = {exchange.request.params.get("TableName") for exchange in scene.exchanges}
    assert not tables & {"Brands", "Deals", "Users", "UserWatches"}


def test_what_is_gone_is_not_on_any_more(scene: Scene) -> None:
    scene.post(deal(0))
    scene.run(create_user("liz", email="liz@example.com"))
    carry_over(scene)
    scene.run(delete(Deal.key(deal(0).deal_id)))
    scene.run(delete(Brand.key("APPLE")))
    scene.run(delete(User.key("liz")))
    carry_over(scene)
    assert scene.run(get_deal_by_id(deal(0).deal_id)).status is catalog.DealStatus.EXPIRED
    with pytest.raises(UnknownBrand):
        scene.run(get_brand_by_id("APPLE"))
    with pytest.raises(UnknownUser):
        scene.run(get_user_by_id("liz"))


def test_what_is_gone_before_it_was_carried_over_leaves_nothing(scene: Scene) -> None:
    scene.post(deal(0))
    scene.run(delete(Deal.key(deal(0).deal_id)))
    carry_over(scene)
    with pytest.raises(UnknownDeal):
        scene.run(get_deal_by_id(deal(0).deal_id))


def test_a_stream_told_again_changes_nothing_not_even_for_a_moment(scene: Scene) -> None:
    scene.post(deal(0), deal(1))
    scene.run(create_user("liz", email="liz@example.com"))
    for price in ("18.00", "17.00", "16.00"):
        scene.run(update_deal(deal(0).deal_id, price=Decimal(price)))
    scene.run(like_brand("APPLE", "liz"))
    carry_over(scene)
    before = copies(scene)
    prices: set[Decimal] = set()

    def handle(record: Response) -> Steps[None]:
        yield from project_deals.handle(record)
        there = yield from get(catalog.Deal.key(deal(0).deal_id), consistent=True)
        prices.add(there.price if there else Decimal(0))

    scene.wait(consume(scene.store, BIG_TIME_DEALS.name, handle, name="again").run_once())
    assert copies(scene) == before
    assert prices == {Decimal("16.00")}


DEEDS = st.lists(
    st.tuples(
        st.sampled_from(["price", "title", "brand", "user", "carry over"]), st.integers(0, 3)
    ),
    max_size=12,
)


@settings(max_examples=25)
@given(DEEDS, st.randoms(use_true_random=False))
def test_in_any_order_and_however_often_the_copies_are_what_there_is(
    deeds: list[tuple[str, int]], random: Random
) -> None:
    with opened() as scene:
        scene.post(*(deal(number) for number in range(4)))
        scene.run(load_many([User(username=f"user{n}", name="x", email="x@y.z") for n in range(4)]))
        for what, number in deeds:
            do(scene, what, number)
        told = carry_over(scene, "all")
        random.shuffle(told)
        for record in told[: random.randrange(len(told) + 1)]:
            scene.run(project_deals.handle(record))
        for number in range(4):
            original = scene.run(get(Deal.key(deal(number).deal_id)))
            copy = scene.run(get_deal_by_id(deal(number).deal_id))
            assert original is not None
            assert (copy.title, copy.price) == (original.title, original.price)
            user = scene.run(get(User.key(f"user{number}")))
            assert user is not None
            assert scene.run(get_user_by_id(f"user{number}")).display_name == user.name


def do(scene: Scene, what: str, number: int) -> None:
    match what:
        case "price":
            price = scene.run(get_price(number)) - Decimal("0.50")
            scene.run(update_deal(deal(number).deal_id, price=price))
        case "title":
            scene.run(update_deal(deal(number).deal_id, title=f"Title {len(scene.exchanges)}"))
        case "brand":
            scene.run(update(Brand.key("APPLE"), name=f"Apple {len(scene.exchanges)}"))
        case "user":
            scene.run(update_deals_user(f"user{number}", name=f"Name {len(scene.exchanges)}"))
        case "carry over":
            carry_over(scene)


def get_price(number: int) -> Steps[Decimal]:
    there = yield from get(Deal.key(deal(number).deal_id), missing=UnknownDeal)
    return there.price
