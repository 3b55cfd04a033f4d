"""New deals: previewed, posted once, refused beside the field that is wrong."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest

from bigtime.model import scan_all
from bigtime.site.design import IdempotencyRecord
from bigtime.systems.deals.deals import fetch_brand_deals
from bigtime.systems.deals.design import Deal
from tests.web.browsing import Browser, Reader, Web, titles, words
from tests.web.editor.noted import noted_changes

NEW, POST, PREVIEW = "/editor/deals/new", "/editor/deals", "/editor/deals/preview"
LAMP = {
    "title": "A brass lamp",
    "brand_name": "apple",
    "category_name": "HOME",
    "price": "19.99",
    "list_price": "29.99",
    "link": "https://shop.example/lamp?a=1&b=2",
    "description": "It <b>shines</b>.",
}


def deals_of(web: Web, brand: str = "Apple") -> list[Deal]:
    found: list[Deal] = web.run(fetch_brand_deals(brand)).items
    return found


def send(erin: Browser, to: str = POST, **typed: Any) -> Any:
    form = erin.form(NEW, POST)
    return erin.post(to, data={**form.fields, **LAMP, **typed})


def test_a_deal_is_posted_and_everybody_sees_it(web: Web, erin: Browser, visitor: Browser) -> None:
    assert titles(visitor.get("/").text) == []  # and that is kept

    answer = send(erin)

    (deal,) = deals_of(web)
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/editor/deals/{deal.deal_id}?done=made"
    assert "Deal published." in erin.get(answer.headers["location"]).text
    assert (deal.title, deal.brand_name, deal.category_name) == ("A brass lamp", "Apple", "Home")
    assert (deal.price, deal.list_price) == (Decimal("19.99"), Decimal("29.99"))
    assert deal.description == "It <b>shines</b>."
    for page in ("/", "/brands/APPLE", "/categories/HOME"):
        assert titles(visitor.get(page).text) == ["A brass lamp"]
    assert noted_changes(web) == [("erin", "created deal", "A brass lamp")]


def test_what_need_not_be_told_is_left_out(web: Web, erin: Browser) -> None:
    assert send(erin, list_price="", description=" ").status_code == 303
    (deal,) = deals_of(web)
    assert (deal.list_price, deal.description) == (None, None)


def test_a_form_that_is_sent_twice_makes_one_deal(web: Web, erin: Browser) -> None:
    form = erin.form(NEW, POST)

    first = erin.post(POST, data={**form.fields, **LAMP})
    second = erin.post(POST, data={**form.fields, **LAMP})

    assert first.status_code == second.status_code == 303
    assert first.headers["location"] == second.headers["location"]
    assert len(deals_of(web)) == len(noted_changes(web)) == 1


def test_the_same_deal_in_other_spelling_is_the_same(web: Web, erin: Browser) -> None:
    form = erin.form(NEW, POST).fields
    first = erin.post(POST, data={**form, **LAMP})
    other = {"price": "$ 19.99", "brand_name": " APPLE ", "title": "A brass lamp "}
    again = erin.post(POST, data={**form, **LAMP, **other})
    assert again.headers["location"] == first.headers["location"]
    assert len(deals_of(web)) == 1


def test_another_deal_in_a_form_that_was_sent_is_told_and_kept(web: Web, erin: Browser) -> None:
    form = erin.form(NEW, POST).fields
    first = erin.post(POST, data={**form, **LAMP}).headers["location"]

    other = erin.post(POST, data={**form, **LAMP, "title": "A tin lamp", "price": "$5"})

    assert other.status_code == 409
    assert "This form has posted another deal already" in words(other.text)
    assert first.partition("?")[0] in Reader(other.text).links
    again = next(form for form in Reader(other.text).forms if form.action == POST)
    assert again.fields["title"] == "A tin lamp" and again.fields["price"] == "$5"
    assert again.fields["key"] != form["key"] and "Publish as a new deal" in again.text
    assert [deal.title for deal in deals_of(web)] == ["A brass lamp"]
    posted = erin.post(POST, data={**LAMP, **again.fields, "category_name": "HOME"})
    assert posted.status_code == 303
    assert sorted(deal.title for deal in deals_of(web)) == ["A brass lamp", "A tin lamp"]
    assert len(noted_changes(web)) == 2


def test_two_forms_make_two_deals(web: Web, erin: Browser) -> None:
    assert send(erin).status_code == send(erin).status_code == 303
    assert len(deals_of(web)) == len(noted_changes(web)) == 2


WRONG = [
    ("title", "", "Please fill out this field."),
    ("title", "x" * 201, "A title has 1 to 200 characters"),
    ("title", "a\u202eb", "none of them invisible"),
    ("price", "", "Please fill out this field."),
    ("price", "cheap", "A price is written in digits, such as 19.99."),
    ("price", "0", "A price is more than 0"),
    ("price", "1e5", "A price is written in digits"),
    ("price", "1.999", "at most two decimals"),
    ("price", "19,99", "Decimals follow a point"),
    ("price", "9999999999999", "A price is at most $999,999,999,999.99."),
    ("list_price", "19.99", "The list price must be higher than the price"),
    ("list_price", "much", "A price is written in digits"),
    ("link", "", "Please fill out this field."),
    ("link", "javascript:alert(1)", "A link begins with https:// or http://"),
    ("link", "https://" + "x" * 1_000, "at most 1,000 characters"),
    ("description", "x" * 501, "A description has at most 500 characters,"),
    ("brand_name", "", "Please fill out this field."),
    ("brand_name", "Nobody", "There is no such brand."),
    ("brand_name", "A#B", "cannot contain #"),
    ("category_name", "", "Please fill out this field."),
    ("category_name", "Cars", "There is no such category."),
]


@pytest.mark.parametrize("to", [POST, PREVIEW], ids=["post", "preview"])
def test_a_wrong_field_is_told_beside_it_and_nothing_is_made(
    to: str, web: Web, erin: Browser
) -> None:
    for field, typed, says in WRONG:
        answer = send(erin, to, **{field: typed})

        assert answer.status_code == 422, (field, typed)
        fault = answer.text.partition(f'id="{field}-fault">')[2].partition("<")[0]
        assert says in words(fault)
        form = answer.text.partition("</head>")[2]
        assert f"{field}-fault" in form.partition(f'name="{field}"')[2].partition(">")[0]
    assert deals_of(web) == [] and noted_changes(web) == []


def test_what_was_typed_stays(erin: Browser) -> None:
    page = send(erin, price="cheap").text
    for name in ("title", "brand_name", "price", "list_price", "link"):
        typed = {**LAMP, "price": "cheap"}[name].replace("&", "&amp;")
        assert f'value="{typed}"' in page.partition(f'name="{name}"')[2].partition(">")[0]
    assert '<option value="HOME" selected>' in page
    assert ">It &lt;b&gt;shines&lt;/b&gt;.</textarea>" in page


def test_all_faults_are_told_at_once(erin: Browser) -> None:
    answer = send(erin, title="", price="x", link="y")
    assert all(f'id="{name}-fault"' in answer.text for name in ("title", "price", "link"))


def test_a_form_without_its_key_has_expired(web: Web, erin: Browser) -> None:
    for key in ("", "short", "x" * 65):
        assert send(erin, key=key).status_code == 400
    assert deals_of(web) == []


def test_the_preview_shows_the_card_and_makes_nothing(web: Web, erin: Browser) -> None:
    answer = send(erin, PREVIEW)

    assert answer.status_code == 200
    card = answer.text.partition('id="preview"')[2].partition("</section>")[0]
    assert "33% off A brass lamp Now $19.99 was $29.99 Apple in Home" in words(card)
    assert "It &lt;b&gt;shines&lt;/b&gt;." in card and "<b>" not in card
    assert deals_of(web) == [] and noted_changes(web) == []


def test_the_preview_shows_what_there_is_of_a_form_that_is_half_filled_in(erin: Browser) -> None:
    form = erin.form(NEW, POST)
    typed = {"title": "A brass lamp", "price": "cheap"}

    answer = erin.post(PREVIEW, data={**form.fields, **typed}, headers={"hx-request": "true"})

    card = answer.text.partition('id="preview"')[2].partition("</section>")[0]
    assert answer.status_code == 200  # whoever is typing has made no mistake yet
    assert "A brass lamp" in card and "A brand in a category" in card and "cheap" not in card


def test_a_preview_can_be_posted_then(web: Web, erin: Browser) -> None:
    form = erin.form(NEW, POST)
    erin.post(PREVIEW, data={**form.fields, **LAMP})
    assert erin.post(POST, data={**form.fields, **LAMP}).status_code == 303
    assert len(deals_of(web)) == 1


def test_the_form_offers_the_brands_and_the_categories(erin: Browser) -> None:
    page = erin.get(NEW).text
    assert '<option value="Cast &amp; Crumb"></option>' in page
    assert page.count('<option value="HOME">Home</option>') == 1


def test_what_a_form_has_made_is_forgotten_by_itself(web: Web, erin: Browser) -> None:
    send(erin)
    (once,) = web.run(scan_all(IdempotencyRecord))
    assert once.expires_at > once.begun_at


def test_all_that_is_wrong_is_told_in_one_round_and_the_first_field_has_the_focus(
    erin: Browser,
) -> None:
    """S3: the list price was told only after all else was right, and Title had the focus."""
    typed = {"brand_name": "A#B", "title": "", "price": "20", "list_price": "10"}
    page = erin.submit("/editor/deals/new", "/editor/deals", **typed).text
    for name in ("brand_name", "category_name", "title", "list_price", "link"):
        assert f'id="{name}-fault"' in page, name
    assert page.count("autofocus") == 1
    assert "autofocus" in page.partition('id="brand_name"')[2].partition(">")[0]


@pytest.mark.parametrize("action", [POST, PREVIEW])
def test_what_the_store_and_the_clock_know_is_told_in_the_same_round(
    erin: Browser, action: str
) -> None:
    wrong = {"brand_name": "Nobody", "price": "oops", "ends_at": "2020-01-01T00:00"}
    answer = send(erin, action, **wrong)
    assert answer.status_code == 422
    assert set(re.findall(r'id="(\w+)-fault"', answer.text)) == set(wrong)
    assert "autofocus" in answer.text.partition('id="brand_name"')[2].partition(">")[0]


def test_the_preview_shows_no_discount_below_nothing(erin: Browser) -> None:
    typed = {"title": "A lamp", "price": "1234.50", "list_price": "999"}
    page = words(erin.submit("/editor/deals/new", "/editor/deals/preview", **typed).text)
    preview = page.partition(" Preview ")[2]
    assert "$1,234.50" in preview and "off" not in preview and "$999.00" not in preview
