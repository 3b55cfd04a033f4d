"""`/v1.0/campaigns`."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from bigtime.systems.portal.campaigns import get_campaign, list_campaigns, soft_delete_campaign
from bigtime.systems.portal.design import Product
from bigtime.systems.portal.products import soft_delete_product
from tests.systems.portal.scenes import ADMIN, NO_PRODUCT, new_campaign, new_product
from tests.web.api.portal_client import Program, faults, is_problem
from tests.web.browsing import Web
from tests.web.portal.scene import running_campaign

HERE = "/v1.0/campaigns"


def today() -> date:
    return datetime.now(UTC).date()


@pytest.fixture
def product(web: Web) -> Product:
    return new_product(web)


def body(product: Product, **but: Any) -> dict[str, Any]:
    return {
        "code": "SUMMER2026",
        "description": "Summer 2026 special offer",
        "discountPercentage": 20,
        "productId": product.id,
        "termsConditionsLink": "https://example.com/terms",
        "fromDate": str(today()),
        "toDate": str(today() + timedelta(days=30)),
        **but,
    }


def test_an_admin_makes_a_campaign_and_everybody_finds_it_by_its_code(
    ada: Program, nobody: Program, product: Product
) -> None:
    wanted = body(product)
    made = ada.post(HERE, wanted)
    told = made.json()
    assert made.status_code == 201
    assert {name: told[name] for name in wanted} == wanted
    assert told["id"].startswith("camp_")
    assert (told["productName"], told["isValid"]) == (product.name, True)
    assert (told["originalPrice"], told["discountedPrice"]) == (299.99, 239.99)
    for code in ("SUMMER2026", "summer2026", "Summer2026"):
        assert nobody.get(f"{HERE}/{code}").json() == {**told, "lastUpdatedBy": None}
    assert ada.get(f"{HERE}/SUMMER2026").json() == told


def test_a_campaign_whose_product_is_gone_has_no_prices(
    web: Web, nobody: Program, product: Product
) -> None:
    running_campaign(web, product.id)
    web.run(soft_delete_product(product.id, by=ADMIN))
    told = nobody.get(f"{HERE}/SUMMER2026").json()
    assert told["productName"] == "[Product Unavailable]"
    assert (told["originalPrice"], told["discountedPrice"]) == (None, None)
    assert told["isValid"] is True


def test_an_archived_campaign_is_for_admins_alone(
    web: Web, ada: Program, nobody: Program, product: Product
) -> None:
    running_campaign(web, product.id)
    assert ada.put(f"{HERE}/summer2026", {"active": False}).json()["isValid"] is False
    assert nobody.get(f"{HERE}/SUMMER2026").status_code == 404
    assert ada.get(f"{HERE}/SUMMER2026").json()["active"] is False
    assert ada.put(f"{HERE}/SUMMER2026", {"active": True}).status_code == 200
    assert nobody.get(f"{HERE}/SUMMER2026").status_code == 200


@pytest.mark.parametrize(
    ("but", "status", "field"),
    [
        ({"code": "lower"}, 422, "code"),
        ({"code": "AB"}, 422, "code"),
        ({"code": 5}, 400, "code"),
        ({"discountPercentage": 100}, 422, "discountPercentage"),
        ({"discountPercentage": -0.01}, 422, "discountPercentage"),
        ({"discountPercentage": 12.345}, 422, "discountPercentage"),
        ({"fromDate": "2026-02-30"}, 400, "fromDate"),
        ({"fromDate": 20260101}, 400, "fromDate"),
        ({"toDate": "2026-01-01T00:00:00Z"}, 400, "toDate"),
        ({"termsConditionsLink": "ftp://x"}, 422, "termsConditionsLink"),
        ({"productId": "x"}, 422, "productId"),
        ({"discountPercentage": "20"}, 400, "discountPercentage"),
        ({"isValid": True}, 400, "isValid"),
    ],
)
def test_a_wrong_field_is_told_and_makes_nothing(
    web: Web, ada: Program, product: Product, but: dict[str, Any], status: int, field: str
) -> None:
    refused = ada.post(HERE, body(product, **but))
    assert (refused.status_code, set(faults(refused))) == (status, {field})
    assert web.run(list_campaigns()).items == []


@pytest.mark.parametrize(
    ("but", "status", "error"),
    [
        ({"toDate": "2020-01-01"}, 422, "dates-reversed"),
        ({"productId": NO_PRODUCT}, 422, "product-unavailable"),
    ],
)
def test_what_does_not_go_together_is_told(
    web: Web, ada: Program, product: Product, but: dict[str, Any], status: int, error: str
) -> None:
    refused = ada.post(HERE, body(product, **but))
    assert (refused.status_code, refused.json()["error"]) == (status, error)
    assert is_problem(refused)


def test_a_code_is_used_once_also_when_it_was_archived(
    web: Web, ada: Program, product: Product
) -> None:
    running_campaign(web, product.id)
    assert ada.post(HERE, body(product)).json()["error"] == "campaign-exists"
    web.run(soft_delete_campaign("SUMMER2026", by=ADMIN))
    refused = ada.post(HERE, body(product))
    assert (refused.status_code, refused.json()["error"]) == (409, "campaign-exists")


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"code": "OTHER1"}, 422),
        ({"productId": NO_PRODUCT}, 422),
        ({"productName": "x"}, 400),
        ({"toDate": "2020-01-01"}, 422),
        ({"discountPercentage": 100}, 422),
        ({"fromDate": None}, 400),
    ],
)
def test_a_wrong_change_changes_nothing(
    web: Web, ada: Program, product: Product, change: dict[str, Any], status: int
) -> None:
    made = running_campaign(web, product.id)
    assert ada.put(f"{HERE}/SUMMER2026", change).status_code == status
    assert web.run(get_campaign("SUMMER2026")).campaign == made


def test_a_change_shows_its_new_price(web: Web, ada: Program, product: Product) -> None:
    running_campaign(web, product.id)
    changed = ada.put(f"{HERE}/SUMMER2026", {"discountPercentage": 50}).json()
    assert (changed["discountPercentage"], changed["discountedPrice"]) == (50, 150.0)


@pytest.mark.parametrize("code", ["NOSUCH", "x", "a%20b", "%00", "A" * 51])
def test_a_code_that_is_none_is_unknown(ada: Program, code: str) -> None:
    assert ada.get(f"{HERE}/{code}").status_code == 404
    assert ada.put(f"{HERE}/{code}", {"active": False}).status_code == 404


def test_lists_are_of_all_of_those_that_run_and_of_a_product(
    web: Web, ada: Program, product: Product
) -> None:
    other = new_product(web, name="Other")
    running_campaign(web, product.id, code="RUNNING")
    new_campaign(
        web, product.id, code="EXPIRED", from_date=date(2020, 1, 1), to_date=date(2020, 2, 1)
    )
    running_campaign(web, other.id, code="OTHERS")
    running_campaign(web, other.id, code="ARCHIVED")
    web.run(soft_delete_campaign("ARCHIVED", by=ADMIN))

    def codes(query: str) -> set[str]:
        return {item["code"] for item in ada.get(f"{HERE}?{query}").json()["items"]}

    assert codes("") == {"RUNNING", "EXPIRED", "OTHERS"}
    assert codes("validOnly=true") == {"RUNNING", "OTHERS"}
    assert codes("includeInactive=true") == {"RUNNING", "EXPIRED", "OTHERS", "ARCHIVED"}
    assert codes(f"productId={other.id}") == {"OTHERS"}
    assert codes(f"productId={other.id}&includeInactive=true") == {"OTHERS", "ARCHIVED"}
    assert codes(f"productId={product.id}&validOnly=true") == {"RUNNING"}
    assert codes(f"productId={NO_PRODUCT}") == set()
    refused = ada.get(f"{HERE}?productId=x")
    assert (refused.status_code, set(faults(refused))) == (422, {"productId"})


def test_lists_are_of_those_to_come_of_those_that_are_over_and_of_archived_ones(
    web: Web, ada: Program, product: Product
) -> None:
    day, now = timedelta(days=1), today()
    for code, first, last in (
        ("NEXT", now + day, now + 2 * day),
        ("RUNS", now - day, now + day),
        ("OVER", now - 2 * day, now - day),
        ("GONE", now - day, now + day),
    ):
        new_campaign(web, product.id, code=code, from_date=first, to_date=last)
    web.run(soft_delete_campaign("GONE", by=ADMIN))

    def codes(query: str) -> list[str]:
        return [told["code"] for told in ada.get(f"{HERE}?{query}").json()["items"]]

    assert codes("when=upcoming") == ["NEXT"]
    assert codes("when=expired") == ["OVER"]
    assert codes("inactiveOnly=true") == ["GONE"]
    for query in ("when=expired&validOnly=true", f"when=upcoming&productId={product.id}"):
        assert ada.get(f"{HERE}?{query}").status_code == 400
    assert ada.get(f"{HERE}?when=someday").status_code == 400


def test_a_list_comes_page_by_page(web: Web, ada: Program, product: Product) -> None:
    for number in range(5):
        running_campaign(web, product.id, code=f"CODE_{number}")
    first = ada.get(f"{HERE}?pageSize=3&validOnly=true").json()
    query = f"pageSize=3&validOnly=true&startAt={first['startAt']}"
    second = ada.get(f"{HERE}?{query}").json()
    codes = {each["code"] for each in [*first["items"], *second["items"]]}
    assert (len(codes), second["moreAvailable"]) == (5, False)
    assert ada.get(f"{HERE}?startAt={first['startAt']}").status_code == 400
