"""The site as `bigtime check`, `chart`, `explain` and `verify` see it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import Any

import pytest

from bigtime.advisor import Finding, chart, check_system, explain, sample_arguments
from bigtime.engine import Engine
from bigtime.model import Ksuid, Pattern, setup, verify
from bigtime.site import SITE, SYSTEMS, begin_check, check_out
from bigtime.site.checkout import SAMPLE, Checkout
from bigtime.site.order_queue import follow_orders
from bigtime.store import Store, consume
from bigtime.systems import cart, shop
from tests.site.letters import write_letter
from tests.web.cart.scene import Scene
from tests.web.checkout.ordering import checkout, digest_of_lines

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
"""What time it is in a dry run."""


@cache
def site_findings() -> list[Finding]:
    """To check the site runs all of its patterns: that takes seconds."""
    return check_system(SITE)


@cache
def site_chart() -> str:
    return chart(SITE)


def test_nothing_is_found_that_is_not_accepted() -> None:
    assert [finding for finding in site_findings() if finding.accepted is None] == []


def test_only_what_is_written_seldom_is_accepted_as_hot() -> None:
    accepted = {finding.key for finding in site_findings()}
    assert accepted == {
        "hot-partition Worker",
        "hot-partition WriteCheck",
        "hot-partition Erasure",
        "hot-partition UnusedPicture",
        "hot-partition DemoData",
    }


def test_a_pattern_may_touch_the_tables_of_every_system_that_the_site_uses() -> None:
    assert SITE.tables == (SITE.table("Site"),)
    assert SITE.all_tables == (
        *SITE.tables,
        *(table for system in SYSTEMS if system is not SITE for table in system.tables),
    )


@pytest.mark.parametrize("pattern", SITE.patterns.values(), ids=list(SITE.patterns))
def test_every_pattern_is_charted_and_explained(pattern: Pattern[..., Any]) -> None:
    explanation = explain(pattern(**sample_arguments(pattern)), tables=SITE.all_tables)
    assert explanation.requests or pattern.index == "N/A"
    assert pattern.notes
    assert f"| {pattern.title} | {pattern.index} |" in site_chart()


def test_a_checkout_is_one_transaction_over_three_tables() -> None:
    line = cart.CartLine(
        account_id="alex",
        status=cart.Status.ACTIVE,
        entered_at=NOON,
        item_sku="0" * 27,
        price=Decimal(5),
        count=1,
        create_timestamp=NOON,
    )
    customer = shop.Customer(username="alex", email="alex@example.com", name="Alex")
    form = Checkout(
        username="alex",
        email=SAMPLE.email,
        key=Ksuid.make(NOON),
        ship_to=SAMPLE.ship_to,
        reviewed=digest_of_lines([line]),
        orders_url=SAMPLE.orders_url,
        is_confirmed=True,
    )
    explanation = explain(check_out(form), tables=SITE.all_tables, holding=[line, customer])
    assert explanation.ended is None
    written = [
        request
        for request in explanation.requests
        if request.request.operation.endswith("WriteItems")
    ]
    assert [len({table.name for table, _ in each.used}) for each in written] == [3]


def test_what_the_site_writes_verifies(scene: Scene, engine: Engine) -> None:
    scene.fill("liz", 3)
    scene.run(check_out(checkout(scene.lines("liz"))))
    scene.run(begin_check("liz@example.com", "/portal"))
    scene.run(write_letter("hello", "liz@example.com", "Hello", "Come in."))
    follower = consume(scene.store, shop.ECOMMERCE.name, follow_orders.handle, name="queue")
    scene.wait(follower.run_once())
    for system in SYSTEMS:
        assert scene.run(verify(system)) == []


def test_an_outbox_over_several_days_is_one_list(engine: Engine) -> None:
    moments = [NOON + timedelta(hours=10 * number) for number in range(5)]
    clock = iter(moments)
    now = moments[0]
    store = Store(engine, clock=lambda: now)
    store.run(setup(SITE))
    for now in clock:
        store.run(write_letter(f"{now:%d %H}", "liz@example.com", "Hello", "Come in."))
    found = store.run(SITE.pattern("view_outbox")())
    assert [mail.written_at for mail in found] == moments[::-1]
    assert found.position is None
    assert store.run(verify(SITE)) == []
