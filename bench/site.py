"""The site: its server's CPU time per response, for hot pages and all others, and freshness."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from bench.figure import Bar, Figure
from bench.scale import Scale
from bench.server import Client, Server, free_port, run_server
from bench.site_calls import like_calls
from bench.site_changes import Changes
from bench.site_making import measure_making
from bench.site_pages import cost, made_each_time
from bench.site_scene import (
    SHOPPER,
    Read,
    first,
    furnish,
    get_request,
    kept_pages,
    make_customer,
    own_pages,
    wait_for_worker,
)
from bigtime.engine import Engine
from bigtime.site.demo import demo_logins
from bigtime.store import Store
from bigtime.systems.deals.deals import update_deal
from bigtime.systems.deals.values import deal_id_of

HOT: Final = {"deal": 120.0, "front page": 150.0}
START_SECONDS: Final = 120


def measure(scale: Scale, folder: Path) -> Iterator[Figure]:
    port = free_port()
    file = folder / "site.db"
    store = f"file:{file}"
    program = [sys.executable, "-c", "from bigtime.cli.app import main; main()", "serve"]
    command = [*program, "--port", str(port), "--store", store]
    with (
        run_server(
            command, port, seconds=START_SECONDS, settings={"BIGTIME_DATA": str(folder)}
        ) as server,
        Engine.open(file, housekeeping=False) as engine,
    ):
        database = Store(engine)
        cookies = log_in_everybody(port)
        read: Read = partial(read_page, server.client, cookies)
        furnish(database)
        wait_for_worker(database)
        make_customer(database, read, cookies[SHOPPER].partition("=")[2])
        kept, own = list(kept_pages(read)), list(own_pages(read))
        yield from hot(server, read, cookies[SHOPPER], scale)
        yield from catalogue(server, read, scale)
        yield from made_each_time(server, own, cookies, scale)
        yield from measure_making(engine, folder, Changes(database, read, kept), kept, scale)
        yield from like_calls(folder)
        yield freshness(server, database, deal_path(read))


def hot(server: Server, read: Read, cookie: str, scale: Scale) -> Iterator[Figure]:
    """Pages answered from memory."""
    for what, path in {"deal": deal_path(read), "front page": "/"}.items():
        for who, head in (("anonymous", ""), ("signed in", cookie)):
            seen = cost(server, get_request(path, head), scale)
            bar = Bar("at most", HOT[what], "us")
            yield Figure(f"GET of the {what}, {who}", seen, "us", bar=bar)


def catalogue(server: Server, read: Read, scale: Scale) -> Iterator[Figure]:
    """The catalogue's routes, also answered from memory."""
    deal = deal_path(read).rpartition("/")[2]
    yield Figure(
        "GET of a deal of the catalogue",
        cost(server, get_request(f"/api/v1/catalog/deals/{deal}"), scale),
        "us",
        bar=Bar("at most", 120, "us"),
    )
    for what, path in CATALOGUE.items():
        seen = cost(server, get_request(f"/api/v1/catalog/{path}"), scale)
        yield Figure(f"GET of the catalogue's {what}", seen, "us", bar=Bar("at most", 250, "us"))


CATALOGUE: Final = {
    "deals in a category": "categories/HOME/deals",
    "trending deals": "categories/HOME/trending",
    "page of ten deals": "categories/HOME/deals?pageSize=10",
}


def read_page(client: Client, cookies: dict[str, str], path: str, who: str | None) -> bytes:
    return client.send(get_request(path, cookies[who] if who else ""))


def deal_path(read: Read) -> str:
    return first(rb'"(/deals/\w{27})"', read("/", None))


def log_in_everybody(port: int) -> dict[str, str]:
    """The cookies of the demo's people, by their names."""
    return {
        who.login.partition("@")[0]: log_in(port, who.login, who.password) for who in demo_logins()
    }


def log_in(port: int, login: str, password: str) -> str:
    connection = HTTPConnection("127.0.0.1", port, timeout=START_SECONDS)
    connection.request("GET", "/log-in")
    shown = connection.getresponse()
    visit = shown.getheader("set-cookie", "").partition(";")[0]
    token = first(rb'name="form_token" value="([^"]+)"', shown.read())
    fields = {"form_token": token, "email": login, "password": password}
    headers = {"Cookie": visit, "Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", "/log-in", urlencode(fields), headers)
    answer = connection.getresponse()
    answer.read()
    cookies = [value for name, value in answer.getheaders() if name.lower() == "set-cookie"]
    connection.close()
    return next(cooky.partition(";")[0] for cooky in cookies if cooky.startswith("session="))


def freshness(server: Server, database: Store, path: str) -> Figure:
    """How long a cached page is out of date after a change, in wall time: the worst of ten."""
    slowest = 0.0
    for number in range(1, 11):
        server.client.send(get_request(path))
        price = Decimal(50 + number) / 100
        database.run(update_deal(deal_id_of(path.rpartition("/")[2]), price=price))
        began = time.monotonic()
        while f"${price:.2f}".encode() not in server.client.send(get_request(path)):
            assert time.monotonic() - began < START_SECONDS, "the page never shows the change"
            time.sleep(0.005)
        slowest = max(slowest, time.monotonic() - began)
    what = "a change by another process shows on a cached page, on the wall"
    return Figure(what, slowest * 1e3, "ms", bar=Bar("at most", 1_000, "ms", on_wall=True))
