"""What holds when several write at once: threads on one engine, processes on one file."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier, Thread
from typing import TypeVar

import pytest

from bigtime.engine import Engine
from bigtime.model import Conflict, DomainError, setup, verify
from bigtime.store import Store, consume, open_store
from bigtime.systems.portal import SYSTEM
from bigtime.systems.portal.design import Audited, Purpose
from bigtime.systems.portal.orders import list_orders, make_order_id, place_order
from bigtime.systems.portal.products import log_price_changes, soft_delete_product, update_product
from bigtime.systems.portal.records import audit_log
from bigtime.systems.portal.registration import (
    issue_code,
    suspend_tenant,
    update_tenant_status,
    validate_tenant,
)
from bigtime.systems.portal.tenants import (
    create_tenant,
    get_tenant,
    list_tenants,
    tenant_at_checkout,
    update_tenant,
)
from bigtime.systems.portal.values import Status
from bigtime.systems.portal.verification import verify_audit
from bigtime.wire import Steps
from tests.systems.portal.scenes import (
    ADMIN,
    EMAIL,
    contents,
    new_campaign,
    new_product,
    new_tenant,
)

T = TypeVar("T")

ROOT = Path(__file__).parents[3]
THREADS = 6


@pytest.fixture
def store(engine: Engine) -> Store:
    store = Store(engine)
    store.run(setup(SYSTEM))
    return store


def at_once(store: Store, make: Callable[[int], Steps[T]], threads: int = THREADS) -> list[T | str]:
    """Runs steps in threads that start together; what each gave, or the code of its error."""
    ready = Barrier(threads)

    def run(number: int) -> T | str:
        ready.wait()
        try:
            return store.run(make(number))
        except DomainError as error:
            return error.code

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(threads)))


def sound(store: Store) -> bool:
    return store.run(verify(SYSTEM)) == [] and store.run(verify_audit()) == []


def test_checkouts_at_once_with_one_email_make_one_tenant(store: Store) -> None:
    """Deciding test 3, with threads."""
    for number in range(5):
        email = f"t{number}@example.com"
        spellings = (email, email.upper(), f" {email}")
        found = at_once(store, lambda n, s=spellings: tenant_at_checkout(s[n % 3]))  # type: ignore[misc]
        assert len({each if isinstance(each, str) else each.id for each in found}) == 1
    assert len(store.run(list_tenants())) == 5
    assert sound(store)


def test_one_of_several_admins_creates_the_tenant(store: Store) -> None:
    outcomes = at_once(store, lambda number: create_tenant(EMAIL, f"Org {number}", by=ADMIN))
    assert [outcome for outcome in outcomes if isinstance(outcome, str)] == ["email-taken"] * (
        THREADS - 1
    )
    assert sound(store)


def test_a_status_that_several_have_seen_moves_once(store: Store) -> None:
    tenant = new_tenant(store)
    outcomes = at_once(
        store,
        lambda number: update_tenant_status(
            tenant.id, Status.VALIDATED, by=f"admin{number}", expected=Status.UNVALIDATED
        ),
    )
    assert Counter(outcome for outcome in outcomes if isinstance(outcome, str)) == {
        "status-moved": THREADS - 1
    }
    assert len(store.run(audit_log(Audited.TENANTS, tenant.id))) == 2
    assert sound(store)


def test_a_code_sent_once_validates_once(store: Store) -> None:
    tenant = new_tenant(store)
    code = store.run(issue_code(Purpose.VALIDATE, tenant.id))
    outcomes = at_once(store, lambda number: validate_tenant(tenant.id, code), 4)
    assert len([outcome for outcome in outcomes if not isinstance(outcome, str)]) == 1
    assert {outcome for outcome in outcomes if isinstance(outcome, str)} <= {
        "code-used",
        "move-refused",
    }
    assert sound(store)


def test_many_guesses_at_once_are_five(store: Store) -> None:
    tenant = new_tenant(store)
    code = int(store.run(issue_code(Purpose.VALIDATE, tenant.id)))
    outcomes = at_once(
        store, lambda number: validate_tenant(tenant.id, f"{(code + 1 + number) % 10**6:06}"), 12
    )
    assert Counter(outcomes) == {"code-wrong": 5, "code-spent": 7}
    assert store.run(get_tenant(tenant.id)).status == Status.UNVALIDATED


def test_changes_from_several_threads_are_all_in_the_chain(store: Store) -> None:
    tenant = new_tenant(store)

    def rename(number: int) -> Steps[None]:
        for time in range(6):
            while True:
                with suppress(Conflict):
                    told = {"organization_name": f"{number} {time}"}
                    yield from update_tenant(tenant.id, told, by=f"admin{number}")
                    break

    at_once(store, rename, 4)

    entries = store.run(audit_log(Audited.TENANTS, tenant.id, limit=100, newest_first=False)).items
    assert [entry.sequence for entry in entries] == [*range(1, 26)]
    assert Counter(entry.actor for entry in entries[1:]) == {f"admin{n}": 6 for n in range(4)}
    assert sound(store)


def test_repeated_orders_at_once_are_one_order(store: Store) -> None:
    tenant, product = new_tenant(store), new_product(store)
    order_id = store.run(make_order_id())
    found = at_once(
        store, lambda number: place_order(tenant.id, {product.id: 1}, order_id=order_id)
    )
    assert len({each if isinstance(each, str) else each.id for each in found}) == 1
    assert len(store.run(list_orders(tenant.id))) == 1
    assert sound(store)


def test_an_order_has_a_price_that_the_product_had(store: Store) -> None:
    """And none is made once the product is gone."""
    tenant, product = new_tenant(store), new_product(store, price="1.00")
    new_campaign(store, product.id, discount_percentage=50)

    def trade(number: int) -> Steps[None]:
        for price in range(2, 8):
            if number:
                yield from place_order(tenant.id, {product.id: 1}, "SUMMER2026")
            else:
                yield from update_product(product.id, {"price": price}, by=ADMIN)
        if not number:
            yield from soft_delete_product(product.id, by=ADMIN)

    at_once(store, trade, 3)

    for order in store.run(list_orders(tenant.id)):
        assert order.campaign is not None
        assert order.total * 2 == order.campaign.original_price
        assert order.campaign.original_price in range(1, 8)
    assert sound(store)


def test_a_suspended_tenant_has_no_order_made_after_it(store: Store) -> None:
    tenant, product = new_tenant(store), new_product(store)

    def act(number: int) -> Steps[None]:
        if number == 0:
            yield from suspend_tenant(tenant.id, "fraud", by=ADMIN)
        else:
            for _ in range(5):
                yield from place_order(tenant.id, {product.id: 1})

    outcomes = at_once(store, act, 3)
    assert {*outcomes} <= {None, "tenant-suspended"}
    before = len(store.run(list_orders(tenant.id)))
    assert at_once(store, act, 1) == [None]
    assert len(store.run(list_orders(tenant.id))) == before
    assert sound(store)


def test_two_consumers_at_once_tell_each_price_once(store: Store, engine: Engine) -> None:
    product = new_product(store)
    for price in range(1, 9):
        store.run(update_product(product.id, {"price": price}, by=ADMIN))

    def run(name: str) -> int:
        return consume(Store(engine), "products", log_price_changes.handle, name=name).run_once()

    with ThreadPoolExecutor(2) as pool:
        assert [*pool.map(run, ("one", "two"))] == [9, 9]
    entries = store.run(audit_log(Audited.PRICES, product.id, newest_first=False))
    assert [(entry.after or {})["price"] for entry in entries] == [*range(1, 9)]
    assert sound(store)


def test_verifying_while_others_write_finds_nothing(store: Store) -> None:
    tenant = new_tenant(store)
    stopped = False

    def write() -> None:
        number = 0
        while not stopped:
            number += 1
            store.run(update_tenant(tenant.id, {"organization_name": str(number)}, by=ADMIN))

    writer = Thread(target=write)
    writer.start()
    try:
        assert [store.run(verify_audit()) for _ in range(15)] == [[]] * 15
    finally:
        stopped = True
        writer.join()
    assert sound(store)


def test_processes_with_one_email_make_one_tenant(tmp_path: Path) -> None:
    """Deciding test 3, with processes: three check out the same four addresses at once.

    Then all of them change the first tenant, eight times each, and one of them validates it.
    """
    file = tmp_path / "portal.db"
    with open_store(f"file:{file}") as store:
        store.run(setup(SYSTEM))
        command = [sys.executable, "-m", "tests.systems.portal.racing", str(file)]
        racers = [
            subprocess.Popen(
                [*command, f"racer{number}", "4", "8"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=ROOT,
            )
            for number in range(3)
        ]
        for each in racers:
            assert each.stdout is not None and each.stdout.readline() == "ready\n"
        told = [racer.communicate("go\n", timeout=300)[0].split() for racer in racers]
        assert [racer.returncode for racer in racers] == [0, 0, 0]

        assert len({tuple(ids) for _, *ids in told}) == 1
        assert sum(int(validated) for validated, *_ in told) == 1
        assert len(store.run(list_tenants())) == 4
        entries = Counter(each["id"]["S"] for each in contents(store)["audit"])
        assert sorted(entries.values()) == [1, 1, 1, 1 + 1 + 3 * 8]
        assert sound(store)
