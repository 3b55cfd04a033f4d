"""The site, as its server's CPU time for each answer: hot pages, personal pages, and freshness."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlencode

from bench.figure import Bar, Figure
from bench.scale import Scale
from bench.server import Client, Server, free_port, serving
from bigtime.store import open_store
from bigtime.systems.deals.deals import update_deal
from bigtime.systems.deals.values import deal_id_of
from bigtime.web.demo import demo_logins

HOT = {"deal": 180.0, "front page": 220.0}
PERSONAL = {"inbox": "/inbox", "cart": "/cart", "orders": "/orders", "account": "/me"}
START_SECONDS = 120


def measure(scale: Scale, folder: Path) -> Iterator[Figure]:
    port = free_port()
    store = f"file:{folder / 'site.db'}"
    program = [sys.executable, "-c", "from bigtime.cli.app import main; main()", "serve"]
    command = [*program, "--port", str(port), "--store", store]
    with serving(command, port, seconds=START_SECONDS) as server:
        cookie = log_in(port)
        paths = {"deal": deal_path(server.client, port), "front page": "/"}
        for what, path in paths.items():
            for who, head in (("anonymous", ""), ("signed in", cookie)):
                seen = cost(server, asking(path, head), scale)
                bar = Bar("at most", HOT[what], "us")
                yield Figure(f"GET of the {what}, {who}", seen, "us", bar=bar)
        for what, path in PERSONAL.items():
            seen = cost(server, asking(path, cookie), scale)
            yield Figure(
                f"GET of the {what}, not cached", seen, "us", bar=Bar("at most", 1_500, "us")
            )
        yield freshness(server, store, paths["deal"])


def asking(path: str, cookie: str = "") -> bytes:
    sent = f"Cookie: {cookie}\r\n" if cookie else ""
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{sent}\r\n".encode()


def cost(server: Server, call: bytes, scale: Scale) -> float:
    """Microseconds of the server for one answer, in the best round."""
    calls = [call] * max(scale.served_operations // 4, 20)
    server.client.send_all(calls)
    rounds = []
    for _ in range(scale.rounds):
        before = server.cpu_seconds()
        server.client.send_all(calls)
        rounds.append((server.cpu_seconds() - before) / len(calls))
    return min(rounds) * 1e6


def deal_path(client: Client, port: int) -> str:
    found = re.search(rb'"(/deals/\w{27})"', client.send(asking("/")))
    assert found, "the front page shows no deal"
    return found[1].decode()


def log_in(port: int) -> str:
    """The cookie of the demo's shopper."""
    from http.client import HTTPConnection

    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/log-in")
    shown = connection.getresponse()
    visit = shown.getheader("set-cookie", "").partition(";")[0]
    token = re.search(r'name="form_token" value="([^"]+)"', shown.read().decode())
    assert token, "the form has no token"
    who = demo_logins()[0]
    fields = {"form_token": token[1], "email": who.login, "password": who.password}
    headers = {"Cookie": visit, "Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", "/log-in", urlencode(fields), headers)
    answer = connection.getresponse()
    answer.read()
    cookies = [value for name, value in answer.getheaders() if name.lower() == "set-cookie"]
    connection.close()
    return next(one.partition(";")[0] for one in cookies if one.startswith("session="))


def freshness(server: Server, store: str, path: str) -> Figure:
    """How long a page in the cache shows what it no longer is, on the wall, at worst of ten."""
    slowest = 0.0
    with open_store(store) as database:
        for number in range(1, 11):
            server.client.send(asking(path))
            price = Decimal(f"0.{number:02}")
            database.run(update_deal(deal_id_of(path.rpartition("/")[2]), price=price))
            began = time.monotonic()
            while f"${price:.2f}".encode() not in server.client.send(asking(path)):
                assert time.monotonic() - began < START_SECONDS, "the page never shows the change"
                time.sleep(0.005)
            slowest = max(slowest, time.monotonic() - began)
    what = "a change by another process shows on a cached page, on the wall"
    return Figure(what, slowest * 1e3, "ms", bar=Bar("at most", 1_000, "ms"))
