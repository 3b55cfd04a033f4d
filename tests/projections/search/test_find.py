"""Finding deals: words, typos, filters, order, pages, highlights; and text that means harm."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.model import CursorError, Cursors, Position
from bigtime.projections.search import FacetCount, Range, TantivyBackend
from bigtime.projections.search.documents import rank, rank_bounds
from bigtime.projections.search.words import distance, similar_words, typos_in, words_of
from tests.projections.search.conftest import Find, PostDeal, keys

CatchUp = Callable[[], None]


# Words


def test_a_word_is_found_in_each_of_its_forms(
    post: PostDeal, catch_up: CatchUp, find: Find
) -> None:
    shoes = post("Running shoes for winter")
    post("A lamp")
    catch_up()
    for text in ("shoe", "SHOES", "run", "winter running", "  shoes, winter! "):
        assert keys(find(text)) == [shoes.deal_id], text


def test_all_words_must_be_found(post: PostDeal, catch_up: CatchUp, find: Find) -> None:
    both = post("Red lamp", description="With a green shade")
    post("Red kettle")
    catch_up()
    assert keys(find("red green")) == [both.deal_id]
    assert find("red violet").total == 0


def test_common_words_are_passed_over_beside_others(
    post: PostDeal, catch_up: CatchUp, find: Find
) -> None:
    lamp = post("Lamp")
    the_who = post("The Who")
    catch_up()
    assert keys(find("the lamp for a desk lamp")) == [] and keys(find("a lamp")) == [lamp.deal_id]
    assert keys(find("the")) == [the_who.deal_id]


def test_a_word_with_a_typo_is_found_and_corrected(
    post: PostDeal, catch_up: CatchUp, find: Find
) -> None:
    deal = post("Noise cancelling headphones")
    catch_up()
    for typed in ("headfones", "haedphones", "heaphdones", "headphonse"):
        page = find(typed)
        assert keys(page) == [deal.deal_id], typed
        assert page.corrections == {typed: "headphones"}
        assert page.hits[0].highlights["title"] == "Noise cancelling <mark>headphones</mark>"


def test_a_short_word_is_taken_as_it_is(post: PostDeal, catch_up: CatchUp, find: Find) -> None:
    post("Red lamp")
    catch_up()
    assert find("rad").total == 0


def test_the_last_word_may_be_half_typed(post: PostDeal, catch_up: CatchUp, find: Find) -> None:
    deal = post("Noise cancelling headphones")
    catch_up()
    assert keys(find("noise headp")) == [deal.deal_id]
    assert find("headp noise").total == 0


def test_what_is_in_the_title_comes_before_what_is_in_the_description(
    post: PostDeal, catch_up: CatchUp, find: Find
) -> None:
    described = post("A desk", description="It goes with any lamp")
    titled = post("A lamp", description="It goes with any desk")
    catch_up()
    assert keys(find("lamp")) == [titled.deal_id, described.deal_id]
    assert keys(find("desk")) == [described.deal_id, titled.deal_id]


def test_suggestions_complete_the_last_word(
    post: PostDeal, catch_up: CatchUp, backend: TantivyBackend
) -> None:
    post("Noise cancelling headphones")
    post("Wireless headphones")
    post("A heater")
    catch_up()
    reader = backend.reader()
    assert reader.suggest("noise hea") == ["noise headphones", "noise heater"]
    assert reader.suggest("HEAT") == ["heater"]
    assert reader.suggest("hea ") == reader.suggest("") == reader.suggest("(") == []


# Text that means harm


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000,
        "title:lamp OR key:*",
        '"lamp',
        "lamp~2 +red -green ^9 [a TO b] {x}",
        "\0checkpoint",
        "\0",
        "\ud7ff\U0001f4a1 \u202e lamp",
        "a" * 100_000,
        "*",
        "/.*/",
        " ".join(f"w{n}" for n in range(5_000)),
        "lamp\\",
        "' OR 1=1 --",
    ],
)
def test_hostile_text_is_only_words(
    text: str, post: PostDeal, catch_up: CatchUp, find: Find, backend: TantivyBackend
) -> None:
    post("A lamp")
    catch_up()
    assert find(text).total in (0, 1)
    assert isinstance(backend.reader().suggest(text), list)


def test_what_is_highlighted_is_escaped(post: PostDeal, catch_up: CatchUp, find: Find) -> None:
    post("<script>alert(1)</script> lamp & <b>shade</b>")
    catch_up()
    (hit,) = find("lamp shade").hits
    title = hit.highlights["title"]
    assert "<script" not in title and "<b>" not in title and "&amp;" in title
    assert "<mark>lamp</mark>" in title and "<mark>shade</mark>" in title


# Filters, counts, order, pages


def test_counts_are_by_value_and_without_their_own_filter(
    post: PostDeal, catch_up: CatchUp, find: Find
) -> None:
    post("Lamp", category_name="Home", brand_name="Sony")
    post("Lamp", category_name="Home", brand_name="Apple")
    post("Lamp", category_name="Toys", brand_name="Apple")
    catch_up()
    page = find("lamp")
    assert page.facets["category"] == [FacetCount("HOME", 2), FacetCount("TOYS", 1)]
    assert page.facets["brand"] == [FacetCount("APPLE", 2), FacetCount("SONY", 1)]
    home = find("lamp", filters={"category": ("HOME",)})
    assert home.total == 2
    assert home.facets["category"] == page.facets["category"]
    assert home.facets["brand"] == [FacetCount("APPLE", 1), FacetCount("SONY", 1)]
    assert find("lamp", filters={"category": ("HOME", "TOYS"), "brand": ("APPLE",)}).total == 2


def test_a_range_has_both_its_ends(post: PostDeal, catch_up: CatchUp, find: Find) -> None:
    for price in ("9.99", "10.00", "19.99", "20.00", "20.01"):
        post("Lamp", price)
    catch_up()
    bounds = Range(Decimal(10), Decimal(20))
    assert find("lamp", ranges={"price": bounds}).total == 3
    assert find("lamp", ranges={"price": Range(Decimal("20.01"))}).total == 1
    assert find("lamp", ranges={"price": Range()}).total == 5


def test_deals_are_sorted_by_price_age_and_computed_discount(
    post: PostDeal, catch_up: CatchUp, find: Find
) -> None:
    dear = post("Lamp", "90", list_price="100")
    half = post("Lamp", "10", list_price="20")
    plain = post("Lamp", "50")
    catch_up()
    assert keys(find("lamp", sort="price")) == [half.deal_id, plain.deal_id, dear.deal_id]
    assert keys(find("lamp", sort="-price")) == [dear.deal_id, plain.deal_id, half.deal_id]
    assert keys(find("lamp", sort="-discount")) == [half.deal_id, dear.deal_id, plain.deal_id]
    assert dear.discount == 10 and half.discount == 50 and plain.discount == 0


@pytest.mark.parametrize("sort", [None, "price", "-price", "-created_at", "-discount"])
def test_pages_join_up_to_the_whole(
    sort: str | None, post: PostDeal, catch_up: CatchUp, find: Find
) -> None:
    posted = {post("Lamp", str(number % 3 + 1)).deal_id for number in range(40)}
    catch_up()
    found: list[str] = []
    after: Position | None = None
    while True:
        page = find("lamp", sort=sort, limit=7, after=after)
        found += keys(page)
        assert page.total == 40
        if page.position is None:
            break
        after = page.position
    assert len(found) == 40 and {*found} == posted
    assert found == keys(find("lamp", sort=sort, limit=100))


def test_a_deal_that_comes_meanwhile_moves_no_page(
    post: PostDeal, catch_up: CatchUp, find: Find
) -> None:
    for number in range(6):
        post("Lamp", str(number + 1))
    catch_up()
    first = find("lamp", sort="price", limit=3)
    post("Lamp", "0.50")
    catch_up()
    rest = find("lamp", sort="price", limit=10, after=first.position)
    assert len(rest.hits) == 3 and {*keys(first)}.isdisjoint(keys(rest))


def test_a_cursor_is_bound_to_its_query(post: PostDeal, catch_up: CatchUp, find: Find) -> None:
    for _ in range(3):
        post("Red lamp")
    catch_up()
    position = find("lamp", limit=1, sort="price").position
    for other in (
        {"text": "red"},
        {"sort": "-price"},
        {"filters": {"brand": ("SONY",)}},
        {"ranges": {"price": Range(Decimal(1))}},
    ):
        asked = {"text": "lamp", "sort": "price", "limit": 1, **other}
        with pytest.raises(CursorError):
            find(**asked, after=position)


def test_a_cursor_that_was_tampered_with_is_refused() -> None:
    cursors = Cursors(["a secret of more than sixteen bytes"])
    cursor = cursors.write(Position("query", {"offset": 25}))
    assert cursor is not None
    for place in range(0, len(cursor), 7):
        changed = cursor[:place] + ("A" if cursor[place] != "A" else "B") + cursor[place + 1 :]
        with pytest.raises(CursorError):
            cursors.read(changed)


def test_without_words_all_deals_are_listed_and_the_checkpoint_is_none_of_them(
    post: PostDeal, catch_up: CatchUp, find: Find
) -> None:
    posted = [post(f"Lamp {number}").deal_id for number in range(3)]
    catch_up()
    assert sorted(keys(find(""))) == sorted(posted)
    assert find("").total == find("", sort="price").total == 3
    assert keys(find("", sort="price", limit=2)) != []


# Laws


@given(st.text(max_size=300))
def test_words_are_few_short_and_of_letters_and_digits(text: str) -> None:
    found = words_of(text)
    assert len(found) <= 10 and len(found) == len({*found})
    assert all(0 < len(word) <= 40 and word.isalnum() for word in found)


@given(st.text("abc", max_size=8), st.text("abc", max_size=8))
def test_a_distance_is_symmetric_and_bounded(word: str, other: str) -> None:
    assert distance(word, other) == distance(other, word) <= max(len(word), len(other))
    assert (distance(word, other) == 0) == (word == other)


def test_typos_are_letters_too_many_too_few_wrong_and_swapped() -> None:
    assert [distance("lamp", other) for other in ("lampp", "lam", "limp", "lmap")] == [1, 1, 1, 1]
    assert [typos_in(word) for word in ("red", "lamp", "headphones")] == [0, 1, 2]
    assert similar_words("lampp", ["A lamp, a ramp", "Lamp"]) == {"lamp": 2}


@given(
    st.decimals(-(10**9), 10**9, places=2),
    st.decimals(-(10**9), 10**9, places=2),
    st.text(max_size=9),
    st.text(max_size=9),
)
def test_ranks_are_in_the_order_of_their_values(
    value: Decimal, other: Decimal, key: str, other_key: str
) -> None:
    assert value == other or (rank(value, key) < rank(other, other_key)) == (value < other)
    low, high = rank_bounds(value, value)
    assert low is not None and high is not None and low <= rank(value, key) <= high
    assert -(2**63) <= rank(value, key) < 2**63
