"""`bigtime serve --workers`: processes that share a port and a file, and follow each other."""

from __future__ import annotations

import os
import re
import signal
from decimal import Decimal
from http.client import HTTPConnection
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest

from bigtime.store import open_store
from bigtime.systems.deals.deals import update_deal
from bigtime.systems.deals.values import deal_id_of
from bigtime.web.app import LIMITS
from bigtime.web.http import Counted, SharedMetrics, share_limits
from bigtime.web.pages import SharedViews
from tests.web.core.test_serve import Site, children_of, is_running, start_site, wait_for

WEB = 2


def connections(site: Site) -> list[HTTPConnection]:
    """Enough for the kernel to have given some to each worker."""
    port = int(site.url.rpartition(":")[2])
    return [HTTPConnection("127.0.0.1", port, timeout=30) for _ in range(16)]


def read(connection: HTTPConnection, path: str) -> str:
    connection.request("GET", path)
    answer = connection.getresponse()
    assert answer.status == 200
    return answer.read().decode()


def answers_counted(page: str) -> int:
    found = re.findall(r'^bigtime_requests_total{route="hot".*} ([\d.]+)$', page, re.MULTILINE)
    return sum(int(float(number)) for number in found)


@pytest.mark.proof
def test_workers_share_the_port_follow_each_other_and_stop_together(tmp_path: Path) -> None:
    with start_site(tmp_path, "--workers", str(WEB)) as process:
        site = Site(process, tmp_path)
        everywhere = connections(site)
        found = re.search(r"/deals/(\w{27})", read(everywhere[0], "/"))
        assert found is not None
        path = found[0]

        for number in range(3):
            pages = [read(connection, path) for connection in everywhere]  # in every cache
            assert len({*pages}) == 1
            price = Decimal(number + 1) / 100
            with open_store(site.store) as store:
                store.run(update_deal(deal_id_of(found[1]), price=price))
            shown = f"${price:,.2f}"
            wait_for(lambda: all(shown in read(each, path) for each in everywhere))  # noqa: B023

        seen = answers_counted(read(everywhere[0], "/metrics"))
        wait_for(lambda: answers_counted(read(everywhere[1], "/metrics")) >= max(seen, 16))

        workers = children_of(process)
        assert len(workers) == WEB + 1
        os.kill(workers[0], signal.SIGKILL)
        wait_for(
            lambda: len(children_of(process)) == WEB + 1 and workers[0] not in children_of(process)
        )
        assert all(read(each, "/") for each in connections(site))

        everybody = [*children_of(process), *grandchildren(process.pid)]
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        wait_for(lambda: not any(map(is_running, everybody)))


def test_workers_whose_supervisor_is_killed_do_not_stay(tmp_path: Path) -> None:
    with start_site(tmp_path, "--workers", str(WEB)) as process:
        Site(process, tmp_path)
        everybody = [*children_of(process), *grandchildren(process.pid)]
        assert len(everybody) >= WEB + 1
        process.kill()
        process.wait(60)
    wait_for(lambda: not any(map(is_running, everybody)))


def grandchildren(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    listed = [Path(f"/proc/{child}/task/{child}/children").read_text() for child in children]
    return [int(found) for text in listed for found in text.split()]


def test_limits_hold_over_all_processes_together() -> None:
    for processes in (1, 2, 8):
        shared = share_limits(LIMITS, processes)
        for action, limit in LIMITS.items():
            if limit.counted is Counted.IN_STORE:
                assert shared[action] == limit
            else:
                assert 1 <= shared[action].tries * processes <= limit.tries
                assert shared[action].seconds == limit.seconds


def test_a_view_is_remembered_by_every_process() -> None:
    views, view = SharedViews(), hash(("liz", "a deal"))
    assert views.last(view) < 0
    child = os.fork()
    if child == 0:
        views.note(view, 7.0)
        os._exit(0)
    os.waitpid(child, 0)
    assert views.last(view) == 7.0
    assert views.last(view + 1) < 0


def test_metrics_of_processes_are_added_up_and_outlive_them(tmp_path: Path) -> None:
    registries = [CollectorRegistry() for _ in range(3)]
    processes = []
    for number, registry in enumerate(registries):
        counter = Counter("answers", "Answers.", ["route"], registry=registry)
        counter.labels("/").inc(number + 1)
        if number == 2:
            counter.labels("/deals").inc()
        Gauge("lag", "Lag.", registry=registry).set(5)
        process = SharedMetrics(registry, tmp_path)
        process.file = tmp_path / f"{number}.json"
        process.write()
        processes.append(process)
    del registries[1], processes[1]  # its file stays
    text = generate_latest(processes[0].registry).decode()
    assert 'answers_total{route="/"} 6.0' in text
    assert 'answers_total{route="/deals"} 1.0' in text
    assert "\nlag 5.0" in text
