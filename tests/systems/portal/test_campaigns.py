"""Campaigns: codes, dates, discounts, and the offer that they make of a product."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.model import Page, verify
from bigtime.systems.portal import SYSTEM
from bigtime.systems.portal.campaigns import (
    UNAVAILABLE,
    Offer,
    create_campaign,
    discounted_price,
    get_campaign,
    list_campaigns,
    list_campaigns_by_creation,
    list_campaigns_by_product,
    list_deleted_campaigns,
    list_expired_campaigns,
    list_next_and_last_campaigns,
    list_upcoming_campaigns,
    restore_campaign,
    soft_delete_campaign,
    update_campaign,
)
from bigtime.systems.portal.errors import (
    CampaignDeleted,
    CampaignExists,
    DatesReversed,
    DiscountRefused,
    DiscountTooHigh,
    ImmutableField,
    ProductUnavailable,
    UnknownCampaign,
    UnknownProduct,
)
from bigtime.systems.portal.products import soft_delete_product, update_product
from bigtime.systems.portal.values import code_hint
from bigtime.systems.portal.verification import verify_audit
from bigtime.wire import Steps
from tests.store.places import Place
from tests.systems.portal.scenes import (
    ADMIN,
    NO_PRODUCT,
    campaign_fields,
    contents,
    new_campaign,
    new_product,
    stored_item,
)

NOVEMBER = {"from_date": date(2026, 11, 1), "to_date": date(2026, 11, 30)}
OCTOBER = {"from_date": date(2026, 10, 1), "to_date": date(2026, 10, 31)}
DECEMBER = {"from_date": date(2026, 12, 1), "to_date": date(2026, 12, 31)}


def test_a_campaign_is_found_by_its_code_with_prices(place: Place) -> None:
    product = new_product(place)
    made = new_campaign(place, product.id)

    offer = place.run(get_campaign("summer2026"))

    assert offer.campaign == made
    assert (offer.product_name, offer.is_valid) == (product.name, True)
    assert (offer.original_price, offer.discounted_price) == (Decimal("299.99"), Decimal("239.99"))
    item = stored_item(place, "campaigns", "CAMPAIGN#SUMMER2026")
    assert item is not None
    assert (item["fromDate"], item["active"]) == ({"S": "2026-11-01"}, {"S": "true"})
    assert not {"isValid", "discountedPrice", "productName", "originalPrice"} & item.keys()
    assert place.run(verify(SYSTEM)) == []
    assert place.run(verify_audit()) == []


def test_both_reads_of_a_campaign_are_strongly_consistent(alone: Place) -> None:
    new_campaign(alone, new_product(alone).id)
    alone.exchanges.clear()
    alone.run(get_campaign("SUMMER2026"))
    assert [exchange.request.params.get("ConsistentRead") for exchange in alone.exchanges] == [
        True,
        True,
    ]


def test_a_new_price_shows_at_once(alone: Place) -> None:
    product = new_product(alone)
    new_campaign(alone, product.id)
    alone.run(update_product(product.id, {"price": "100.00"}, by=ADMIN))
    assert alone.run(get_campaign("SUMMER2026")).discounted_price == Decimal("80.00")


def test_a_campaign_outlives_its_product_without_prices(place: Place) -> None:
    product = new_product(place)
    new_campaign(place, product.id)
    place.run(soft_delete_product(product.id, by=ADMIN))

    shown = [
        place.run(get_campaign("SUMMER2026")),
        place.run(list_campaigns()).items[0],
        place.run(list_campaigns_by_product(product.id)).items[0],
    ]

    for offer in shown:
        assert offer.product_name == UNAVAILABLE == "[Product Unavailable]"
        assert (offer.original_price, offer.discounted_price) == (None, None)
        assert offer.is_valid, "whether it is valid goes by date and activity alone"


@pytest.mark.parametrize(
    ("day", "valid"),
    [("2026-10-31", False), ("2026-11-01", True), ("2026-11-30", True), ("2026-12-01", False)],
)
def test_a_campaign_is_valid_on_its_first_and_its_last_day(
    alone: Place, day: str, valid: bool
) -> None:
    new_campaign(alone, new_product(alone).id)
    alone.time.now = datetime.fromisoformat(f"{day}T12:00:00+00:00")
    assert alone.run(get_campaign("SUMMER2026")).is_valid is valid


def test_today_is_the_day_of_the_zone_that_is_set(alone: Place) -> None:
    new_campaign(alone, new_product(alone).id, **DECEMBER)
    alone.time.now = datetime(2026, 11, 30, 23, 0, tzinfo=UTC)
    assert not alone.run(get_campaign("SUMMER2026")).is_valid
    home = ZoneInfo("Africa/Johannesburg")
    assert alone.run(get_campaign("SUMMER2026", zone=home)).is_valid
    assert len(alone.run(list_campaigns(valid_only=True, zone=home))) == 1
    assert len(alone.run(list_campaigns(valid_only=True))) == 0


def test_lists_by_time(place: Place) -> None:
    product = new_product(place)
    other = new_product(place, name="Other")
    new_campaign(place, product.id, code="OLD", **OCTOBER)
    new_campaign(place, product.id, code="NOW", **NOVEMBER)
    new_campaign(place, other.id, code="LONG", from_date="2026-09-01", to_date="2027-01-31")
    new_campaign(place, product.id, code="NEXT", **DECEMBER)
    new_campaign(place, product.id, code="LATER", from_date="2027-01-01", to_date="2027-01-31")
    new_campaign(place, product.id, code="GONE", **NOVEMBER)
    place.run(soft_delete_campaign("GONE", by=ADMIN))

    def codes(steps: Steps[Page[Offer]]) -> list[str]:
        return [offer.campaign.code for offer in place.run(steps)]

    assert codes(list_campaigns()) == ["LATER", "NEXT", "NOW", "OLD", "LONG"]
    assert codes(list_campaigns(valid_only=True)) == ["NOW", "LONG"]
    assert codes(list_upcoming_campaigns()) == ["NEXT", "LATER"]
    assert codes(list_expired_campaigns()) == ["OLD"]
    assert codes(list_deleted_campaigns()) == ["GONE"]
    coming, over = place.run(list_next_and_last_campaigns(limit=1))
    assert [each.campaign.code for each in (*coming, *over)] == ["NEXT", "OLD"]
    both = codes(list_campaigns(include_inactive=True))
    assert both[:2] == ["LATER", "NEXT"] and sorted(both[2:4]) == ["GONE", "NOW"]
    assert sorted(codes(list_campaigns_by_creation())) == ["LATER", "LONG", "NEXT", "NOW", "OLD"]
    assert len(codes(list_campaigns_by_creation(include_inactive=True))) == 6
    assert codes(list_campaigns_by_product(product.id)) == ["LATER", "NEXT", "NOW", "OLD"]
    assert codes(list_campaigns_by_product(product.id, valid_only=True)) == ["NOW"]
    assert "GONE" in codes(list_campaigns_by_product(product.id, include_inactive=True))
    assert codes(list_campaigns_by_product(NO_PRODUCT)) == []


def test_a_page_of_offers_reads_each_product_once(alone: Place) -> None:
    products = [new_product(alone, name=f"Plan {number}") for number in range(2)]
    for number in range(6):
        new_campaign(alone, products[number % 2].id, code=f"CODE_{number}")
    alone.exchanges.clear()

    offers = alone.run(list_campaigns())

    assert len(offers) == 6
    assert alone.operations == ["Query", "BatchGetItem"]
    asked = alone.exchanges[1].request.params["RequestItems"]["products"]["Keys"]
    assert len(asked) == 2


def test_next_and_last_campaigns_read_each_product_once(alone: Place) -> None:
    product = new_product(alone)
    for number, dates in enumerate((OCTOBER, NOVEMBER, DECEMBER, DECEMBER)):
        new_campaign(alone, product.id, code=f"CODE_{number}", **dates)
    alone.exchanges.clear()

    coming, over = alone.run(list_next_and_last_campaigns(limit=3))

    assert [each.product_name for each in (*coming, *over)] == [product.name] * 3
    assert alone.operations == ["Query", "Query", "BatchGetItem"]
    asked = alone.exchanges[2].request.params["RequestItems"]["products"]["Keys"]
    assert len(asked) == 1


def test_a_code_is_one_campaigns_even_a_deleted_ones(place: Place) -> None:
    product = new_product(place)
    new_campaign(place, product.id)
    with pytest.raises(CampaignExists):
        new_campaign(place, product.id, description="another")
    place.run(soft_delete_campaign("SUMMER2026", by=ADMIN))
    with pytest.raises(CampaignExists):
        new_campaign(place, product.id)
    with pytest.raises(UnknownCampaign):
        place.run(get_campaign("SUMMER2026"))
    assert not place.run(get_campaign("SUMMER2026", include_inactive=True)).is_valid

    back = place.run(restore_campaign("summer2026", by=ADMIN))

    assert back.active
    assert place.run(get_campaign("SUMMER2026")).is_valid
    assert place.run(verify_audit()) == []


def test_a_campaign_needs_a_product_that_is_sold(place: Place) -> None:
    product = new_product(place)
    place.run(soft_delete_product(product.id, by=ADMIN))
    before = contents(place)
    with pytest.raises(UnknownProduct):
        new_campaign(place, NO_PRODUCT)
    with pytest.raises(ProductUnavailable):
        new_campaign(place, product.id)
    assert contents(place) == before


def test_the_product_is_checked_in_the_same_transaction(alone: Place) -> None:
    product = new_product(alone)
    alone.exchanges.clear()
    new_campaign(alone, product.id)
    (made,) = (
        exchange
        for exchange in alone.exchanges
        if exchange.request.operation == "TransactWriteItems"
    )
    actions = [
        next(iter(transact_item.items())) for transact_item in made.request.params["TransactItems"]
    ]
    tables = [(name, given["TableName"]) for name, given in actions]
    assert ("ConditionCheck", "products") in tables
    assert ("Put", "audit") in tables


def test_what_may_change_changes(place: Place) -> None:
    product = new_product(place)
    new_campaign(place, product.id)
    changes = {
        "description": "Longer and better",
        "discount_percentage": Decimal("25.50"),
        "from_date": date(2026, 11, 10),
        "to_date": date(2027, 1, 31),
        "terms_conditions_link": "https://example.com/terms/new",
    }
    changed = place.run(update_campaign("SUMMER2026", changes, by=ADMIN))
    assert {name: getattr(changed, name) for name in changes} == changes
    assert place.run(get_campaign("SUMMER2026")).campaign == changed
    by_product = place.run(list_campaigns_by_product(product.id)).items
    assert [each.campaign for each in by_product] == [changed]
    assert place.run(verify(SYSTEM)) == []
    assert place.run(verify_audit()) == []


def test_code_and_product_never_change(alone: Place) -> None:
    new_campaign(alone, new_product(alone).id)
    before = contents(alone)
    for changes in ({"code": "OTHER2026"}, {"product_id": NO_PRODUCT}):
        with pytest.raises(ImmutableField):
            alone.run(update_campaign("SUMMER2026", changes, by=ADMIN))
    assert contents(alone) == before


def test_dates_are_judged_as_the_pair_that_they_become(place: Place) -> None:
    new_campaign(place, new_product(place).id)
    before = contents(place)
    for changes in (
        {"to_date": date(2026, 10, 31)},
        {"from_date": date(2026, 12, 1)},
        {"from_date": date(2027, 2, 1), "to_date": date(2027, 1, 1)},
    ):
        with pytest.raises(DatesReversed):
            place.run(update_campaign("SUMMER2026", changes, by=ADMIN))
    assert contents(place) == before
    moved = {"from_date": date(2027, 2, 1), "to_date": date(2027, 2, 1)}
    assert place.run(update_campaign("SUMMER2026", moved, by=ADMIN)).to_date == date(2027, 2, 1)


def test_a_discount_of_100_percent_is_refused(place: Place) -> None:
    """Deciding test 12."""
    product = new_product(place)
    before = contents(place)
    with pytest.raises(DiscountRefused):
        new_campaign(place, product.id, discount_percentage=Decimal(100))
    assert contents(place) == before

    new_campaign(place, product.id, discount_percentage=Decimal("99.99"))
    assert place.run(get_campaign("SUMMER2026")).discounted_price == Decimal("0.03")
    with pytest.raises(DiscountRefused):
        place.run(update_campaign("SUMMER2026", {"discount_percentage": 100}, by=ADMIN))


def test_what_would_cost_nothing_is_refused_and_never_shown(alone: Place) -> None:
    cheap = new_product(alone, price="0.01")
    with pytest.raises(DiscountTooHigh):
        new_campaign(alone, cheap.id, discount_percentage="60")
    dear = new_product(alone)
    new_campaign(alone, dear.id, discount_percentage="60")
    alone.run(update_product(dear.id, {"price": "0.01"}, by=ADMIN))
    with pytest.raises(DiscountTooHigh):
        alone.run(update_campaign("SUMMER2026", {"discount_percentage": "61"}, by=ADMIN))
    assert alone.run(get_campaign("SUMMER2026")).discounted_price == Decimal("0.01")


def test_a_campaign_of_a_deleted_product_can_still_be_edited(alone: Place) -> None:
    product = new_product(alone)
    new_campaign(alone, product.id)
    alone.run(soft_delete_product(product.id, by=ADMIN))
    changed = alone.run(update_campaign("SUMMER2026", {"discount_percentage": 10}, by=ADMIN))
    assert changed.discount_percentage == 10


def test_a_deleted_campaign_is_not_edited_until_it_is_restored(alone: Place) -> None:
    new_campaign(alone, new_product(alone).id)
    alone.run(soft_delete_campaign("SUMMER2026", by=ADMIN))
    with pytest.raises(CampaignDeleted):
        alone.run(update_campaign("SUMMER2026", {"description": "x"}, by=ADMIN))


def test_an_update_of_a_missing_campaign_leaves_no_ghost(place: Place) -> None:
    """Deciding test 15."""
    for steps in (
        update_campaign("SUMMER2026", {"description": "x"}, by=ADMIN),
        soft_delete_campaign("SUMMER2026", by=ADMIN),
        restore_campaign("not a code", by=ADMIN),
    ):
        with pytest.raises(UnknownCampaign):
            place.run(steps)
    assert contents(place) == {table.name: [] for table in SYSTEM.tables}


def test_dates_may_come_as_text(alone: Place) -> None:
    fields = campaign_fields(
        new_product(alone).id, from_date="2025-06-01", to_date="2025-08-31", code="BLACK_FRIDAY_25"
    )
    made = alone.run(create_campaign(**fields))
    assert (made.from_date, made.to_date) == (date(2025, 6, 1), date(2025, 8, 31))


@pytest.mark.parametrize(
    ("code", "hinted"), [("ABC", True), ("SUMMER", False), ("X" * 20, False), ("X" * 21, True)]
)
def test_a_code_of_unusual_length_is_hinted_at(code: str, hinted: bool) -> None:
    assert (code_hint(code) is not None) is hinted


@given(
    price=st.decimals("0.01", "9999999.99", places=2),
    percentage=st.decimals(0, "99.99", places=2) | st.sampled_from([Decimal(50), Decimal("2.5")]),
)
def test_a_discounted_price_is_half_up_to_the_cent_and_never_free(
    price: Decimal, percentage: Decimal
) -> None:
    cents = int(price * 100) * int(10_000 - percentage * 100)
    exact = (cents * 2 + 10_000) // 20_000  # in cents, half up, in whole numbers only
    assert discounted_price(price, percentage) == max(Decimal("0.01"), Decimal(exact) / 100)
    assert discounted_price(price, percentage) <= price


def test_half_a_cent_goes_up() -> None:
    assert discounted_price(Decimal("0.05"), Decimal(50)) == Decimal("0.03")
    assert discounted_price(Decimal("299.99"), Decimal(20)) == Decimal("239.99")
    assert Decimal("2.675").quantize(Decimal("0.01"), ROUND_HALF_UP) == Decimal("2.68")
    assert discounted_price(Decimal("5.35"), Decimal(50)) == Decimal("2.68")
