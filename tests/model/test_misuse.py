"""What is called wrongly says what to do, and asks nothing of the database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bigtime.advisor import chart, check_system, diff, explain, measure
from bigtime.model import (
    DesignError,
    add,
    all_of,
    attr,
    buckets,
    check,
    collection,
    count,
    create,
    delete,
    delete_many,
    erase,
    get,
    get_many,
    get_together,
    load_many,
    merge,
    newest_first,
    oldest_first,
    partition,
    put,
    put_many,
    query,
    replace,
    restore,
    scan,
    together,
    transact,
    update,
    verify,
)
from bigtime.store import Store
from bigtime.wire import Request, Response
from bigtime.wire.requests import Steps
from tests.model.deals import Brand, Deal, like_brand
from tests.model.designs import NOON

ANYTHING: Any = "A"
ANYTHINGS: Any = ["A"]
A_BRAND: Any = Brand(brand="APPLE")
A_CLASS: Any = Brand
A_TABLE: Any = Brand.layout.table


def refuse_request(request: Request) -> Response:
    raise AssertionError(f"{request} was sent")


def run(steps: Any) -> Any:
    return Store(refuse_request).run(steps)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (transact, r"say what, as in transact\(put\(\.\.\.\)\)"),
        (lambda: transact(ANYTHING), "'A' is none: run it by itself"),
        (lambda: transact(*[put(A_BRAND)] * 101), "up to 100 actions, not 101; split it"),
        (
            lambda: collection(within=partition(Brand, "main", brand="APPLE")),
            r"name them, as in collection\(Customer, Order, within=\.\.\.\)",
        ),
        (lambda: get(ANYTHING), r"takes a key, not 'A'; make one .* as in Brand\.key\('APPLE'\)"),
        (lambda: get(A_BRAND), r"not a whole Brand; say \.own_key\(\) of it"),
        (get_together, r"1 to 100 keys, not 0; get_many\(\) takes any number"),
        (lambda: get_together(*[Brand.key("A")] * 101), "1 to 100 keys, not 101"),
        (lambda: get_together(ANYTHING), r"get_together\(\) takes a key, not 'A'"),
        (lambda: run(get_many(ANYTHINGS)), r"get_many\(\) takes a key, not 'A'"),
        (lambda: run(delete_many([A_BRAND])), r"delete_many\(\) takes a key, not a whole Brand"),
        (lambda: run(put_many(ANYTHINGS)), r"as in put_many\(\[one, other\]\); 'A' is none"),
        (lambda: run(put_many(A_BRAND)), r"put_many\(\) takes entities"),
        (lambda: run(load_many(ANYTHINGS)), r"load_many\(\) takes entities"),
        (lambda: put(ANYTHING), r"put\(\) takes an entity, not 'A'; make one, as in Brand\("),
        (lambda: put(A_CLASS), r"put\(\) takes an entity, not <class .*Brand"),
        (lambda: create(ANYTHING), r"create\(\) takes an entity, not 'A'"),
        (lambda: replace(ANYTHING), r"put\(\) takes an entity, not 'A'"),
        (lambda: update(ANYTHING, like_count=1), r"update\(\) takes a key or an entity, not 'A'"),
        (lambda: add(ANYTHING, like_count=1), r"update\(\) takes a key or an entity, not 'A'"),
        (lambda: delete(ANYTHING), r"delete\(\) takes a key or an entity, not 'A'; make a key"),
        (lambda: erase(ANYTHING), r"erase\(\) takes a key or an entity, not 'A'"),
        (lambda: restore(ANYTHING), r"restore\(\) takes a key or an entity, not 'A'"),
        (lambda: check(ANYTHING, if_exists=True), r"check\(\) takes a key, not 'A'"),
        (lambda: query(A_CLASS), r"query\(\) takes a stretch.*as in Brand\.within\("),
        (lambda: run(all_of(ANYTHING)), r"query\(\) takes a stretch.*not 'A'"),
        (lambda: run(count(ANYTHING)), r"count\(\) takes a stretch"),
        (lambda: merge(ANYTHING, limit=1), r"merge\(\) takes a stretch"),
        (lambda: collection(Brand, within=ANYTHING), r"collection\(\) takes a stretch"),
        (lambda: run(verify(A_TABLE)), r"verify\(\) takes a system, not Table.*as in System\("),
        (lambda: run(diff(A_TABLE)), r"diff\(\) takes a system"),
        (lambda: chart(A_TABLE), r"chart\(\) takes a system"),
        (lambda: check_system(A_TABLE), r"check_system\(\) takes a system"),
    ],
)
def test_an_operation_of_the_wrong_thing(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(DesignError, match=said):
        call()


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "5", True])
def test_a_number_that_is_none(wrong: Any) -> None:
    brand = Brand.within("main", brand="APPLE")
    for make in (
        lambda: query(brand, limit=wrong),
        lambda: query(brand, patience=wrong),
        lambda: scan(Brand, limit=wrong),
        lambda: collection(Brand, within=brand, patience=wrong),
        lambda: run(newest_first(buckets(Deal, "GSI1"), limit=wrong)),
        lambda: run(oldest_first(buckets(Deal, "GSI1"), since=NOON, limit=wrong)),
        lambda: run(merge(brand, limit=wrong)),
    ):
        with pytest.raises(DesignError, match=f"(limit|patience) is .* at least 1, not {wrong!r}"):
            make()


@pytest.mark.parametrize("wrong", ["title = 'x'", True, attr("like_count")])
def test_a_condition_that_is_none(wrong: Any) -> None:
    brand = Brand.within("main", brand="APPLE")
    for make in (
        lambda: query(brand, filter=wrong),
        lambda: scan(Brand, filter=wrong),
        lambda: put(A_BRAND, when=wrong),
        lambda: update(Brand.key("APPLE"), like_count=1, when=wrong),
        lambda: delete(Brand.key("APPLE"), when=wrong),
        lambda: check(Brand.key("APPLE"), when=wrong),
        lambda: (attr("like_count") == 1) & wrong,
        lambda: (attr("like_count") == 1) | wrong,
    ):
        with pytest.raises(DesignError, match=r"is no condition; one looks like attr\('total'\) >"):
            make()


@pytest.mark.parametrize("wrong", ["taken", 5, object])
def test_an_error_that_is_none(wrong: Any) -> None:
    for make in (
        lambda: get(Brand.key("APPLE"), missing=wrong),
        lambda: create(A_BRAND, unless_exists=wrong),
        lambda: put(A_BRAND, if_exists=wrong),
        lambda: put(A_BRAND, when=attr("like_count") == 1, otherwise=wrong),
        lambda: delete(Brand.key("APPLE"), if_exists=wrong),
    ):
        with pytest.raises(DesignError, match="is no error; name a class of yours, as in"):
            make()


def plain() -> Steps[None]:
    yield from get(Brand.key("APPLE"))


@pytest.mark.parametrize(
    "runs", [run, explain, lambda it: run(measure(it)), lambda it: run(both(it))]
)
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (like_brand, r"like_brand was not called: run what it returns, like_brand\(\.\.\.\)"),
        (plain, "plain was not called"),
        (get, "get was not called"),
        ("x", "'x' has no steps to run; run an operation"),
        ([get(Brand.key("APPLE"))], r"several of them with together\(\.\.\.\)"),
        (iter([1]), "has no steps to run"),
    ],
    ids=["pattern", "function", "operation", "text", "list", "iterator"],
)
def test_what_is_run_without_being_steps(runs: Callable[[Any], Any], given: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        runs(given)


def both(given: Any) -> Steps[Any]:
    return (yield from together(plain(), given))


def test_steps_that_were_explained_are_over() -> None:
    steps = like_brand("APPLE", "alex")
    explain(steps)
    with pytest.raises(TypeError, match="like_brand have been run, and run only once; call it"):
        run(steps)
