"""Deletes: for good, softly, back again, and under conditions."""

from __future__ import annotations

from decimal import Decimal

from bigtime.model import (
    all_of,
    attr,
    count,
    create,
    delete,
    erase,
    get,
    put,
    restore,
    scan_all,
    update,
)
from bigtime.wire import Steps
from tests.model.designs import BIG_TIME_DEALS, Brand
from tests.model.everywhere.scenario import everywhere, refusal
from tests.model.portal import PORTAL, Product, TooDear, UnknownProduct


@everywhere(BIG_TIME_DEALS)
def test_delete_gives_back_what_it_was() -> Steps[object]:
    brand = yield from put(Brand(brand="APPLE", like_count=3))
    assert (yield from delete(brand.own_key())) == brand
    assert (yield from delete(brand.own_key())) is None
    assert (yield from refusal(delete(brand.own_key(), if_exists=True))) == "item-missing"
    return (yield from get(brand.own_key()))


@everywhere(BIG_TIME_DEALS)
def test_a_delete_under_a_condition() -> Steps[object]:
    yield from put(Brand(brand="APPLE", like_count=3))

    def delete_unless_liked(brand: str) -> Steps[str]:
        unless_liked = delete(
            Brand.key(brand), if_exists=UnknownProduct, when=attr("like_count") == 0
        )
        return (yield from refusal(unless_liked))

    assert (yield from delete_unless_liked("APPLE")) == "condition-failed"
    assert (yield from delete_unless_liked("SONY")) == "unknown-product"
    yield from update(Brand.key("APPLE"), like_count=0)
    return (yield from delete(Brand.key("APPLE"), when=attr("like_count") == 0))


@everywhere(PORTAL)
def test_what_is_deleted_softly_is_hidden_and_comes_back() -> Steps[object]:
    product = yield from create(Product(product_id="p", owner="o"))
    others = Product.within("ByOwner", owner="o")
    yield from delete(product.own_key())
    assert (yield from get(product.own_key())) is None
    assert (yield from all_of(others)) == [] == (yield from scan_all(Product))
    assert (yield from count(others)) == 0
    hidden = yield from get(product.own_key(), deleted=True)
    assert hidden is not None and hidden.deleted_at is not None
    assert (yield from all_of(others, deleted=True)) == [hidden]
    assert (yield from all_of(Product.within("Deleted"), deleted=True)) == [hidden]
    assert (yield from refusal(update(product.own_key(), owner="x"))) == "item-missing"
    assert (yield from refusal(create(Product(product_id="p")))) == "item-exists"
    restored = yield from restore(product.own_key())
    assert restored.deleted_at is None
    assert (yield from all_of(others)) == [restored]
    assert (yield from all_of(Product.within("Deleted"), deleted=True)) == []
    return hidden, restored


@everywhere(PORTAL)
def test_erase_deletes_for_good() -> Steps[object]:
    product = yield from create(Product(product_id="p"))
    yield from delete(product.own_key())
    erased = yield from erase(product.own_key())
    assert erased is not None
    assert (yield from get(product.own_key(), deleted=True)) is None
    assert (yield from refusal(restore(product.own_key()))) == "item-missing"
    assert (yield from delete(product.own_key())) is None
    assert (yield from refusal(delete(product.own_key(), if_exists=UnknownProduct))) == (
        "unknown-product"
    )
    return erased


@everywhere(PORTAL)
def test_only_the_version_that_was_seen_is_deleted() -> Steps[object]:
    first = yield from create(Product(product_id="p", price=Decimal(3)))
    second = yield from update(first, price=Decimal(2))
    assert (yield from refusal(delete(first))) == "conflict"
    assert (yield from refusal(erase(first))) == "conflict"
    dear = delete(second, when=attr("price") > 2, otherwise=TooDear)
    assert (yield from refusal(dear)) == "too-dear"
    return (yield from delete(second))
