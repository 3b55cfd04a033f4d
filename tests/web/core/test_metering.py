"""Capacity is counted under the name of the pattern that consumed it, whoever runs it."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.model import get, setup, together
from bigtime.site.design import WORKER
from bigtime.site.systems import LABELS, NO_PATTERN, SYSTEMS, pattern_label
from bigtime.store import AsyncStore, Store
from bigtime.store.driver import Runnable
from bigtime.systems.accounts.account import sign_up, verify_password, view_account
from bigtime.systems.deals.brands import create_brand, create_categories, fetch_all_brands
from bigtime.systems.deals.deals import create_deal, fetch_deal
from bigtime.systems.deals.design import Deal
from bigtime.systems.deals.front_page import fetch_front_page
from bigtime.web.pages.threads import CpuPool
from bigtime.wire import Steps


class Metered:
    """A store, and what was spent on it."""

    def __init__(self, engine: Engine) -> None:
        self.spent: Counter[str] = Counter()
        self.store = AsyncStore(engine, meter=self.spend)
        self.blocking = Store(engine, meter=self.spend)

    def spend(self, pattern: str | None, units: float) -> None:
        self.spent[pattern_label(pattern)] += units  # type: ignore[assignment]

    def run(self, steps: Runnable[Any]) -> Any:
        self.spent.clear()
        return asyncio.run(self.store.run(steps))


@pytest.fixture
def metered_store(engine: Engine) -> Metered:
    store = Store(engine)
    store.run(setup(*SYSTEMS))
    store.run(create_categories())
    store.run(create_brand("Voltaic"))
    return Metered(engine)


@pytest.fixture
def deal(engine: Engine, metered_store: Metered) -> Deal:
    made: Deal = Store(engine).run(
        create_deal("A radio", "https://shop.example/1", 5, "Voltaic", "Electronics")  # type: ignore[arg-type]
    )
    return made


def test_a_pattern_goes_by_its_own_name(metered_store: Metered, deal: Deal) -> None:
    assert metered_store.run(fetch_deal(deal.deal_id)).title == "A radio"
    assert set(metered_store.spent) == {"deals.fetch_deal"}
    assert metered_store.spent["deals.fetch_deal"] > 0


def test_steps_of_the_site_are_the_patterns_that_they_run(
    metered_store: Metered, deal: Deal
) -> None:
    def compose() -> Steps[None]:
        yield from get(Deal.key(deal.deal_id))
        yield from fetch_deal(deal.deal_id)
        yield from fetch_all_brands()

    metered_store.run(compose())
    assert set(metered_store.spent) == {NO_PATTERN, "deals.fetch_deal", "deals.fetch_all_brands"}


def test_what_runs_together_keeps_its_name(metered_store: Metered, deal: Deal) -> None:
    def both() -> Steps[Any]:
        return (yield from together(fetch_deal(deal.deal_id), get(Deal.key(deal.deal_id))))

    metered_store.run(both())
    assert set(metered_store.spent) == {"deals.fetch_deal", NO_PATTERN}

    metered_store.run(fetch_front_page())
    assert set(metered_store.spent) == {"deals.fetch_front_page"}


def test_an_operation_alone_is_of_no_pattern(metered_store: Metered) -> None:
    metered_store.run(WORKER.get())
    assert set(metered_store.spent) == {NO_PATTERN}


def test_work_on_a_thread_apart_goes_by_its_name(metered_store: Metered) -> None:
    async def signing_up() -> None:
        apart = CpuPool(metered_store.store)
        await apart.run(sign_up("alex@example.com", "correct horse", "alex"))
        await apart.run(verify_password("alex@example.com", "correct horse"))

    asyncio.run(signing_up())
    assert set(metered_store.spent) == {"accounts.sign_up", "accounts.verify_password"}


def test_a_store_that_blocks_counts_the_same(metered_store: Metered, deal: Deal) -> None:
    metered_store.blocking.run(fetch_deal(deal.deal_id))
    assert set(metered_store.spent) == {"deals.fetch_deal"}


def test_what_the_answer_tells_is_as_without_a_meter(
    metered_store: Metered, engine: Engine, deal: Deal
) -> None:
    plain = Store(engine)
    for steps in (fetch_front_page, fetch_all_brands):
        assert metered_store.run(steps()) == plain.run(steps())
    assert plain.run(fetch_deal(deal.deal_id)) == metered_store.run(fetch_deal(deal.deal_id))


def test_every_pattern_has_a_name_of_its_own() -> None:
    patterns = [f"{system.name}.{name}" for system in SYSTEMS for name in system.patterns]
    assert set(patterns) <= set(LABELS.values())
    assert len(set(LABELS.values())) == len(LABELS)
    assert pattern_label(view_account.name.qualified) == "accounts.view_account"
