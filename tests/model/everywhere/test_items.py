"""Single items: put, create, replace and get, with conditions, times and versions."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from bigtime.model import ItemMismatch, attr, create, get, now, pause, put, replace, update
from bigtime.wire import Request, Steps
from tests.model.designs import NOON, ksuid
from tests.model.everywhere.parcels import PARCELS, Parcel, Place, State
from tests.model.everywhere.scenario import everywhere, refusal
from tests.model.portal import PORTAL, Product, ProductExists, TooDear, UnknownProduct

SENDER = UUID("0190163d-8694-739b-aea5-966c26f8ad91")
EVERY_FIELD = Parcel(
    sender=SENDER,
    weight=Decimal("-12345678901234567890.123456789"),
    parcel_id=ksuid(NOON, 1),
    state=State.LOST,
    digest=b"\x00\xff#",
    price=Decimal("1E-100"),
    day=date(2026, 2, 28),
    sender_name="Ünïcode \N{PARTY POPPER} \x00 # $ %",
    is_fragile=True,
    count=-(10**37),
    sent_at=NOON + timedelta(microseconds=1),
    seen_at=NOON + timedelta(milliseconds=1),
    expires_at=datetime(2100, 1, 1, tzinfo=UTC),
    target=Place(city="", lines=["", "a.b"], codes={1, 2}),
    stops=[Place(city="x"), Place(city="y")],
    notes={"a.b": "", "#": "\n", "S": "N"},
    tags={"a", "", "\N{PARTY POPPER}"},
    numbers={Decimal("1.5"), Decimal(-3), Decimal("1e20")},
    seals={b"", b"\x00"},
    pin="1234",
)


@everywhere(PARCELS)
def test_a_field_of_every_type_comes_back_as_it_was() -> Steps[object]:
    plain = Parcel(sender=SENDER, weight=Decimal(0), parcel_id=ksuid(NOON, 2))
    for parcel in (EVERY_FIELD, plain):
        assert (yield from put(parcel)) == parcel
        assert (yield from get(parcel.own_key(), consistent=True)) == parcel
    return (yield from get(EVERY_FIELD.own_key()))


@everywhere(PARCELS)
def test_a_number_is_one_key_in_whatever_spelling() -> Steps[object]:
    for weight in ("1.50", "1.5", "15E-1"):
        parcel = Parcel(sender=SENDER, weight=Decimal(weight), parcel_id=ksuid(NOON, 1))
        yield from put(parcel)
    found = yield from get(Parcel.key(SENDER, Decimal("1.500")))
    assert found is not None
    return (yield from get(Parcel.key(SENDER, Decimal("1.51")))), found


@everywhere(PORTAL)
def test_create_refuses_what_is_there_and_replace_what_is_not() -> Steps[object]:
    made = yield from create(Product(product_id="p", owner="o"), unless_exists=ProductExists)
    again = create(Product(product_id="P", price=Decimal(9)), unless_exists=ProductExists)
    assert (yield from refusal(again)) == "product-exists"
    assert (yield from refusal(create(Product(product_id="p")))) == "item-exists"
    missing = replace(Product(product_id="q"), if_exists=UnknownProduct)
    assert (yield from refusal(missing)) == "unknown-product"
    assert (yield from get(Product.key("q"))) is None
    assert (yield from get(Product.key("p"))) == made
    return made, (yield from replace(made.model_copy(update={"price": Decimal(2)})))


@everywhere(PORTAL)
def test_the_condition_that_failed_names_the_error() -> Steps[object]:
    cheap = Product(product_id="p", price=Decimal(2))
    yield from put(cheap)

    def dearer(product: Product) -> Steps[str]:
        dear = put(product, if_exists=UnknownProduct, when=attr("price") < 2, otherwise=TooDear)
        return (yield from refusal(dear))

    assert (yield from dearer(Product(product_id="p", version=1))) == "too-dear"
    assert (yield from dearer(Product(product_id="q"))) == "unknown-product"
    stored = yield from get(Product.key("p"), missing=UnknownProduct)
    assert stored.price == 2
    return stored, (yield from refusal(get(Product.key("q"), missing=UnknownProduct)))


@everywhere(PORTAL)
def test_times_are_stamped_and_versions_counted() -> Steps[object]:
    began = yield from now()
    first = yield from create(Product(product_id="p"))
    yield from pause(60)
    second = yield from put(first)
    yield from pause(60)
    third = yield from update(second, owner="o")
    seen = [(each.version, each.created_at, each.updated_at) for each in (first, second, third)]
    minute = timedelta(minutes=1)
    assert seen == [
        (1, began, began),
        (2, began, began + minute),
        (3, began, began + 2 * minute),
    ]
    return third


@everywhere(PORTAL)
def test_only_the_version_that_was_seen_is_written_over() -> Steps[object]:
    first = yield from create(Product(product_id="p"))
    second = yield from put(first)
    for late in (put(first), replace(first), update(first, owner="o")):
        assert (yield from refusal(late)) == "conflict"
    assert (yield from get(Product.key("p"), consistent=True)) == second
    return (yield from put(second))


@everywhere(PORTAL)
def test_an_item_that_does_not_fit_is_told_and_not_lost() -> Steps[object]:
    item = {**Product.layout.to_item(Product(product_id="p")), "price": {"S": "much"}}
    yield Request("PutItem", {"TableName": PORTAL.name, "Item": item})
    with pytest.raises(ItemMismatch, match="price") as caught:
        yield from get(Product.key("p"))
    assert caught.value.item == item
    return str(caught.value)
