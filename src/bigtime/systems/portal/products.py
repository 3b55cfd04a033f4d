"""Products, and the log of their prices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from bigtime import model as bt
from bigtime.systems.portal import design, records, values
from bigtime.systems.portal.chain import SALT_BYTES, next_entry
from bigtime.systems.portal.design import Audited, AuditEntry, Product, ProductRecord
from bigtime.systems.portal.errors import ProductDeleted, UnknownProduct

CHANGEABLE: Final = frozenset(
    {"name", "description", "price", "features", "billing_cycle", "active"}
)
ARE_ACTIVE: Final = Product.within("ProductActiveIndex", active=True)
ARE_DELETED: Final = Product.within("ProductActiveIndex", active=False)
ACTIVE: Final = bt.count(ARE_ACTIVE)
DELETED: Final = bt.count(ARE_DELETED)


class ProductName(bt.View, of=Product):
    """What a product is called, and whether it is on sale."""

    id: values.ProductId
    name: values.Name
    active: values.Active = True


@bt.pattern("Get Product by ID", index="Main table")
def get_product(
    product_id: values.ProductId, *, include_inactive: bool = False
) -> bt.Steps[Product]:
    """strongly consistent"""
    product = yield from bt.get(Product.key(product_id), consistent=True, missing=UnknownProduct)
    if not (product.active or include_inactive):
        raise UnknownProduct
    return product


@bt.pattern("List All Active Products", index="ProductActiveIndex")
def list_products(
    *,
    include_inactive: bool = False,
    limit: int = records.PAGE,
    after: bt.Position | None = None,
    newest_first: bool = False,
) -> bt.Steps[bt.Page[Product]]:
    """the pricing page; oldest first, paged"""
    return (
        yield from records.activity_page(
            Product,
            "ProductActiveIndex",
            limit,
            after,
            newest_first=newest_first,
            include_inactive=include_inactive,
        )
    )


@bt.pattern("List Soft Deleted Products", index="ProductActiveIndex")
def list_deleted_products(
    *, limit: int = records.PAGE, after: bt.Position | None = None, newest_first: bool = True
) -> bt.Steps[bt.Page[Product]]:
    """what can be restored; newest first, paged"""
    size = records.checked_size(limit)
    return (yield from bt.query(ARE_DELETED, newest_first=newest_first, limit=size, after=after))


@bt.pattern("List Product Names", index="ProductActiveIndex")
def list_product_names(*, limit: int = records.PAGE) -> bt.Steps[list[ProductName]]:
    """to choose from; up to so many active ones, and as many soft deleted ones after them"""
    size = records.checked_size(limit)
    active, deleted = yield from bt.together(
        *(bt.query(part, only=ProductName, limit=size) for part in (ARE_ACTIVE, ARE_DELETED))
    )
    return [*active, *deleted]


@bt.pattern("Count Products", index="ProductActiveIndex")
def count_products() -> bt.Steps[records.Counts]:
    """active and soft deleted ones; only numbers are read"""
    return records.Counts(*(yield from bt.together(ACTIVE, DELETED)))


@bt.pattern("Create Product", index="Main table", takes="N/A")
def create_product(
    name: values.Name,
    description: values.Description,
    price: values.Price,
    billing_cycle: values.BillingCycle,
    features: Sequence[str] = (),
    *,
    by: values.Actor,
) -> bt.Steps[Product]:
    """admin; with its audit entry in one transaction"""
    moment = yield from bt.now()
    product = Product(
        name=name,
        description=description,
        price=price,
        billing_cycle=billing_cycle,
        features=list(features),
        id=values.random_id("prod", (yield from bt.random_bytes(16))),
        date_created=moment,
        date_last_updated=moment,
        last_updated_by=by,
    )
    return (yield from records.create_record(product))


@bt.pattern("Update Product", index="Main table", sample={"changes": {"price": Decimal("249.99")}})
def update_product(
    product_id: values.ProductId,
    changes: Mapping[str, Any],
    *,
    by: values.Actor,
    seen: str | None = None,
) -> bt.Steps[Product]:
    """admin; a new price holds for new orders at once, and orders that are made keep theirs

    `seen` is the mark of the record that it is changed from: if it is another by now, nothing is
    changed.
    """
    return (yield from edit_product(product_id, changes, by, seen))


@bt.pattern("Soft Delete Product", index="Main table")
def soft_delete_product(product_id: values.ProductId, *, by: values.Actor) -> bt.Steps[Product]:
    """admin; off the pricing page, campaigns and orders keep it"""
    return (yield from edit_product(product_id, {"active": False}, by))


@bt.pattern("Restore Product", index="Main table")
def restore_product(product_id: values.ProductId, *, by: values.Actor) -> bt.Steps[Product]:
    """admin; as it was"""
    return (yield from edit_product(product_id, {"active": True}, by))


def edit_product(
    product_id: str, changes: Mapping[str, object], by: str, seen: str | None = None
) -> bt.Steps[Product]:
    return records.edit(
        Product.key(product_id),
        changes,
        by=by,
        changeable=CHANGEABLE,
        missing=UnknownProduct,
        deleted=ProductDeleted,
        seen=seen,
    )


# The log of prices
#
# Each change of a price is an entry PRICE_CHANGED of the chain `prices#<product>`: old and new
# price, by whom, when. The stream delivers a change at least once; the entry holds the sequence
# number of its event, and an event that is in the chain is not written again. In another region the
# same change is another event: it is recognised by its time and its prices.


class PriceEvent(bt.View, of=AuditEntry):
    """The stream's event that an entry records."""

    sequence: design.SequenceNumber
    hash: design.Hash
    at: values.Moment
    before: design.State | None
    after: design.State | None
    event: design.EventId | None


def prices_of(change: bt.Change[Any]) -> tuple[ProductRecord, ProductRecord] | None:
    """A product before and after a change of its price."""
    product = change.of(ProductRecord)
    if product is None or product.before is None or product.after is None:
        return None
    if product.before.price == product.after.price:
        return None
    return product.before, product.after


def price_line(change: bt.Change[Any]) -> dict[str, object] | None:
    """A log line for a change of price; it has the same `event` if it is delivered again."""
    if (prices := prices_of(change)) is None:
        return None
    before, after = prices
    return {
        "action": design.Action.PRICE_CHANGED,
        "productId": after.id,
        "oldPrice": before.price,
        "newPrice": after.price,
        "changedBy": after.last_updated_by,
        "changedAt": after.date_last_updated,
        "event": change.sequence,
    }


@bt.reaction(design.PRODUCTS, log_line=price_line)
def log_price_changes(change: bt.Change[bt.Entity]) -> bt.Steps[None]:
    """Each new price of a product becomes an entry PRICE_CHANGED, once."""
    if (prices := prices_of(change)) is not None:
        yield from log_price(*prices, change.sequence)


def log_price(before: ProductRecord, after: ProductRecord, event: str) -> bt.Steps[None]:
    chain = AuditEntry.within("main", table=Audited.PRICES, id=after.id)
    recorded = after.date_last_updated, {"price": before.price}, {"price": after.price}
    for _ in range(records.TRIES):
        known = yield from bt.all_of(chain, only=PriceEvent, consistent=True)
        # The stream of a replica has the same change as another event.
        if any(
            entry.event == event or (entry.at, entry.before, entry.after) == recorded
            for entry in known
        ):
            return
        entry = next_entry(
            known[-1] if known else None,
            Audited.PRICES,
            after.id,
            action=design.Action.PRICE_CHANGED,
            at=after.date_last_updated,
            actor=after.last_updated_by,
            salt=(yield from bt.random_bytes(SALT_BYTES)),
            before={"price": before.price},
            after={"price": after.price},
            event=event,
        )
        try:
            yield from bt.create(entry, unless_exists=records.Overtaken)
        except records.Overtaken:
            continue
        return
    raise bt.Conflict
