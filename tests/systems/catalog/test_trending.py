"""Trending deals and their places, wherever the store is."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.advisor import explain
from bigtime.model import create, put, verify
from bigtime.systems.catalog import SYSTEM
from bigtime.systems.catalog.deals import create_deal
from bigtime.systems.catalog.design import TrendingDeal, rank_of
from bigtime.systems.catalog.errors import (
    AlreadyTrending,
    EngagementMoved,
    NotTrending,
    ScoreOutOfRange,
    UnknownDeal,
)
from bigtime.systems.catalog.trending import (
    find_trending,
    get_high_discount_deals,
    get_highly_engaged_deals,
    get_trending_by_category,
    record_engagement,
    start_trending,
    stop_trending,
)
from tests.store.places import Place
from tests.systems.catalog.samples import (
    ASUS,
    SONY,
    all_items,
    deal,
    join_lists,
    pages,
    stored_items,
    trending_deal,
)

ELECTRONICS = "electronics"
FIFTY = Decimal("50.0")


def places(place: Place, category_id: str = ELECTRONICS) -> list[tuple[str, int]]:
    page = place.run(get_trending_by_category(category_id, consistent=True))
    return [(each.deal_id, each.engagement_score) for each in page]


def test_equal_engagement_scores_do_not_lose_a_deal(place: Place) -> None:
    """Deciding test 13 (D10)."""
    names = [f"deal-{number}" for number in range(12)]
    for name in names:
        place.run(create(trending_deal(name, score=850)))

    found = place.run(get_trending_by_category(ELECTRONICS)).items
    assert sorted(each.deal_id for each in found) == sorted(names)
    assert {each.engagement_score for each in found} == {850}
    assert len(stored_items(place, "TrendingDeals")) == 12


def test_equal_scores_do_not_lose_a_deal_when_they_are_reached_on_the_way(place: Place) -> None:
    """Deciding test 13 (D10): scores that become equal."""
    for number in range(4):
        place.run(create_deal(deal(f"deal-{number}")))
        first = place.run(start_trending(f"deal-{number}", FIFTY, views=number))
        place.run(record_engagement(first, views=10 - number))

    assert sorted(places(place)) == [(f"deal-{number}", 10) for number in range(4)]
    assert place.run(verify(SYSTEM)) == []


def test_a_score_is_stored_as_a_number_and_seen_as_a_whole_one(alone: Place) -> None:
    alone.run(create(trending_deal()))

    (item,) = stored_items(alone, "TrendingDeals")
    assert int(Decimal(item["engagement_score"]["N"])) == 850
    (found,) = alone.run(get_trending_by_category(ELECTRONICS))
    assert found == trending_deal()
    assert found.engagement_score == found.model_dump()["engagement_score"] == 850
    assert {*item} == {
        "category_id",
        "engagement_score",
        "deal_id",
        "title",
        "brand_id",
        "discount_percentage",
        "views",
        "clicks",
    }


def test_a_plain_score_that_others_have_stored_is_read(alone: Place) -> None:
    alone.run(put(trending_deal(rank=Decimal(850))))

    (found,) = alone.run(get_highly_engaged_deals(ELECTRONICS, 850))
    assert found.engagement_score == 850
    moved = alone.run(record_engagement(found, clicks=1))
    assert moved.engagement_score == 1250 + 5 * 90
    assert places(alone) == [("deal-12345", 1700)]


def test_trending_deals_come_by_score(place: Place) -> None:
    for name, score in (("deal-1", 90), ("deal-2", 1000), ("deal-3", 9), ("deal-4", 100)):
        place.run(create(trending_deal(name, score)))

    by_score = [("deal-2", 1000), ("deal-4", 100), ("deal-1", 90), ("deal-3", 9)]
    assert places(place) == by_score
    ascending = place.run(get_trending_by_category(ELECTRONICS, ascending=True, limit=2))
    assert [each.deal_id for each in ascending] == ["deal-3", "deal-1"]
    assert places(place, "computers") == []
    paged = pages(place, lambda after: get_trending_by_category(ELECTRONICS, limit=3, after=after))
    assert [(each.deal_id, each.engagement_score) for each in join_lists(paged)] == by_score


def test_highly_engaged_deals_include_the_threshold(place: Place) -> None:
    """D9: `>=`, and the fraction behind a score is never more than the next score."""
    for score in (99, 100, 101):
        for name in ("a", "b", "c"):
            place.run(create(trending_deal(f"deal-{score}-{name}", score)))

    def scores(least: int) -> list[int]:
        page = place.run(get_highly_engaged_deals(ELECTRONICS, least))
        return [each.engagement_score for each in page]

    assert scores(100) == [101] * 3 + [100] * 3
    assert scores(101) == [101] * 3
    assert scores(102) == []
    assert len(scores(0)) == 9


def test_high_discounts_are_compared_as_numbers(place: Place) -> None:
    """D11: 9.5 is less than 50, whatever their texts say."""
    for name, discount in (
        ("deal-1", "9.5"),
        ("deal-2", "50.0"),
        ("deal-3", "70"),
        ("deal-4", "50"),
    ):
        place.run(create(trending_deal(name, discount_percentage=Decimal(discount))))
    place.run(create(trending_deal("deal-5", brand_id=ASUS, discount_percentage=Decimal(90))))

    page = place.run(get_high_discount_deals(SONY, FIFTY))
    assert page.items[0].deal_id == "deal-3"
    assert {each.deal_id for each in page} == {"deal-2", "deal-3", "deal-4"}
    assert len(place.run(get_high_discount_deals(SONY, Decimal("9.5")))) == 4
    assert place.run(get_high_discount_deals(SONY, Decimal("70.01"))).items == []


def test_a_changed_score_is_a_new_place_and_the_old_one_is_free(place: Place) -> None:
    """D10: Delete and Put in one transaction."""
    place.run(create_deal(deal()))
    first = place.run(start_trending("deal-12345", FIFTY))
    assert places(place) == [("deal-12345", 0)]

    second = place.run(record_engagement(first, views=3, clicks=2))

    assert second.engagement_score == 3 + 5 * 2
    assert places(place) == [("deal-12345", 13)]
    assert place.run(find_trending(ELECTRONICS, "deal-12345")) == second
    assert len(stored_items(place, "TrendingDeals", IndexName="TrendingByDiscount")) == 1


def test_a_changed_score_is_one_transaction(alone: Place) -> None:
    requests = explain(record_engagement(trending_deal(), views=1), tables=SYSTEM.tables).requests

    (only,) = requests
    actions = only.request.params["TransactItems"]
    assert [*map(list, actions)] == [["Delete"], ["Put"]]


def test_engagement_that_leaves_the_score_stays_in_its_place(alone: Place) -> None:
    """Only a score of another reckoning can meet its own again; nothing may be lost then."""
    alone.run(create(trending_deal(score=100, views=94, clicks=1)))

    same = alone.run(record_engagement(trending_deal(score=100, views=94, clicks=1), views=1))

    assert (same.engagement_score, same.views) == (100, 95)
    assert alone.run(find_trending(ELECTRONICS, "deal-12345")) == same
    assert alone.run(record_engagement(same)) == same


def test_engagement_in_one_place_is_not_counted_over(alone: Place) -> None:
    """The place is as it was seen, and what it holds is not."""
    seen = trending_deal(score=100, views=94, clicks=1)
    alone.run(create(seen))

    alone.run(record_engagement(seen, views=1))
    last = alone.run(record_engagement(seen, views=1))

    assert (last.engagement_score, last.views) == (101, 96)
    assert places(alone) == [("deal-12345", 101)]


def test_a_place_that_was_left_is_found_again(place: Place) -> None:
    """Two who have seen the same place: both count, and the deal is there once."""
    place.run(create_deal(deal()))
    seen = place.run(start_trending("deal-12345", FIFTY))

    place.run(record_engagement(seen, views=1))
    last = place.run(record_engagement(seen, clicks=1))

    assert (last.views, last.clicks) == (1, 1)
    assert places(place) == [("deal-12345", 6)]


def test_engagement_with_what_does_not_trend_is_an_error(alone: Place) -> None:
    for steps in (
        record_engagement(trending_deal(), views=1),
        find_trending(ELECTRONICS, "deal-12345"),
        stop_trending(ELECTRONICS, "deal-12345"),
    ):
        with pytest.raises(NotTrending):
            alone.run(steps)
    assert stored_items(alone, "TrendingDeals") == []


def test_a_deal_starts_trending_once(place: Place) -> None:
    place.run(create_deal(deal()))
    first = place.run(start_trending("deal-12345", FIFTY, views=2))
    assert (first.title, first.brand_id, first.engagement_score) == (deal().title, SONY, 2)
    place.run(record_engagement(first, clicks=1))
    before = all_items(place)

    with pytest.raises(AlreadyTrending):
        place.run(start_trending("deal-12345", FIFTY))
    assert all_items(place) == before
    with pytest.raises(UnknownDeal):
        place.run(start_trending("deal-0", FIFTY))
    place.run(stop_trending(ELECTRONICS, "deal-12345"))
    assert stored_items(place, "TrendingDeals") == []
    place.run(start_trending("deal-12345", FIFTY))


def test_another_deal_at_a_place_is_never_written_over(alone: Place) -> None:
    """Were two fractions equal after all, it would be an error, and no deal would be lost."""
    other = trending_deal("deal-other", rank=rank_of(1251 + 5 * 89, "deal-12345"))
    alone.run(create(other))
    alone.run(create(trending_deal()))
    before = all_items(alone)

    with pytest.raises(EngagementMoved):
        alone.run(record_engagement(trending_deal(), views=1))
    assert all_items(alone) == before


scores = st.integers(min_value=0, max_value=10**10 - 1)
deal_ids = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=40)


@given(scores, scores, deal_ids, deal_ids)
def test_ranks_sort_as_scores_do_and_tell_deals_apart(
    score: int, other: int, deal_id: str, another: str
) -> None:
    one, two = rank_of(score, deal_id), rank_of(other, another)

    assert int(one) == score
    assert one >= score
    assert (one < two) is (score < other) or score == other
    assert (one == two) is ((score, deal_id) == (other, another))


@given(scores, deal_ids)
def test_a_rank_is_stored_exactly(score: int, deal_id: str) -> None:
    place = trending_deal(deal_id, score)

    item = TrendingDeal.layout.to_item(place)
    assert TrendingDeal.layout.from_item(item) == place
    digits = item["engagement_score"]["N"].replace(".", "").strip("0")
    assert len(digits) <= 38


@pytest.mark.parametrize("score", [-1, 10**10])
def test_a_score_beyond_its_digits_is_refused(score: int) -> None:
    with pytest.raises(ScoreOutOfRange):
        rank_of(score, "deal-1")
