"""Processes killed in the middle of checkouts: what was acknowledged is there, whole, and once."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import httpx
import pytest

from bigtime.model import Page, create, load_many, setup
from bigtime.site.checkout import check_out
from bigtime.site.priced_cart import view_cart
from bigtime.site.systems import SYSTEMS
from bigtime.store import Store, open_store
from bigtime.systems.accounts.design import Account
from bigtime.systems.accounts.password import NOBODY
from bigtime.systems.cart.design import CartLine, Status
from bigtime.systems.cart.line import put_in_cart, view_products
from bigtime.systems.sessions.design import hash_token
from bigtime.systems.sessions.session import create_session
from bigtime.web.http.cookies import FormTokens
from bigtime.wire import Steps
from tests.store.places import START
from tests.web.cart.scene import PRICE, SECRET, deal
from tests.web.checkout.killed import checkout_of
from tests.web.checkout.ordering import TYPED, check_whole, digest_of_lines, key, orders_of

AT_ONCE = 4
ROOT = Path(__file__).parents[3]
REQUESTS = {3: 9, 40: 15}
"""How many requests a checkout of so many products takes, at least."""


@contextmanager
def open_file(file: Path) -> Iterator[Store]:
    with open_store(f"file:{file}") as store:
        store.clock = lambda: START
        yield store


def fill_carts(file: Path, usernames: list[str], size: int) -> None:
    with open_file(file) as store:
        store.run(setup(*SYSTEMS))
        store.run(load_many([deal(number) for number in range(size)]))
        for username in usernames:
            for number in range(size):
                store.run(put_in_cart(username, deal(number).deal_id, PRICE))


@pytest.mark.proof
@pytest.mark.parametrize("size", REQUESTS)
def test_a_process_killed_at_any_request_loses_no_order_it_told_of(
    tmp_path: Path, size: int
) -> None:
    file = tmp_path / "shop.db"
    usernames = [f"user{number}" for number in range(REQUESTS[size] + 6)]
    fill_carts(file, usernames, size)
    told = killed_one_by_one(file, usernames)
    assert len(told) < len(usernames) - REQUESTS[size] + 1
    assert told, "none lived long enough to tell of its order"
    with open_file(file) as store:
        for username in usernames:
            check_after_a_kill(store, username, told.get(username), size)


def killed_one_by_one(file: Path, usernames: list[str]) -> dict[str, str]:
    """The orders that were told of before their process was killed."""
    command = [sys.executable, "-m", "tests.web.checkout.killed", str(file), *usernames]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, check=True)
    return dict(line.split() for line in done.stdout.splitlines())


def check_after_a_kill(store: Store, username: str, told: str | None, size: int) -> None:
    """All of the order is there, or nothing; to send the same page again makes one order."""
    asked = checkout_of(store, username)
    cart = store.run(view_cart(username))
    orders = store.run(orders_of(username))
    assert len(cart.lines) == (0 if orders else size)
    if told is not None:
        assert [order.order_id for order in orders] == [told]
    if orders:
        check_whole(store.run, username)
    assert store.run(check_out(asked)) == asked.order_id
    assert [order.order_id for order in store.run(orders_of(username))] == [asked.order_id]
    check_whole(store.run, username)


# A server under load


@pytest.mark.proof
def test_a_server_killed_under_load_loses_no_order_it_acknowledged(tmp_path: Path) -> None:
    file, usernames = tmp_path / "shop.db", [f"user{number}" for number in range(24)]
    fill_carts(file, usernames, 30)
    with open_file(file) as store:
        store.clock = lambda: datetime.now(UTC)
        for username in usernames:
            sign_in(store, username)
        marks = {
            username: digest_of_lines(store.run(lines_of(username)).items) for username in usernames
        }
    told = asyncio.run(checked_out_and_killed(file, marks, after=8))
    assert 8 <= len(told) <= 8 + AT_ONCE
    with open_file(file) as store:
        for username in usernames:
            orders = [str(order.order_id) for order in store.run(orders_of(username))]
            store.run(view_cart(username))
            check_whole(store.run, username)
            if username in told:
                assert orders == [told[username]]


def lines_of(username: str) -> Steps[Page[CartLine]]:
    return view_products(username, Status.ACTIVE, limit=1_000)


def sign_in(store: Store, username: str) -> None:
    login = f"{username}@example.com"
    account = Account(login=login, password_hash=NOBODY, username=username, confirmed_at=START)
    store.run(create(account))
    store.run(create_session(hash_token(cookie_of(username)), login))


def cookie_of(username: str) -> str:
    return sha256(username.encode()).hexdigest()


async def checked_out_and_killed(
    file: Path, marks: dict[str, str], *, after: int
) -> dict[str, str]:
    """The orders that a server acknowledged before it was killed, with others under way."""
    told: dict[str, str] = {}
    enough, at_once = asyncio.Event(), asyncio.Semaphore(AT_ONCE)
    with serve_file(file) as (process, port):
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:

            async def check_out_one(username: str) -> None:
                cookie = {"cookie": f"session={cookie_of(username)}"}
                fields = form_of(username, marks[username])
                async with at_once:
                    answer = await client.post("/checkout", data=fields, headers=cookie)
                told[username] = answer.headers["location"].split("/")[2].split("?")[0]
                if len(told) >= after:
                    enough.set()

            under_way = [asyncio.create_task(check_out_one(mark)) for mark in marks]
            await asyncio.wait_for(enough.wait(), 60)
            process.kill()
            await asyncio.gather(*under_way, return_exceptions=True)
    return told


def form_of(username: str, mark: str) -> dict[str, str]:
    token = FormTokens(SECRET.encode()).token(cookie_of(username))
    return {"form_token": token, "key": key(1, datetime.now(UTC)), "reviewed": mark, **TYPED}


@contextmanager
def serve_file(file: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    command = [sys.executable, "-m", "tests.web.checkout.served", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            yield process, int(process.stdout.readline())
        finally:
            process.kill()
