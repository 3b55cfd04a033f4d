"""A site with an index of its deals and tenants."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from bigtime.engine import Engine
from bigtime.site import search_followers
from tests.web.browsing import Web, make_web


@pytest.fixture
def place(tmp_path: Path) -> str:
    return f"folder:{tmp_path / 'indexes'}"


@pytest.fixture
def web(engine: Engine, tmp_path: Path, place: str) -> Iterator[Web]:
    """The site, with search."""
    front, store = make_web(engine, tmp_path, search=place)
    with TestClient(front, follow_redirects=False) as served:
        yield Web(front, served.app.application.state.context, store, served)  # type: ignore[attr-defined]


@pytest.fixture
def catch_up(web: Web, place: str) -> Iterator[Callable[[], None]]:
    """What the worker does: has the indexes follow the tables."""
    followers = search_followers(place, web.store)

    def run() -> None:
        for follower in followers:
            while any(turn.more for turn in follower.run_round()):
                pass
            assert follower.updater is not None
            follower.updater.commit()

    yield run
    for follower in followers:
        follower.close()
