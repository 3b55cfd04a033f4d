"""Search on the site: for shoppers, editors, admins and programs; also while there is none."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

import pytest

from bigtime.model import delete
from bigtime.systems.deals import Deal, update_deal
from bigtime.systems.portal import create_tenant
from tests.systems.portal.scenes import new_tenant
from tests.web.browsing import Browser, Web, words
from tests.web.conftest import PostDeal

CatchUp = Callable[[], None]


def found_titles(html: str) -> list[str]:
    """The titles of the deals found, as they are read."""
    rows = html.partition('id="found-deals"')[2]
    return [words(title) for title in re.findall(r'<a href="/deals/\w+"[^>]*>(.*?)</a>', rows)]


# The page


@pytest.mark.parametrize(
    "page", ["/", "/brands", "/categories", "/log-in", "/trending", "/nowhere"]
)
def test_every_page_has_a_search_box_that_works_without_javascript(
    visitor: Browser, page: str
) -> None:
    html = visitor.get(page).text
    form = html.partition('<form class="search" role="search"')[2].partition("</form>")[0]
    assert 'method="get" action="/search"' in form and 'name="q"' in form and "<button" in form


def test_deals_are_found_by_words_with_highlights(
    visitor: Browser, post_deal: PostDeal, catch_up: CatchUp
) -> None:
    post_deal("Noise cancelling headphones", description="Headphones <for> all & sundry")
    post_deal("A lamp")
    catch_up()
    page = visitor.get("/search", params={"q": "headphones"})
    assert page.status_code == 200 and found_titles(page.text) == ["Noise cancelling headphones"]
    assert "Noise cancelling <mark>headphones</mark>" in page.text
    assert "<mark>Headphones</mark> &lt;for&gt; all &amp; sundry" in page.text
    assert "1 deal" in words(page.text)


def test_a_deal_that_is_found_names_its_store_and_when_it_was_posted(
    visitor: Browser, post_deal: PostDeal, catch_up: CatchUp
) -> None:
    deal = post_deal("A lamp", link="https://www.shop.example/lamp")
    catch_up()
    page = visitor.get("/search", params={"q": "lamp"}).text
    assert re.search(r", shop\.example, \d+ \w+ \d{4}, \d\d:\d\d UTC", words(page))
    assert f'<time datetime="{deal.deal_id.at.isoformat()}">' in page


def test_a_typo_is_corrected_and_that_is_said(
    visitor: Browser, post_deal: PostDeal, catch_up: CatchUp
) -> None:
    post_deal("Noise cancelling headphones")
    catch_up()
    page = visitor.get("/search", params={"q": "headfones"}).text
    assert found_titles(page) == ["Noise cancelling headphones"]
    assert "Showing results for headphones" in words(page)


def test_deals_are_sorted_and_filtered(
    visitor: Browser, post_deal: PostDeal, catch_up: CatchUp
) -> None:
    post_deal("Lamp A", price=Decimal(30), list_price=Decimal(40))
    post_deal("Lamp B", price=Decimal(10), brand_name="Cast & Crumb")
    post_deal("Lamp C", price=Decimal(20), list_price=Decimal(40), category_name="Toys")
    catch_up()

    def list_titles(**query: str) -> list[str]:
        return found_titles(visitor.get("/search", params={"q": "lamp", **query}).text)

    assert list_titles(sort="price") == ["Lamp B", "Lamp C", "Lamp A"]
    assert list_titles(sort="highest-price") == ["Lamp A", "Lamp C", "Lamp B"]
    assert list_titles(sort="discount") == ["Lamp C", "Lamp A", "Lamp B"]
    assert list_titles(sort="price", category="HOME") == ["Lamp B", "Lamp A"]
    assert list_titles(brand="CAST & CRUMB") == ["Lamp B"]
    assert list_titles(sort="price", min_price="20", max_price="30") == ["Lamp C", "Lamp A"]
    assert "Home 2 deals Toys 1 deal " in words(visitor.get("/search?q=lamp").text)
    links = visitor.links("/search?q=lamp&sort=price")
    assert "/search?q=lamp&sort=price&category=TOYS" in links
    assert "/search?q=lamp&sort=price&brand=CAST+%26+CRUMB" in links
    chosen = visitor.links("/search?q=lamp&sort=price&category=TOYS")
    assert "/search?q=lamp&sort=price" in chosen  # the chosen one again drops the filter


def test_what_is_wrong_is_said_beside_the_field(visitor: Browser, catch_up: CatchUp) -> None:
    catch_up()
    page = visitor.get("/search", params={"q": "lamp", "min_price": "cheap"})
    assert page.status_code == 422 and 'id="min_price-fault"' in page.text
    assert visitor.get("/search", params={"sort": "colour"}).status_code == 422
    assert visitor.get("/search", params={"q": "(" * 10_000}).status_code == 422


@pytest.mark.parametrize("text", ["(" * 199, "title:lamp", "\0", "<script>", "😀", "'"])
def test_hostile_text_finds_nothing_and_breaks_nothing(
    visitor: Browser, post_deal: PostDeal, catch_up: CatchUp, text: str
) -> None:
    post_deal("A torch")
    catch_up()
    page = visitor.get("/search", params={"q": text})
    assert page.status_code == 200 and "<script>" not in page.text
    assert visitor.get("/search/suggestions", params={"q": text}).status_code == 200


@pytest.mark.parametrize("text", ["", "((", "!?"])
def test_without_a_word_all_deals_are_listed_newest_first(
    visitor: Browser, old_deals: Callable[[int], list[Deal]], catch_up: CatchUp, text: str
) -> None:
    newest = old_deals(8)
    catch_up()
    rows = visitor.get("/search", params={"q": text}).text.partition('id="found-deals"')[2]
    listed = dict.fromkeys(re.findall(r'<a href="/deals/(\w+)"', rows))
    assert [*listed] == [deal.deal_id for deal in newest]


def test_pages_go_on_by_a_signed_cursor(
    visitor: Browser, post_deal: PostDeal, catch_up: CatchUp
) -> None:
    for number in range(30):
        post_deal(f"Lamp {number}")
    catch_up()
    first = visitor.get("/search", params={"q": "lamp", "sort": "newest"})
    (more,) = {link for link in visitor.links("/search?q=lamp&sort=newest") if "after=" in link}
    rest = visitor.get(more)
    assert len(found_titles(first.text)) == 25 and len(found_titles(rest.text)) == 5
    assert {*found_titles(first.text)}.isdisjoint(found_titles(rest.text))
    assert visitor.get(more.replace("q=lamp", "q=torch")).status_code == 400
    assert visitor.get(f"{more}x").status_code == 400


def test_a_page_shows_the_deal_as_it_is_now_and_none_that_is_gone(
    web: Web, visitor: Browser, post_deal: PostDeal, catch_up: CatchUp
) -> None:
    kept, gone = post_deal("Lamp A", price=Decimal(50)), post_deal("Lamp B")
    catch_up()
    web.run(update_deal(kept.deal_id, price=Decimal("45.50")))
    web.run(delete(gone.own_key()))
    page = visitor.get("/search", params={"q": "lamp"}).text  # the index is behind
    assert "$45.50" in page and "$50.00" not in page and found_titles(page) == ["Lamp A"]


def test_suggestions_are_options_of_the_box(
    visitor: Browser, post_deal: PostDeal, catch_up: CatchUp
) -> None:
    post_deal('Headphones "studio"')
    catch_up()
    answer = visitor.get("/search/suggestions", params={"q": "hea"})
    assert answer.text == '<option value="headphones">'
    assert visitor.get("/search/suggestions", params={"q": ""}).text == ""


# While there is no index


def test_the_site_goes_on_without_an_index_and_says_so(
    visitor: Browser, erin: Browser, ada: Browser, post_deal: PostDeal
) -> None:
    deal = post_deal("A lamp")
    page = visitor.get("/search", params={"q": "lamp"})
    assert page.status_code == 503
    assert "Search is not available at the moment." in words(page.text)
    assert visitor.get("/search/suggestions", params={"q": "la"}).text == ""
    assert visitor.get("/").status_code == visitor.get(f"/deals/{deal.deal_id}").status_code == 200
    for found in (
        erin.get("/editor/find", params={"deal": "lamp"}),
        ada.get("/admin/tenants/find", params={"email": "Sandton"}),
    ):
        assert found.status_code == 422
        assert "Search is not available at the moment." in words(found.text)
    assert erin.get("/editor/find", params={"deal": deal.deal_id}).status_code == 303
    answer = visitor.get("/api/v1/search", params={"q": "lamp"})
    assert (answer.status_code, answer.json()["error"]) == (503, "search-unavailable")


# The desk and the admin


def test_editors_find_deals_by_words(erin: Browser, post_deal: PostDeal, catch_up: CatchUp) -> None:
    bar, lamp = post_deal("Soundbar 2.1"), post_deal("A lamp")
    catch_up()
    page = erin.get("/editor/find", params={"deal": "soundbar"})
    listed = page.text.partition('id="found"')[2].partition("</section>")[0]
    assert page.status_code == 200
    assert f"/editor/deals/{bar.deal_id}" in listed and lamp.deal_id not in listed
    assert erin.get("/editor/find", params={"deal": "nothing such"}).status_code == 422


def test_admins_find_tenants_by_organization_or_part_of_an_address(
    web: Web, ada: Browser, catch_up: CatchUp
) -> None:
    details = {"organization_name": "Rosebank Bakery", "by": "ada@example.com"}
    tenant = web.run(create_tenant("joan.smith@sandton.example", **details))
    new_tenant(web, "someone@else.example")
    catch_up()
    for text in ("rosebank", "Rosbank", "bakery", "sandton", "oan.smi", "smith@sand", "ndto"):
        page = ada.get("/admin/tenants/find", params={"email": text})
        assert page.status_code == 200, text
        assert f"/admin/tenants/{tenant.id}" in page.text and "someone@else" not in page.text
    exact = ada.get("/admin/tenants/find", params={"email": "joan.smith@sandton.example"})
    assert exact.headers["location"] == f"/admin/tenants/{tenant.id}"
    nothing = words(ada.get("/admin/tenants/find", params={"email": "nobody"}).text)
    assert "There is no such tenant." in nothing and "looks like" not in nothing


def test_only_admins_find_tenants(erin: Browser, visitor: Browser) -> None:
    assert erin.get("/admin/tenants/find", params={"email": "a"}).status_code == 403
    assert visitor.get("/admin/tenants/find", params={"email": "a"}).status_code in (303, 401)


# The API


def test_programs_search_with_filters_counts_and_cursors(
    visitor: Browser, post_deal: PostDeal, catch_up: CatchUp
) -> None:
    for number in range(30):
        post_deal(f"Lamp {number}", price=Decimal(number + 1))
    post_deal("Torch")
    catch_up()
    asked = {"q": "lamp", "sort": "price", "minPrice": "3", "category": "HOME"}
    body = visitor.get("/api/v1/search", params=asked).json()
    assert body["total"] == 28 and len(body["items"]) == 25 and body["moreAvailable"]
    assert [item["price"] for item in body["items"]] == [*range(3, 28)]
    assert body["items"][0]["highlights"]["title"] == "<mark>Lamp</mark> 2"
    assert body["facets"]["category"] == [{"value": "HOME", "hits": 28}]
    rest = visitor.get("/api/v1/search", params={**asked, "startAt": body["startAt"]}).json()
    assert [item["price"] for item in rest["items"]] == [28, 29, 30] and rest["startAt"] is None
    other = visitor.get("/api/v1/search", params={"q": "torch", "startAt": body["startAt"]})
    assert other.status_code == 400
    assert visitor.get("/api/v1/search", params={"colour": "red"}).status_code == 400
    assert visitor.get("/api/v1/search", params={"minPrice": "NaN"}).status_code == 400
    assert visitor.get("/api/v1/search", params={"sort": "colour"}).status_code == 400
    assert visitor.get("/api/v1/search", params={"q": "(" * 10_000}).status_code == 400


def test_the_route_is_documented(visitor: Browser) -> None:
    described = visitor.get("/openapi.json").json()["paths"]["/api/v1/search"]["get"]
    assert described["summary"] == "Search Deals" and "503" in described["responses"]
