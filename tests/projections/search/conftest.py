"""A table of deals, an index of it in a folder, and what keeps it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from bigtime.engine import Engine
from bigtime.model import setup
from bigtime.projections.search import Follower, Query, SearchPage, TantivyBackend
from bigtime.store import Store
from bigtime.systems import deals
from tests.furnished import furnished_engine

PostDeal: TypeAlias = Callable[..., deals.Deal]


def furnish(engine: Engine) -> None:
    store = Store(engine)
    store.run(setup(deals.SYSTEM))
    store.run(deals.create_categories())
    for brand in ("Sony", "Apple"):
        store.run(deals.create_brand(brand))


@pytest.fixture
def store() -> Iterator[Store]:
    with furnished_engine(furnish) as engine:
        yield Store(engine)


@pytest.fixture
def post(store: Store) -> PostDeal:
    def post_deal(title: str, price: str = "19.99", **facts: Any) -> deals.Deal:
        facts = {"brand_name": "Sony", "category_name": "Home", **facts}
        if "list_price" in facts:
            facts["list_price"] = Decimal(facts["list_price"])
        return store.run(
            deals.create_deal(title, "https://shop.example/1", Decimal(price), **facts)
        )

    return post_deal


@pytest.fixture
def backend(tmp_path: Path) -> TantivyBackend:
    return TantivyBackend(tmp_path / "search", deals.DEAL_SEARCH)


@pytest.fixture
def follower(store: Store, backend: TantivyBackend) -> Iterator[Follower]:
    follower = Follower(store, backend)
    yield follower
    follower.close()


@pytest.fixture
def catch_up(follower: Follower) -> Callable[[], None]:
    """Has the index follow what was written."""

    def run() -> None:
        while any(turn.more for turn in follower.run_round()):
            pass
        assert follower.updater is not None
        follower.updater.commit()

    return run


Find: TypeAlias = Callable[..., SearchPage]


@pytest.fixture
def find(backend: TantivyBackend) -> Find:
    reader = backend.reader()

    def ask(text: str = "", **query: Any) -> SearchPage:
        return reader.find(Query(text, **query))

    return ask


def keys(page: SearchPage) -> list[str]:
    return [hit.key for hit in page.hits]
