"""Products: what there is to buy, and at what price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from bigtime.model import (
    Page,
    Position,
    View,
    count,
    get,
    now,
    pattern,
    query,
    random_bytes,
    together,
)
from bigtime.systems.portal.design import Product
from bigtime.systems.portal.errors import ProductDeleted, UnknownProduct
from bigtime.systems.portal.history import create_record, edit
from bigtime.systems.portal.paging import PAGE, Counts, activity_page, checked_size
from bigtime.systems.portal.values import (
    Active,
    Actor,
    BillingCycle,
    Description,
    Name,
    Price,
    ProductId,
    made_id,
)
from bigtime.wire import Steps

CHANGEABLE: Final = frozenset(
    {"name", "description", "price", "features", "billing_cycle", "active"}
)
ARE_ACTIVE: Final = Product.within("ProductActiveIndex", active=True)
ARE_DELETED: Final = Product.within("ProductActiveIndex", active=False)
ACTIVE: Final = count(ARE_ACTIVE)
DELETED: Final = count(ARE_DELETED)


class ProductName(View, of=Product):
    """What a product is called, and whether it is to be had."""

    id: ProductId
    name: Name
    active: Active = True


@pattern("Get Product by ID", index="Main table")
def get_product(product_id: ProductId, *, include_inactive: bool = False) -> Steps[Product]:
    """strongly consistent"""
    product = yield from get(Product.key(product_id), consistent=True, missing=UnknownProduct)
    if not (product.active or include_inactive):
        raise UnknownProduct
    return product


@pattern("List All Active Products", index="ProductActiveIndex")
def list_products(
    *,
    include_inactive: bool = False,
    limit: int = PAGE,
    after: Position | None = None,
    newest_first: bool = False,
) -> Steps[Page[Product]]:
    """the pricing page; oldest first, paged"""
    return (
        yield from activity_page(
            Product,
            "ProductActiveIndex",
            include_inactive=include_inactive,
            limit=limit,
            after=after,
            newest_first=newest_first,
        )
    )


@pattern("List Soft Deleted Products", index="ProductActiveIndex")
def list_deleted_products(
    *, limit: int = PAGE, after: Position | None = None
) -> Steps[Page[Product]]:
    """what can be restored; newest first, paged"""
    deleted = Product.within("ProductActiveIndex", active=False)
    return (yield from query(deleted, newest_first=True, limit=checked_size(limit), after=after))


@pattern("List Product Names", index="ProductActiveIndex")
def list_product_names(*, limit: int = PAGE) -> Steps[list[ProductName]]:
    """to choose from; up to so many active ones, and as many soft deleted ones after them"""
    size = checked_size(limit)
    active, deleted = yield from together(
        *(query(one, only=ProductName, limit=size) for one in (ARE_ACTIVE, ARE_DELETED))
    )
    return [*active, *deleted]


@pattern("Count Products", index="ProductActiveIndex")
def count_products() -> Steps[Counts]:
    """active and soft deleted ones; only numbers are read"""
    return Counts(*(yield from together(ACTIVE, DELETED)))


@pattern("Create Product", index="Main table", takes="N/A")
def create_product(
    name: Name,
    description: Description,
    price: Price,
    billing_cycle: BillingCycle,
    features: Sequence[str] = (),
    *,
    by: Actor,
) -> Steps[Product]:
    """admin; with its audit entry in one transaction"""
    moment = yield from now()
    product = Product(
        name=name,
        description=description,
        price=price,
        billing_cycle=billing_cycle,
        features=list(features),
        id=made_id("prod", (yield from random_bytes(16))),
        date_created=moment,
        date_last_updated=moment,
        last_updated_by=by,
    )
    return (yield from create_record(product))


@pattern("Update Product", index="Main table", sample={"changes": {"price": Decimal("249.99")}})
def update_product(
    product_id: ProductId, changes: Mapping[str, Any], *, by: Actor, seen: str | None = None
) -> Steps[Product]:
    """admin; a new price holds for new orders at once, and orders that are made keep theirs

    `seen` is the mark of the record that it is changed from: if it is another by now, nothing is
    changed.
    """
    return (yield from edit_product(product_id, changes, by, seen))


@pattern("Soft Delete Product", index="Main table")
def soft_delete_product(product_id: ProductId, *, by: Actor) -> Steps[Product]:
    """admin; off the pricing page, campaigns and orders keep it"""
    return (yield from edit_product(product_id, {"active": False}, by))


@pattern("Restore Product", index="Main table")
def restore_product(product_id: ProductId, *, by: Actor) -> Steps[Product]:
    """admin; as it was"""
    return (yield from edit_product(product_id, {"active": True}, by))


def edit_product(
    product_id: str, changes: Mapping[str, Any], by: str, seen: str | None = None
) -> Steps[Product]:
    return edit(
        Product.key(product_id),
        changes,
        by=by,
        changeable=CHANGEABLE,
        missing=UnknownProduct,
        deleted=ProductDeleted,
        seen=seen,
    )
