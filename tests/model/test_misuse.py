"""What is called wrongly says what to do, and asks nothing of the database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bigtime.model import (
    DesignError,
    collection,
    delete_many,
    explain,
    get,
    get_many,
    get_together,
    load_many,
    measure,
    partition,
    put,
    put_many,
    together,
    transact,
)
from bigtime.model.op import Steps
from bigtime.store import Store
from bigtime.wire import Request, Response
from tests.model.deals import Brand, like_brand

ANYTHING: Any = "A"
ANYTHINGS: Any = ["A"]
A_BRAND: Any = Brand(brand="APPLE")


def unasked(request: Request) -> Response:
    raise AssertionError(f"{request} was sent")


def run(steps: Any) -> Any:
    return Store(unasked).run(steps)


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
    ],
)
def test_an_operation_of_the_wrong_thing(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(DesignError, match=said):
        call()


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
