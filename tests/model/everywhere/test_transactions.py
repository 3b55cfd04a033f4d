"""Transactions: all or nothing, an error for each condition, reads of one moment."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bigtime.model import (
    ItemMissing,
    add,
    attr,
    check,
    create,
    delete,
    get,
    get_many,
    get_together,
    put,
    put_many,
    transact,
    update,
)
from bigtime.wire import IdempotentParameterMismatchException, Steps
from tests.model import deals
from tests.model.deals import Brand, BrandLike, like_brand
from tests.model.designs import TRENDING, TrendingDeal
from tests.model.everywhere.scenario import everywhere, refusal
from tests.model.portal import PORTAL, Product, TooDear, UnknownProduct

DEALS = deals.BIG_TIME_DEALS


@everywhere(DEALS)
def test_like_twice_counts_once() -> Steps[object]:
    yield from create(Brand(brand="APPLE"))
    yield from like_brand("APPLE", "al")
    yield from like_brand("APPLE", "bo")
    assert (yield from refusal(like_brand("APPLE", "al"))) == "already-liked"
    assert (yield from refusal(like_brand("PEAR", "al"))) == "unknown-brand"
    assert (yield from get(BrandLike.key("PEAR", "al"))) is None
    brand = yield from get(Brand.key("APPLE"))
    assert brand is not None and brand.like_count == 2
    return brand


@everywhere(PORTAL)
def test_the_first_condition_that_fails_says_what_is_raised() -> Steps[object]:
    dear = yield from create(Product(product_id="dear", price=Decimal(9)))
    affordable = attr("price") < 5

    def bought(product_id: str) -> Steps[str]:
        trade = transact(
            put(Product(product_id="new")),
            check(
                Product.key(product_id),
                if_exists=UnknownProduct,
                when=affordable,
                otherwise=TooDear,
            ),
            update(dear, status="SOLD"),
        )
        return (yield from refusal(trade))

    assert (yield from bought("dear2")) == "unknown-product"
    assert (yield from get(Product.key("new"))) is None
    yield from create(Product(product_id="dear2", price=Decimal(9)))
    assert (yield from bought("dear2")) == "too-dear"
    assert (yield from get(Product.key("new"))) is None
    assert (yield from get(dear.own_key())) == dear
    return dear


@everywhere(PORTAL)
def test_every_kind_of_write_happens_together() -> Steps[object]:
    kept = yield from create(Product(product_id="kept", price=Decimal(3)))
    gone = yield from create(Product(product_id="gone", owner="o"))
    checked = yield from create(Product(product_id="checked"))
    created, _, _, _ = yield from transact(
        create(Product(product_id="made")),
        update(kept, price=Decimal(4), owner="o"),
        delete(gone),
        check(checked.own_key(), if_exists=True),
    )
    found = yield from get_together(
        *(Product.key(name) for name in ("made", "kept", "gone", "checked", "nobody"))
    )
    made, updated, marked, same, nobody = found
    assert made is not None and made == created and made.version == 1
    assert updated is not None and (updated.price, updated.version) == (Decimal(4), 2)
    assert (marked, same, nobody) == (None, checked, None)
    hidden = yield from get_together(Product.key("gone"), deleted=True)
    assert hidden[0] is not None and hidden[0].deleted_at is not None
    return found


@everywhere(PORTAL)
def test_a_version_that_is_over_cancels_all() -> Steps[object]:
    first = yield from create(Product(product_id="p"))
    yield from update(first, status="OPEN")
    late = transact(put(Product(product_id="q")), update(first, status="SHUT"))
    assert (yield from refusal(late)) == "conflict"
    return (yield from get_together(Product.key("p"), Product.key("q")))


@everywhere(DEALS, TRENDING)
def test_a_transaction_over_several_tables() -> Steps[object]:
    yield from create(Brand(brand="APPLE"))
    trending = TrendingDeal(category_id="tv", engagement_score=1)
    yield from transact(add(Brand.key("APPLE"), like_count=5), create(trending))
    again = transact(add(Brand.key("APPLE"), like_count=5), create(trending))
    assert (yield from refusal(again)) == "item-exists"
    found = yield from get_together(Brand.key("APPLE"), trending.own_key())
    assert found == (Brand(brand="APPLE", like_count=5), trending)
    return found


LIKES = [BrandLike(brand="APPLE", username=f"u{n}") for n in range(100)]


@everywhere(DEALS)
def test_a_hundred_actions() -> Steps[object]:
    yield from transact(*(create(like) for like in LIKES))
    found = yield from get_many([like.own_key() for like in LIKES])
    assert found == LIKES
    again = transact(*(create(like) for like in LIKES))
    assert (yield from refusal(again)) == "item-exists"
    return found


@everywhere(DEALS, moto_differs="it reads 25 items in a transaction; AWS reads 100")
def test_a_hundred_reads_of_one_moment() -> Steps[object]:
    yield from put_many(LIKES)
    found = yield from get_together(*(like.own_key() for like in LIKES))
    assert list(found) == LIKES
    return found


@everywhere(DEALS, moto_differs="it takes no notice of a token")
def test_a_token_makes_a_transaction_happen_once() -> Steps[object]:
    yield from put_many([Brand(brand="APPLE")])
    for _ in range(3):
        yield from transact(add(Brand.key("APPLE"), like_count=1), token="like")
    with pytest.raises(IdempotentParameterMismatchException):
        yield from transact(add(Brand.key("APPLE"), like_count=2), token="like")
    brand = yield from get(Brand.key("APPLE"), missing=ItemMissing)
    assert brand.like_count == 1
    return brand
