"""Pages over the lake: who sees them, what they show, and what they say where there is none."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from bigtime.projections.lake import FilesLost, FolderPlace, LakeWriter
from bigtime.site import LAKES
from bigtime.site.reports import MONEY, REPORTS
from bigtime.store import Store
from bigtime.systems import cart
from bigtime.systems.accounts.design import Role
from bigtime.systems.deals.design import Deal
from bigtime.web.pages.charts import line_chart, nice_top
from bigtime.web.worker import LakeConsumer
from tests.web.browsing import Browser, Web


@pytest.fixture
def write_lake(web: Web) -> Callable[[], None]:
    """Brings the lake up to date, as the worker does."""
    setting = web.site.settings.lake_place
    assert setting is not None

    def write() -> None:
        transport = web.store.transport
        with LakeWriter(Store(transport), LAKES, FolderPlace(Path(setting))) as writer:
            writer.drain()
            writer.maintain()

    return write


def test_only_editors_and_admins_see_it(web: Web, alex: Browser, visitor: Browser) -> None:
    assert alex.get("/analytics").status_code == 403
    assert visitor.get("/analytics").status_code == 303
    admin = web.signed_in("ada", Role.ADMIN)
    assert admin.get("/analytics").status_code == 200
    assert alex.get("/analytics/sign-ups.csv").status_code == 403


def test_without_a_lake_it_says_so(erin: Browser) -> None:
    page = erin.get("/analytics")
    assert page.status_code == 200 and "No data yet" in page.text
    assert erin.get("/analytics/sign-ups.csv").status_code == 503


def test_a_lake_that_cannot_be_read_is_mended_by_the_worker(web: Web, erin: Browser) -> None:
    setting = web.site.settings.lake_place
    assert setting is not None
    web.run(cart.put_in_cart("alex", "LAMP", Decimal("19.99"), 2))
    consumer = LakeConsumer(Store(web.store.transport), setting, None)
    consumer.run_round()
    (current,) = Path(setting).glob("CartTable/current/cart_lines/*.parquet")
    current.write_bytes(bytes(current.stat().st_size))
    assert "Reports cannot be shown" in erin.get("/analytics").text
    assert consumer.writer is not None
    with pytest.raises(FilesLost):
        consumer.writer.maintain()
    consumer.close()
    consumer.run_round()
    consumer.close()
    web.site.cache.clear()
    assert 'id="carts-by-day"' in erin.get("/analytics").text


def test_charts_have_a_title_and_a_table(
    web: Web, erin: Browser, write_lake: Callable[[], None]
) -> None:
    web.run(cart.put_in_cart("alex", "LAMP", Decimal("19.99"), 2))
    write_lake()
    page = erin.get("/analytics").text
    assert re.search(r'<svg [^>]*role="img" aria-labelledby="(\S+) (\S+)">\s*<title id="\1">', page)
    section = page.partition('id="carts-by-day"')[2].partition("</section>")[0]
    assert "<polyline" in section and "39.98" in section and "<table>" in section
    assert "<script" not in section and "style=" not in section
    assert f"/analytics/carts-by-day.csv?since={datetime.now(UTC).date() - timedelta(29)}" in page


def test_rows_are_downloaded_as_csv(
    web: Web, erin: Browser, write_lake: Callable[[], None]
) -> None:
    web.run(cart.put_in_cart("alex", "LAMP", Decimal("19.99"), 2))
    write_lake()
    got = erin.get("/analytics/carts-by-day.csv")
    assert got.headers["content-type"].startswith("text/csv")
    assert "attachment" in got.headers["content-disposition"]
    rows = [*csv.reader(got.text.splitlines())]
    assert rows == [
        ["day", "products", "carts", "value"],
        [str(datetime.now(UTC).date()), "1", "1", "39.98"],
    ]
    assert erin.get("/analytics/nothing.csv").status_code == 404


@pytest.mark.parametrize(
    "asked", ["since=x", "since=2026-02-01&until=2026-01-01", "until=2026-1", "until=0001-01-01"]
)
def test_days_that_are_none_are_refused(erin: Browser, asked: str) -> None:
    assert erin.get(f"/analytics?{asked}").status_code == 400


def test_the_tables_are_not_touched(
    web: Web, erin: Browser, write_lake: Callable[[], None]
) -> None:
    write_lake()
    erin.get("/analytics")  # the visitor is known now
    seen: list[str] = []
    web.site.store.hooks += (lambda exchange: seen.append(exchange.request.operation),)
    web.site.cache.clear()
    erin.get("/analytics?since=2026-01-01&until=2026-01-31")
    assert "Scan" not in seen and len(seen) < 6


def test_a_deal_at_the_desk_shows_its_cart_adds(
    web: Web, erin: Browser, post_deal: Callable[..., Deal], write_lake: Callable[[], None]
) -> None:
    deal = post_deal()
    web.run(cart.put_in_cart("alex", deal.deal_id, Decimal("19.99"), 1))
    write_lake()
    assert (
        f"/editor/deals/{deal.deal_id}/engagement" in erin.get(f"/editor/deals/{deal.deal_id}").text
    )
    page = erin.get(f"/editor/deals/{deal.deal_id}/engagement").text
    assert re.search(r"Cart adds <strong>1</strong>", page) and 'id="engagement"' in page


def test_a_chart_has_every_day_of_its_range() -> None:
    rows = [{"day": "2026-01-02", "orders": 4}]
    chart = line_chart("Orders", rows, ["orders"], date(2026, 1, 1), date(2026, 1, 3))
    assert len(chart.lines[0].points.split()) == 3
    assert chart.lines[0].total == "4" and "4 in all" in chart.summary


@pytest.mark.parametrize("most", [0, 0.5, 1, 3, 7, 10, 99, 1234, 5e6])
def test_the_scale_of_a_chart_holds_its_numbers(most: float) -> None:
    top, step = nice_top(most)
    assert top >= most and top / step <= 6


@pytest.mark.parametrize("name", [name for name, each in REPORTS.items() if MONEY in each.sql])
def test_a_report_of_money_names_its_currency(name: str) -> None:
    """The shop has dollars, hosting plans have rand."""
    assert re.search(" in (USD|ZAR)[.,;]", REPORTS[name].description)
