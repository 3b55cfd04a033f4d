"""Verify finds what is broken, and only that; repair mends it, over nobody's head."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.model.errors import Conflict
from bigtime.model.invariants.audit import CannotMend, Violation
from bigtime.model.operations.delete import delete
from bigtime.model.operations.get import get
from bigtime.model.operations.put import create
from bigtime.model.operations.update import update
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.keys import Key
from bigtime.model.verification import repair, verify
from bigtime.wire import AttributeValue, Item, Request
from tests.model.invariants import (
    ISSUES,
    SHOP,
    SYSTEM,
    Brand,
    BrandLike,
    Customer,
    CustomerEmail,
    Issue,
    Offer,
    Project,
)
from tests.model.world import World, check_indexes

TABLES = [SHOP]


@pytest.fixture(autouse=True)
def _some_of_everything(world: World) -> None:
    for entity in (
        Customer(username="al", email="a@b.c", city="Omaha"),
        Customer(username="bo", email="b@b.c"),
        Customer(username="cy"),
        Brand(brand="X"),
        Brand(brand="Y"),
        BrandLike(brand="X", username="al"),
        BrandLike(brand="X", username="bo"),
        Offer(offer_id="o", maker="Y"),
        Project(project="p", last_issue=7),
        Issue(project="p", number=7),
    ):
        world.run(create(entity))
    assert world.run(verify(SYSTEM)) == []


def break_item(world: World, key: Key[Any], **attributes: AttributeValue | None) -> None:
    """Changes attributes of an item past the kit."""
    response = world.engine(Request("GetItem", {"TableName": SHOP.name, "Key": key.item}))
    item: Item = {**response.get("Item", key.item)}
    for name, value in attributes.items():
        if value is None:
            item.pop(name, None)
        else:
            item[name] = value
    world.put(SHOP, item)


def remove_item(world: World, key: Key[Any]) -> None:
    world.engine(Request("DeleteItem", {"TableName": SHOP.name, "Key": key.item}))


def store_entity(world: World, entity: Entity) -> None:
    world.put(SHOP, entity.layout.to_item(entity))


def find_violation(world: World) -> Violation:
    (violation,) = world.run(verify(SYSTEM))
    return violation


def mend(world: World) -> None:
    world.run(repair(find_violation(world)))
    assert world.run(verify(SYSTEM)) == []
    check_indexes(world, SHOP)


# Keys


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"GSI1PK": {"S": "CITY#Paris"}}, "GSI1PK is {'S': 'CITY#Paris'}, not {'S': 'CITY#Omaha'}"),
        ({"GSI1PK": None}, "GSI1PK is None, not {'S': 'CITY#Omaha'}"),
        ({"GSI1PK": None, "GSI1SK": None}, "GSI1SK is None"),
        ({"City": None}, "GSI1PK is {'S': 'CITY#Omaha'}, not None"),
        ({"Type": None}, "Type is None, not {'S': 'Customer'}"),
    ],
)
def test_a_key_that_is_not_what_its_fields_make(
    world: World, attributes: dict[str, Any], words: str
) -> None:
    break_item(world, Customer.key("al"), **attributes)
    violation = find_violation(world)
    assert words in violation.sentence
    assert str(violation).startswith("Shop {'PK': {'S': 'CUSTOMER#al'}")
    mend(world)


def test_a_key_in_an_index_where_its_entity_is_not(world: World) -> None:
    break_item(world, Brand.key("X"), GSI1PK={"S": "CITY#X"}, GSI1SK={"S": "x"})
    mend(world)


def test_a_key_is_not_mended_over_what_has_changed(world: World) -> None:
    break_item(world, Customer.key("al"), GSI1PK={"S": "CITY#Paris"})
    violation = find_violation(world)
    world.run(update(Customer.key("al"), city="Rome"))
    with pytest.raises(Conflict):
        world.run(repair(violation))
    assert world.run(verify(SYSTEM)) == []
    break_item(world, Customer.key("al"), GSI1PK={"S": "CITY#Paris"})
    violation = find_violation(world)
    world.run(delete(Customer.key("al")))
    with pytest.raises(Conflict):
        world.run(repair(violation))
    assert world.run(get(Customer.key("al"))) is None


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"Brand": {"S": "Z"}}, "should be at {'PK': {'S': 'BRAND#Z'}, 'SK': {'S': 'BRAND#Z'}}"),
        ({"Title": {"N": "5"}}, "cannot be read: Brand at {'PK': {'S': 'BRAND#Y'}"),
        (
            {"Type": {"S": "Robot"}},
            "cannot be read: it is of no entity of the table: its Type is 'Robot';"
            ' if it is Brand, which was renamed, declare was="Robot" on that class',
        ),
        (
            {"Type": {"S": "Robot"}, "Brand": {"S": "Z"}},
            "its Type is 'Robot'; if a class had that name, declare was=\"Robot\"",
        ),
        ({"Type": {"N": "1"}}, "cannot be read: it is of no entity of the table"),
    ],
)
def test_what_a_person_must_decide(world: World, attributes: dict[str, Any], words: str) -> None:
    world.run(delete(Offer.key("o")))
    break_item(world, Brand.key("Y"), **attributes)
    violations = world.run(verify(SYSTEM))
    assert words in violations[0].sentence
    with pytest.raises(CannotMend):
        world.run(repair(violations[0]))


@pytest.mark.parametrize(
    ("key", "attributes"),
    [
        (Customer.key("al"), {"City": {"N": "5"}}),
        (CustomerEmail.key("a@b.c"), {"Username": {"N": "5"}}),
        (Brand.key("X"), {"Title": {"N": "5"}}),
        (BrandLike.key("X", "al"), {"Username": {"N": "5"}}),
        (Project.key("p"), {"LastIssue": {"S": "five"}}),
        (Issue.key("p", 7), {"Number": {"S": "seven"}}),
    ],
    ids=["owner", "marker", "parent", "child", "counter", "numbered"],
)
def test_what_cannot_be_read_is_told_with_all_else_that_is_wrong(
    world: World, key: Key[Any], attributes: dict[str, Any]
) -> None:
    break_item(world, key, **attributes)
    break_item(world, Brand.key("Y"), GSI1PK={"S": "x"})
    sentences = [violation.sentence for violation in world.run(verify(SYSTEM))]
    assert "cannot be read" in sentences[0] or "cannot be read" in sentences[1]
    assert any("GSI1PK is {'S': 'x'}, not None" in sentence for sentence in sentences)


# Unique values


def test_a_value_without_a_marker(world: World) -> None:
    remove_item(world, CustomerEmail.key("a@b.c"))
    assert find_violation(world).sentence == (
        "has Customer.email = 'a@b.c', whose CustomerEmail belongs to nobody"
    )
    mend(world)
    assert world.run(get(CustomerEmail.key("a@b.c"))) is not None


def test_a_marker_without_an_owner(world: World) -> None:
    store_entity(world, CustomerEmail(email="x@y.z", username="nobody"))
    assert find_violation(world).sentence == (
        "keeps a value for Customer.key(username='nobody'), which has it not"
    )
    mend(world)
    store_entity(world, CustomerEmail(email="x@y.z", username="al"))
    mend(world)


def test_a_value_that_two_have(world: World) -> None:
    break_item(world, Customer.key("cy"), Email={"S": "a@b.c"})
    violation = find_violation(world)
    assert violation.sentence == (
        "has Customer.email = 'a@b.c', whose CustomerEmail belongs to Customer.key(username='al')"
    )
    with pytest.raises(CannotMend):
        world.run(repair(violation))


def test_an_owner_that_changed_past_its_marker(world: World) -> None:
    break_item(world, Customer.key("al"), Email={"S": "new@b.c"})
    missing, stray = sorted(world.run(verify(SYSTEM)), key=lambda one: type(one).__name__)
    world.run(repair(missing))
    world.run(repair(stray))
    assert world.run(verify(SYSTEM)) == []
    assert world.run(get(CustomerEmail.key("a@b.c"))) is None


def test_a_marker_is_not_mended_over_what_has_changed(world: World) -> None:
    remove_item(world, CustomerEmail.key("a@b.c"))
    missing = find_violation(world)
    world.run(update(Customer.key("al"), email="z@b.c"))
    with pytest.raises(Conflict):
        world.run(repair(missing))
    assert world.run(get(CustomerEmail.key("a@b.c"))) is None

    store_entity(world, CustomerEmail(email="x@y.z", username="al"))
    stray = find_violation(world)
    remove_item(world, CustomerEmail.key("x@y.z"))
    world.run(update(Customer.key("al"), email="x@y.z"))
    with pytest.raises(Conflict):
        world.run(repair(stray))
    assert world.run(verify(SYSTEM)) == []


def test_a_change_while_it_looks_is_no_violation(world: World) -> None:
    world.meanwhile("BatchGetItem", update(Customer.key("al"), email="z@b.c"))
    assert world.run(verify(SYSTEM)) == []


# Counts


@pytest.mark.parametrize("wrong", [{"N": "5"}, {"N": "-1"}, None])
def test_a_count_that_is_wrong(world: World, wrong: AttributeValue | None) -> None:
    break_item(world, Brand.key("X"), LikeCount=wrong)
    assert find_violation(world).sentence.endswith("and the number of BrandLike is 2")
    mend(world)
    brand = world.run(get(Brand.key("X")))
    assert brand is not None and brand.like_count == 2


def test_a_reference_written_past_the_kit(world: World) -> None:
    store_entity(world, BrandLike(brand="X", username="di"))
    mend(world)
    store_entity(world, Offer(offer_id="n", maker="X"))
    mend(world)


def test_a_count_is_not_mended_over_what_has_changed(world: World) -> None:
    break_item(world, Brand.key("X"), LikeCount={"N": "5"})
    violation = find_violation(world)
    world.run(create(BrandLike(brand="X", username="cy")))
    with pytest.raises(Conflict):
        world.run(repair(violation))
    mend(world)


def test_a_count_that_moves_while_it_is_looked_at_is_not_told(world: World) -> None:
    break_item(world, Brand.key("X"), LikeCount={"N": "5"})
    break_item(world, Brand.key("Y"), LikeCount={"N": "5"})
    scans = 0

    def like_while_it_counts_again(request: Request) -> None:
        nonlocal scans
        scans += request.operation == "Scan"
        if scans == 2:
            World(world.engine).run(create(BrandLike(brand="X", username="cy")))
        else:
            world.before = like_while_it_counts_again

    world.before = like_while_it_counts_again
    told = world.run(verify(SYSTEM))
    assert [each.key["PK"] for each in told] == [{"S": "BRAND#Y"}]
    assert len(world.run(verify(SYSTEM))) == 2


# Sequences


def test_a_sequence_that_is_behind(world: World) -> None:
    break_item(world, Project.key("p"), LastIssue={"N": "3"})
    assert find_violation(world).sentence == "last_issue is 3, and 7 is in use"
    mend(world)
    assert world.run(ISSUES.next("p")) == 8


def test_a_sequence_is_never_set_back(world: World) -> None:
    break_item(world, Project.key("p"), LastIssue={"N": "3"})
    violation = find_violation(world)
    world.run(ISSUES.take(10, "p"))
    with pytest.raises(Conflict):
        world.run(repair(violation))
    assert world.run(ISSUES.next("p")) == 14


def test_several_things_at_once(world: World) -> None:
    break_item(world, Brand.key("X"), LikeCount={"N": "9"}, GSI1PK={"S": "x"})
    remove_item(world, CustomerEmail.key("b@b.c"))
    break_item(world, Project.key("p"), LastIssue={"N": "1"})
    violations = world.run(verify(SYSTEM))
    assert len(violations) == 4
    for violation in violations:
        world.run(repair(violation))
    assert world.run(verify(SYSTEM)) == []
