"""Invariants: kept by every write, found broken by `verify`, mended by `repair`."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.model import (
    DesignError,
    Key,
    create,
    delete,
    get,
    get_together,
    put,
    repair,
    replace,
    restore,
    transact,
    update,
    verify,
)
from bigtime.wire import AttributeValue, Item, Request, Steps
from tests.model.everywhere.scenario import everywhere, refusal
from tests.model.invariants import (
    EMAILS,
    FRONT_PAGE,
    ISSUES,
    ORDERS,
    SHOP,
    SYSTEM,
    Brand,
    BrandLike,
    Customer,
    CustomerEmail,
    EmailTaken,
    FrontPage,
    Issue,
    Offer,
    Project,
)


@everywhere(SYSTEM)
def test_a_unique_value_belongs_to_one() -> Steps[object]:
    al = yield from create(Customer(username="al", email="A@x.org", city="Omaha"))
    taken = create(Customer(username="bo", email="a@X.org"))
    assert (yield from refusal(taken)) == EmailTaken.code
    assert (yield from get(Customer.key("bo"))) is None
    bo = yield from create(Customer(username="bo", email="b@x.org"))
    assert (yield from EMAILS.find("b@x.org")) == bo
    assert (yield from refusal(update(bo, email="a@x.org"))) == EmailTaken.code
    # By its key, it has to read the e-mail that it gives up.
    moved = yield from update(Customer.key("al"), email="c@x.org")
    assert (yield from EMAILS.find("a@x.org")) is None
    assert (yield from EMAILS.find("c@x.org")) == moved
    yield from update(bo, email="a@x.org")
    yield from delete(Customer.key("bo"))
    assert (yield from EMAILS.find("a@x.org")) is None
    yield from create(Customer(username="cy", email="a@x.org"))
    assert (yield from verify(SYSTEM)) == []
    return al, moved


@everywhere(SYSTEM)
def test_a_unique_value_may_be_given_up_and_is_kept_in_transactions() -> Steps[object]:
    al = yield from create(Customer(username="al", email="a@x.org"))
    none = yield from update(al, email=None)
    assert none.email is None
    both = transact(
        create(Customer(username="bo", email="b@x.org")),
        create(Customer(username="cy", email="a@x.org")),
    )
    yield from both
    clash = transact(
        create(Customer(username="di", email="d@x.org")), update(none, email="b@x.org")
    )
    assert (yield from refusal(clash)) == EmailTaken.code
    assert (yield from EMAILS.find("d@x.org")) is None
    assert (yield from verify(SYSTEM)) == []
    return none


@everywhere(SYSTEM)
def test_what_refers_to_an_item_is_counted() -> Steps[object]:
    yield from create(Brand(brand="X"))
    yield from create(Brand(brand="Y"))
    like = yield from create(BrandLike(brand="X", username="al"))
    assert (yield from refusal(create(like))) == "item-exists"
    yield from create(BrandLike(brand="X", username="bo"))
    assert (yield from refusal(create(BrandLike(brand="Z", username="al")))) == "unknown-brand"
    offer = yield from create(Offer(offer_id="o", maker="X"))
    moved = yield from update(offer, maker="Y")
    yield from delete(like)
    assert (yield from delete(BrandLike.key("X", "nobody"))) is None
    counts = yield from get_together(Brand.key("X"), Brand.key("Y"))
    assert [(count.like_count, count.offer_count) for count in counts if count] == [(1, 0), (0, 1)]
    yield from delete(moved.own_key())
    hidden = yield from get(Brand.key("Y"))
    assert hidden is not None and hidden.offer_count == 0
    yield from restore(moved.own_key())
    assert (yield from verify(SYSTEM)) == []
    return counts, (yield from get(Brand.key("Y")))


@everywhere(SYSTEM)
def test_a_count_is_written_by_nobody_else() -> Steps[object]:
    brand = yield from create(Brand(brand="X"))
    with pytest.raises(DesignError, match="like_count"):
        yield from update(brand, like_count=9)
    for write in (put, replace):
        with pytest.raises(DesignError, match="nothing is known"):
            yield from write(brand)
    return (yield from get(Brand.key("X")))


@everywhere(SYSTEM)
def test_a_sequence_gives_out_each_number_once() -> Steps[object]:
    assert (yield from refusal(ISSUES.next("p"))) == "unknown-project"
    yield from create(Project(project="p"))
    yield from create(Project(project="q"))
    given = [(yield from ISSUES.next("p")), (yield from ISSUES.next("p"))]
    given += yield from ISSUES.take(3, "p")
    given.append((yield from ISSUES.next("q")))
    assert given == [1, 2, 3, 4, 5, 1]
    assert (yield from ISSUES.next_id("p")) == "00006"
    assert [(yield from ORDERS.next()), (yield from ORDERS.next())] == [1, 2]
    return given


@everywhere(SYSTEM)
def test_a_singleton_is_its_defaults_until_it_is_stored() -> Steps[object]:
    assert (yield from FRONT_PAGE.get()) == FrontPage()
    changed = yield from FRONT_PAGE.update(title="Hot today", deal_ids=["a", "b"])
    assert changed == FrontPage(title="Hot today", deal_ids=["a", "b"])
    assert (yield from FRONT_PAGE.get(consistent=True)) == changed
    return changed


def break_item(key: Key[Any], **attributes: AttributeValue | None) -> Steps[None]:
    """Changes an item past the kit."""
    response = yield Request("GetItem", {"TableName": SHOP.name, "Key": key.item})
    item: Item = {**response.get("Item", key.item)}
    for name, value in attributes.items():
        if value is None:
            item.pop(name, None)
        else:
            item[name] = value
    yield Request("PutItem", {"TableName": SHOP.name, "Item": item})


@everywhere(SYSTEM)
def test_what_is_broken_is_found_and_mended() -> Steps[object]:
    for entity in (
        Customer(username="al", email="a@x.org", city="Omaha"),
        Customer(username="bo", email="b@x.org"),
        Brand(brand="X"),
        BrandLike(brand="X", username="al"),
        Project(project="p", last_issue=7),
        Issue(project="p", number=7),
    ):
        yield from create(entity)
    assert (yield from verify(SYSTEM)) == []
    yield from break_item(Customer.key("al"), GSI1PK={"S": "CITY#Paris"})
    yield Request("DeleteItem", {"TableName": SHOP.name, "Key": CustomerEmail.key("b@x.org").item})
    yield from break_item(Brand.key("X"), LikeCount={"N": "5"})
    yield from break_item(Project.key("p"), LastIssue={"N": "3"})
    found = yield from verify(SYSTEM)
    sentences = sorted(each.sentence for each in found)
    assert len(sentences) == 4
    for violation in found:
        yield from repair(violation)
    assert (yield from verify(SYSTEM)) == []
    brand = yield from get(Brand.key("X"))
    assert brand is not None and brand.like_count == 1
    bo = yield from EMAILS.find("b@x.org")
    assert bo is not None and bo.username == "bo"
    assert (yield from ISSUES.next("p")) == 8
    return sentences


@everywhere(SYSTEM)
def test_nothing_is_mended_that_has_changed_meanwhile() -> Steps[object]:
    yield from create(Customer(username="al", city="Omaha"))
    yield from break_item(Customer.key("al"), GSI1PK={"S": "CITY#Paris"})
    (violation,) = yield from verify(SYSTEM)
    yield from update(Customer.key("al"), city="Rome")
    assert (yield from refusal(repair(violation))) == "conflict"
    assert (yield from verify(SYSTEM)) == []
    return violation.sentence
