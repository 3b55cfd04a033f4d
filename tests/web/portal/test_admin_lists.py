"""Lists of the admin: in order, page by page there and back, and as CSV."""

from __future__ import annotations

import csv
from datetime import UTC, date, datetime
from decimal import Decimal
from html import unescape
from io import StringIO
from re import findall

import pytest

from bigtime.systems.portal.design import Campaign, Product
from bigtime.web.http import csv_text
from bigtime.web.http.responses import cell_text
from tests.systems.portal.scenes import new_product, new_tenant
from tests.web.browsing import Browser, Web, words


def rows_in(html: str) -> list[str]:
    return [unescape(row) for row in findall(r'<th scope="row"><a [^>]*>([^<]*)</a>', html)]


def link(html: str, text: str) -> str | None:
    found = findall(rf'<a [^>]*href="([^"]*)"[^>]*>{text}', html)
    return unescape(found[0]) if found else None


def tenants_of(web: Web, count: int) -> list[str]:
    emails = [f"t{number:02}@example.com" for number in range(count)]
    for email in emails:
        new_tenant(web, email)
    return emails


def test_pages_lead_there_and_back(web: Web, ada: Browser) -> None:
    emails = tenants_of(web, 65)
    pages = [ada.get("/admin/tenants").text]
    while following := link(pages[-1], "Next page"):
        pages.append(ada.get(following).text)
    assert sorted(row for page in pages for row in rows_in(page)) == emails
    back = pages[-1]
    for page in reversed(pages[:-1]):
        before = link(back, "Previous page")
        assert before
        back = ada.get(before).text
        assert rows_in(back) == rows_in(page)
    assert link(back, "Previous page") is None


def test_pages_that_are_too_far_back_lead_to_the_first(
    web: Web, ada: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bigtime.web.admin.lists.MOST_BEFORE", 1)
    tenants_of(web, 65)
    page = ada.get("/admin/tenants").text
    first = rows_in(page)
    for _ in range(3):
        page = ada.get(link(page, "Next page") or "").text
    for _ in range(2):
        page = ada.get(link(page, "Previous page") or "").text
    assert rows_in(page) == first


@pytest.mark.parametrize("sort", ["since", "-since"])
def test_an_index_orders_all_pages(web: Web, ada: Browser, sort: str) -> None:
    tenants_of(web, 25)
    pages = [ada.get(f"/admin/tenants?sort={sort}").text]
    pages.append(ada.get(link(pages[0], "Next page") or "").text)
    shown = [row for page in pages for row in rows_in(page)]
    turned = "since" if sort == "-since" else "-since"
    other = rows_in(ada.get(f"/admin/tenants?sort={turned}").text)
    assert shown[::-1][: len(other)] == other
    assert "Sorted within this page" not in pages[0]
    order = "descending" if sort.startswith("-") else "ascending"
    assert f'aria-sort="{order}"' in pages[0]


def test_another_column_orders_a_page_and_the_page_says_so(web: Web, ada: Browser) -> None:
    tenants_of(web, 25)
    page = ada.get("/admin/tenants?sort=email").text
    assert rows_in(page) == sorted(rows_in(page))
    assert "Sorted within this page" in words(page)
    turned = ada.get(link(page, "E-mail") or "").text
    assert rows_in(turned) == sorted(rows_in(turned), reverse=True)
    assert rows_in(ada.get("/admin/tenants?sort=nonsense").text)


def test_a_list_on_one_page_is_sorted_whole(web: Web, ada: Browser) -> None:
    for name, price in (("Mid", "20.00"), ("Low", "3.50"), ("High", "100.00")):
        new_product(web, name=name, price=Decimal(price))
    page = ada.get("/admin/products?sort=price").text
    assert rows_in(page) == ["Low", "Mid", "High"]
    assert "Sorted within this page" not in words(page)
    assert rows_in(ada.get("/admin/products?sort=-name").text) == ["Mid", "Low", "High"]


@pytest.mark.parametrize("query", ["", "?which=upcoming", "?which=expired", "?which=archived"])
@pytest.mark.parametrize("sort", ["code", "-discount", "price", "from", "-until", "runs"])
def test_campaigns_are_sorted_by_any_column(
    ada: Browser, campaign: Campaign, query: str, sort: str
) -> None:
    shown = ada.get(f"/admin/campaigns{query}{'&' if query else '?'}sort={sort}")
    assert shown.status_code == 200
    assert (campaign.code in rows_in(shown.text)) == (not query)
    assert "1 active, 0 archived" in words(shown.text)


def test_tenants_as_csv_have_all_pages_and_the_filters(web: Web, ada: Browser) -> None:
    emails = tenants_of(web, 130)
    rows = list(csv.DictReader(StringIO(ada.get("/admin/tenants.csv").text)))
    assert sorted(row["E-mail"] for row in rows) == sorted(emails)
    assert rows[0]["Archived?"] == "no"
    assert rows[0]["Id"].startswith("tenant_")
    none = ada.get("/admin/tenants.csv?which=SUSPENDED").text
    assert list(csv.DictReader(StringIO(none))) == []
    assert "downloaded the list (which SUSPENDED) list tenants" in words(
        ada.get("/admin/users/log").text
    )


@pytest.mark.parametrize(
    "path", ["tenants.csv?which=x", "tenants.csv?since=2026-02-01&until=2026-01-01"]
)
def test_filters_that_do_not_go_together_are_refused(ada: Browser, path: str) -> None:
    assert ada.get(f"/admin/{path}").status_code in (400, 422)


def test_products_and_campaigns_as_csv(ada: Browser, product: Product, campaign: Campaign) -> None:
    (row,) = csv.DictReader(StringIO(ada.get("/admin/products.csv").text))
    assert (row["Name"], row["Price"]) == (product.name, "299.99")
    (row,) = csv.DictReader(StringIO(ada.get("/admin/campaigns.csv").text))
    assert (row["Code"], row["Today"]) == (campaign.code, "yes")
    assert "downloaded the list" not in words(ada.get("/admin/users/log").text)


@pytest.mark.parametrize("text", ["=1+1", "+27 11", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_cell_is_no_formula(text: str) -> None:
    assert cell_text(text) == f"'{text}"


def test_a_formula_in_a_name_stays_text(web: Web, ada: Browser) -> None:
    new_product(web, name='=HYPERLINK("http://x")')
    (row,) = csv.DictReader(StringIO(ada.get("/admin/products.csv").text))
    assert row["Name"] == '\'=HYPERLINK("http://x")'


def test_cells_say_what_values_are() -> None:
    values = [None, True, False, Decimal("1E+2"), date(2026, 1, 2), 3, "a,b", 'c"d', "e\nf"]
    values.append(datetime(2026, 1, 2, 3, 4, tzinfo=UTC))
    (row,) = csv.reader(StringIO(csv_text([values]), newline=""))
    assert row == [
        "",
        "yes",
        "no",
        "100",
        "2026-01-02",
        "3",
        "a,b",
        'c"d',
        "e\nf",
        "2026-01-02T03:04:00+00:00",
    ]
