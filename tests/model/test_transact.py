"""Transactions: all or nothing, and the domain error of the action that failed."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.model.errors import Conflict, DesignError, DomainError, ItemMissing
from bigtime.model.operations.delete import check, delete
from bigtime.model.operations.get import get
from bigtime.model.operations.put import create, put
from bigtime.model.operations.transact import Transact, get_together, transact
from bigtime.model.operations.update import add, update
from bigtime.model.schema.condition import attr
from bigtime.model.schema.keys import Key
from bigtime.wire import IdempotentParameterMismatchException, Request, TransactionCanceledException
from bigtime.wire.requests import Steps
from tests.model.designs import BIG_TIME_DEALS, NOON, SHOP, Brand, BrandLike, Customer
from tests.model.portal import PORTAL, Product, TooDear
from tests.model.world import World, check_indexes

TABLES = [BIG_TIME_DEALS, SHOP, PORTAL]


class AlreadyLiked(DomainError):
    """You like this brand already."""


class NotLiked(DomainError):
    """You do not like this brand."""


class UnknownBrand(DomainError):
    """There is no such brand."""


def like(brand: str, username: str) -> Transact[Any]:
    return transact(
        put(BrandLike(brand=brand, username=username), unless_exists=AlreadyLiked),
        add(Brand.key(brand), like_count=1, if_exists=UnknownBrand),
    )


def unlike(brand: str, username: str) -> Transact[Any]:
    return transact(
        delete(BrandLike.key(brand, username), if_exists=NotLiked),
        add(Brand.key(brand), like_count=-1, if_exists=UnknownBrand),
    )


def likes(world: World) -> int:
    brand = world.run(get(Brand.key("X")))
    assert brand is not None
    return brand.like_count


def test_like_twice_counts_once(world: World) -> None:
    world.run(create(Brand(brand="X")))
    world.run(like("X", "al"))
    with pytest.raises(AlreadyLiked):
        world.run(like("X", "al"))
    world.run(like("X", "bo"))
    assert likes(world) == 2
    world.run(unlike("X", "al"))
    with pytest.raises(NotLiked):
        world.run(unlike("X", "al"))
    assert likes(world) == 1


def test_the_first_action_that_failed_says_what_is_raised(world: World) -> None:
    with pytest.raises(UnknownBrand):
        world.run(like("X", "al"))
    world.run(put(BrandLike(brand="X", username="al")))
    with pytest.raises(AlreadyLiked):
        world.run(like("X", "al"))
    assert len(world.items(BIG_TIME_DEALS)) == 1


def test_in_a_transaction_too_the_item_tells_which_condition_failed(world: World) -> None:
    def pay() -> Transact[Any]:
        return transact(
            update(
                Customer.key("al"),
                if_exists=UnknownBrand,
                when=attr("email") == "a@b.c",
                otherwise=TooDear,
                email="x@y.z",
            ),
            put(Brand(brand="X")),
        )

    with pytest.raises(UnknownBrand):
        world.run(pay())
    world.run(put(Customer(username="al", email="a@b.c")))
    world.run(pay())
    with pytest.raises(TooDear):
        world.run(pay())


def test_results_come_as_far_as_a_transaction_tells_them(world: World) -> None:
    brand = Brand(brand="X")
    made, changed, deleted, checked = world.run(
        transact(
            create(brand),
            update(Brand.key("Y"), upsert=True, like_count=4),
            delete(Brand.key("Z")),
            check(Brand.key("W"), unless_exists=True),
        )
    )
    assert (made, changed, deleted, checked) == (brand, None, None, None)


def test_times_and_versions_are_kept_in_transactions(world: World) -> None:
    (made,) = world.run(transact(create(Product(product_id="p"))))
    assert (made.created_at, made.updated_at, made.version) == (NOON, NOON, 1)
    world.later(hours=1)
    world.run(transact(update(made, owner="al")))
    with pytest.raises(Conflict):
        world.run(transact(update(made, owner="bo")))
    check_indexes(world, PORTAL)


def test_a_token_makes_a_transaction_happen_once(world: World) -> None:
    world.run(put(Brand(brand="X")))
    for _ in range(2):
        world.run(transact(add(Brand.key("X"), like_count=1), token="once"))
    assert likes(world) == 1
    with pytest.raises(IdempotentParameterMismatchException):
        world.run(transact(add(Brand.key("X"), like_count=2), token="once"))


def test_a_token_needs_the_same_time_each_time(world: World) -> None:
    with pytest.raises(DesignError, match=r"say it yourself: transact\(..., token=..., at=...\)"):
        world.run(transact(create(Product(product_id="p")), token="once"))
    for _ in range(2):
        world.later(hours=1)
        (made,) = world.run(transact(create(Product(product_id="p")), token="once", at=NOON))
        assert made.created_at == NOON


def test_how_many_actions_there_may_be() -> None:
    with pytest.raises(DesignError, match="a transaction does something; say what"):
        transact()
    many = [put(Brand(brand=f"{n}")) for n in range(101)]
    assert len(transact(*many[:100]).request().params["TransactItems"]) == 100
    with pytest.raises(DesignError, match="up to 100 actions, not 101; split it"):
        transact(*many)


def cancellation(*codes: str) -> TransactionCanceledException:
    return TransactionCanceledException([{"Code": code} for code in codes])


def test_a_conflict_between_transactions_is_a_conflict() -> None:
    failed = like("X", "al").failure(cancellation("None", "TransactionConflict"))
    assert isinstance(failed, Conflict)


def test_what_is_nobody_s_condition_is_raised_as_it_is(world: World) -> None:
    error = cancellation("None", "ValidationError")
    assert like("X", "al").failure(error) is error
    unsaid = TransactionCanceledException([])
    assert like("X", "al").failure(unsaid) is unsaid


@pytest.mark.parametrize(
    "writes",
    [
        (put(Brand(brand="X")), put(Brand(brand="X"))),
        (add(Brand.key("X"), like_count=1), check(Brand.key("X"), if_exists=True)),
        (delete(BrandLike.key("X", "al")), put(BrandLike(brand="X", username="al"))),
    ],
)
def test_an_item_has_one_action(world: World, writes: Any) -> None:
    with pytest.raises(DesignError, match="one action for each item, and here two are of Brand"):
        world.run(transact(*writes))
    assert world.operations() == []


def test_the_domain_error_keeps_the_cause(world: World) -> None:
    with pytest.raises(UnknownBrand) as caught:
        world.run(like("X", "al"))
    assert isinstance(caught.value.__cause__, TransactionCanceledException)
    assert caught.value.code == "unknown-brand"
    assert str(caught.value) == "There is no such brand."


# Reading


def test_items_of_one_moment(world: World) -> None:
    world.run(put(Brand(brand="X")))
    world.run(put(Customer(username="al", email="a@b.c")))
    found = world.run(get_together(Brand.key("X"), Customer.key("al"), Brand.key("Y")))
    assert found == (Brand(brand="X"), Customer(username="al", email="a@b.c"), None)
    assert world.operations()[-1] == "TransactGetItems"


def test_an_item_may_be_asked_for_twice(world: World) -> None:
    world.run(put(Brand(brand="X")))
    found = world.run(get_together(Brand.key("X"), Brand.key("Y"), Brand.key("X")))
    assert found == (Brand(brand="X"), None, Brand(brand="X"))


def test_reading_amid_a_transaction_is_a_conflict() -> None:
    failed = get_together(Brand.key("X")).failure(cancellation("TransactionConflict"))
    assert isinstance(failed, Conflict)


def test_how_many_items_may_be_read() -> None:
    keys: list[Key[Any]] = [Brand.key(f"{n}") for n in range(101)]
    for wrong in ([], keys):
        with pytest.raises(DesignError, match="takes 1 to 100 keys"):
            get_together(*wrong)


def test_a_transaction_is_a_part_of_steps(world: World) -> None:
    def steps() -> Steps[int]:
        yield from like("X", "al")
        return 1

    with pytest.raises(UnknownBrand):
        world.run(steps())
    world.run(put(Brand(brand="X")))
    assert world.run(steps()) == 1
    with pytest.raises(ItemMissing):
        world.run(transact(add(Brand.key("Y"), like_count=1)))


def test_a_transaction_says_what_it_would_ask() -> None:
    request = like("X", "al").request()
    assert isinstance(request, Request)
    assert [list(transact_item) for transact_item in request.params["TransactItems"]] == [
        ["Put"],
        ["Update"],
    ]
    assert request.params["TransactItems"][1]["Update"]["UpdateExpression"] == "ADD #n0 :v0"
