"""What whoever watches the site is told, also while the store or the worker is away."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, cast

import pytest
from starlette.testclient import TestClient

from bigtime.engine import Engine
from bigtime.model import setup
from bigtime.site.design import WORKER
from bigtime.site.systems import NO_PATTERN, SYSTEMS
from bigtime.store import (
    WRITERS,
    AsyncFencedTransport,
    AsyncStore,
    Fence,
    Retries,
    Store,
    Writer,
    write_epoch,
)
from bigtime.store.errors import unreachable
from bigtime.systems.deals.brands import create_categories
from bigtime.web.app import CHECK_SECONDS, make_app
from bigtime.web.http.metrics import Meters
from bigtime.web.http.settings import Settings
from bigtime.wire import InternalServerError, Request, Response
from tests.web.browsing import PRODUCTION, SECRET, make_web
from tests.web.core.test_worker import wait_for

LOST: Final = unreachable("http://127.0.0.1:1", OSError("refused"))


class Scene:
    """A site whose store can go away, and whose meters have a clock that somebody turns."""

    served: TestClient

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.engine = engine
        self.is_away = self.hangs = False
        self.trouble: Exception = LOST
        self.writes = 0
        self.now = datetime.now(UTC)
        self.meters = Meters(clock=lambda: self.now)
        self.store = Store(engine)
        self.store.run(setup(*SYSTEMS))
        self.store.run(create_categories())
        settings = Settings(data=folder, secret=SECRET)  # type: ignore[arg-type]
        store = AsyncStore(self.ask, retries=Retries(attempts=1), meter=self.meters.count_units)
        self.front = make_app(settings, store, meters=self.meters)

    async def ask(self, request: Request) -> Response:
        if self.hangs:
            while self.hangs:
                await asyncio.sleep(0.01)
        if self.is_away:
            raise self.trouble
        self.writes += request.operation == "PutItem"
        return self.engine(request)

    def forget_check(self) -> None:
        """As five seconds do."""
        cast(Any, self.front.application).state.readiness.tried_at -= CHECK_SECONDS

    def tell(self, **told: Any) -> None:
        """As the worker does."""
        self.store.run(WORKER.update(seen_at=self.now, **told))

    def metric(self, name: str) -> float | None:
        text = self.served.get("/metrics").text
        found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
        return float(found[1]) if found else None


@pytest.fixture
def scene(engine: Engine, tmp_path: Path) -> Iterator[Scene]:
    made = Scene(engine, tmp_path)
    with TestClient(made.front, raise_server_exceptions=False) as made.served:
        yield made


LAG = 'bigtime_stream_lag_seconds{consumer="deals.tell"}'


def test_it_is_ready_while_the_store_answers(scene: Scene) -> None:
    assert scene.served.get("/readyz").text == "ready\n"
    scene.is_away = True
    assert scene.served.get("/readyz").text == "ready\n"  # as it was a moment ago
    scene.forget_check()
    away = scene.served.get("/readyz")
    assert away.status_code == 503
    assert away.headers["content-type"] == "application/json"
    assert away.json()["error"] == "store-away" and away.json()["details"] == []
    assert scene.served.get("/healthz").text == "ok\n"


def test_while_the_store_is_away_metrics_tell_what_is_known(scene: Scene) -> None:
    scene.tell(lag_seconds={"deals.tell": Decimal(2)}, handled={"deals.tell": 5})
    assert scene.metric(LAG) == 2
    scene.is_away = True
    scene.now += timedelta(seconds=60)
    assert scene.metric(LAG) == 62
    assert scene.metric("bigtime_worker_seen_seconds") == 60
    assert scene.served.get("/metrics").status_code == 200


def test_a_worker_that_is_silent_is_as_far_behind_as_it_may_be(scene: Scene) -> None:
    scene.tell(lag_seconds={"deals.tell": Decimal(0)})
    scene.now += timedelta(seconds=5)
    assert scene.metric(LAG) == 0
    scene.now += timedelta(seconds=20)
    assert scene.metric(LAG) == 25
    assert scene.metric("bigtime_worker_seen_seconds") == 25
    scene.tell(lag_seconds={"deals.tell": Decimal(0)})
    assert scene.metric(LAG) == 0


def test_a_worker_that_never_came_up_has_not_been_seen_since_the_start(scene: Scene) -> None:
    scene.now += timedelta(seconds=30)
    assert scene.metric("bigtime_worker_seen_seconds") == 30


def test_what_the_worker_spent_is_told(scene: Scene) -> None:
    scene.tell(spent={"deals.fetch_deal": Decimal("2.5")})
    assert scene.metric('bigtime_worker_capacity_units_total{pattern="deals.fetch_deal"}') == 2.5


def test_capacity_goes_by_the_names_of_patterns(scene: Scene) -> None:
    for path in ("/", "/brands", "/pricing", "/log-in", "/categories/HOME"):
        assert scene.served.get(path).status_code == 200, path
    text = scene.served.get("/metrics").text
    named = re.findall(r'^bigtime_capacity_units_total{pattern="([^"]+)"}', text, re.MULTILINE)
    patterns = {f"{system.name}.{name}" for system in SYSTEMS for name in system.patterns}
    assert named and set(named) <= patterns | {NO_PATTERN}
    assert {"portal.list_products", "deals.fetch_all_brands"} <= set(named)


def test_a_page_that_is_never_kept_is_no_miss(scene: Scene) -> None:
    misses = "bigtime_page_cache_misses_total"
    for _ in range(3):
        scene.served.get("/log-in")
        scene.served.get("/nowhere")
        scene.served.get("/healthz")
    assert scene.metric(misses) == 0
    scene.served.get("/pricing")
    scene.served.get("/pricing")
    assert scene.metric(misses) == 1
    assert scene.metric("bigtime_page_cache_hits_total") == 1


def test_a_method_that_is_not_there_tells_those_that_are(scene: Scene) -> None:
    for path in ("/healthz", "/readyz", "/metrics"):
        refused = scene.served.post(path)
        assert refused.status_code == 405
        assert refused.headers["allow"] == "GET, HEAD", path


@pytest.mark.parametrize("trouble", [LOST, InternalServerError("A process holds the lock. Retry.")])
def test_while_the_store_is_away_people_and_programs_are_told_to_come_back(
    scene: Scene, trouble: Exception
) -> None:
    scene.is_away, scene.trouble = True, trouble
    scene.served.headers["cookie"] = f"session={'x' * 43}"
    for path in ("/", "/deals/2bJqXVHPbyPZtvzOdAHo1AsGWZl", "/cart"):
        page = scene.served.get(path)
        assert page.status_code == 503 and "Temporarily unavailable" in page.text
        assert page.headers["retry-after"] == "5"
    program = scene.served.get("/api/v1/brands")
    assert program.status_code == 503
    assert program.json()["error"] == "store-away"

    scene.is_away = False
    assert scene.served.get("/").status_code == 200


def test_it_is_not_ready_while_writes_hang(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bigtime.web.app.PATIENCE_SECONDS", 0.05)
    scene.hangs = True
    for _ in range(2):
        assert scene.served.get("/readyz").status_code == 503
    scene.hangs = False
    scene.forget_check()
    wait_for(lambda: scene.served.get("/readyz").status_code == 200)
    assert scene.writes <= 2  # the one that hung, and another


def test_checks_are_few_however_often_they_are_asked_for(scene: Scene) -> None:
    for _ in range(50):
        assert scene.served.get("/readyz").status_code == 200
    assert scene.writes == 1


@pytest.mark.parametrize("mode", ["production", "development"])
def test_metrics_ask_for_their_token(engine: Engine, tmp_path: Path, mode: str) -> None:
    front, _ = make_web(
        engine, tmp_path, **{**PRODUCTION, "mode": mode, "metrics_token": "a token"}
    )
    with TestClient(front) as client:
        for header in ({}, {"authorization": "Bearer other"}, {"authorization": "Basic x"}):
            refused = client.get("/metrics", headers=header)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == "Bearer"
        allowed = client.get("/metrics", headers={"authorization": "Bearer a token"})
        assert allowed.status_code == 200 and "bigtime_requests_total" in allowed.text


def test_in_production_metrics_without_a_token_are_nobodys(engine: Engine, tmp_path: Path) -> None:
    front, _ = make_web(engine, tmp_path, **PRODUCTION)
    with TestClient(front) as client:
        header = {"authorization": "Bearer "}
        assert client.get("/metrics", headers=header).status_code == 401
        assert client.get("/readyz").status_code == 200


def test_a_region_that_does_not_write_is_read_and_not_ready(engine: Engine, tmp_path: Path) -> None:
    store = Store(engine)
    store.run(setup(*SYSTEMS))
    store.run(create_categories())
    store.run(WRITERS.ready())
    fenced = AsyncStore(AsyncFencedTransport(engine, Fence("site", engine.region)))
    settings = Settings(data=tmp_path, secret=SECRET)  # type: ignore[arg-type]
    with TestClient(make_app(settings, fenced), raise_server_exceptions=False) as served:
        store.run(write_epoch("site", Writer(1, "eu-west-1", datetime.now(UTC))))
        assert served.get("/readyz").status_code == 503
        assert served.get("/").status_code == 200


def test_the_lag_of_replicas_is_a_metric(tmp_path: Path) -> None:
    meters = Meters()
    with Engine.open(tmp_path / "shop.db", housekeeping=False) as engine:
        engine(Request("CreateTable", {**WRITERS.definition(), "TableName": "Notes"}))
        replica = [{"Create": {"RegionName": "eu-west-1"}}]
        engine(Request("UpdateTable", {"TableName": "Notes", "ReplicaUpdates": replica}))
        engine.tidy()
        meters.watch_replication(engine.replication)
        item = {"PK": {"S": "a"}, "SK": {"S": "b"}}
        engine(Request("PutItem", {"TableName": "Notes", "Item": item}))
        labels = {"table": "Notes", "receiving_region": "eu-west-1"}

        def value(name: str) -> float:
            found = meters.registry.get_sample_value(f"bigtime_replication_{name}", labels)
            assert found is not None
            return found

        assert value("pending_writes") == 1
        assert value("latency_milliseconds") > 0
        engine.tidy()
        assert value("pending_writes") == 0
