"""Deals that are changed: what is told, what is not, and what two editors do at once."""

from __future__ import annotations

from decimal import Decimal
from html import unescape
from typing import Any

import pytest

from bigtime.store.driver import Exchange
from bigtime.systems.deals.deals import fetch_deal, update_deal
from bigtime.systems.deals.design import Deal
from bigtime.systems.deals.featured import set_front_page_deals
from tests.web.browsing import Browser, Web, titles, words
from tests.web.conftest import PostDeal
from tests.web.editor.noted import noted_changes

NOBODY = "2" * 27
OAK = {"description": "Oak."}
"""What stands in the form's longer field."""


@pytest.fixture
def lamp(post_deal: PostDeal) -> Deal:
    return post_deal(list_price=Decimal("29.99"), description="Oak.")


def path(deal: Deal) -> str:
    return f"/editor/deals/{deal.deal_id}"


def now(web: Web, deal: Deal) -> Deal:
    found: Deal = web.run(fetch_deal(deal.deal_id))
    return found


def test_a_deal_is_changed_and_everybody_sees_it(
    web: Web, erin: Browser, visitor: Browser, lamp: Deal
) -> None:
    for page in (f"/deals/{lamp.deal_id}", "/", "/brands/APPLE", "/categories/HOME"):
        assert "A lamp" in visitor.get(page).text  # and that is kept

    answer = erin.submit(path(lamp), path(lamp), **OAK, title="A better lamp", price="15")

    assert answer.headers["location"] == f"{path(lamp)}?done=changed"
    assert "Changes saved." in erin.get(answer.headers["location"]).text
    changed = now(web, lamp)
    assert [change.price for change in changed.prices] == [lamp.price, Decimal(15)]
    facts = {"title": "A better lamp", "price": Decimal(15), "price_history": changed.price_history}
    assert changed == lamp.model_copy(update=facts)
    assert "$15.00" in visitor.get(f"/deals/{lamp.deal_id}").text
    for page in ("/", "/brands/APPLE", "/categories/HOME"):
        assert titles(visitor.get(page).text) == ["A better lamp"]
    assert noted_changes(web) == [("erin", "changed deal", "A better lamp: title, price")]


def test_the_form_has_what_the_deal_says(erin: Browser, lamp: Deal) -> None:
    fields = erin.form(path(lamp), path(lamp)).fields
    assert fields["title"] == "A lamp" and fields["price"] == "19.99"
    assert fields["list_price"] == "29.99" and fields["link"] == lamp.link
    assert ">Oak.</textarea>" in erin.get(path(lamp)).text


def test_what_is_emptied_goes(web: Web, erin: Browser, lamp: Deal) -> None:
    erin.submit(path(lamp), path(lamp), list_price="", description="")
    assert (now(web, lamp).list_price, now(web, lamp).description) == (None, None)


def test_to_send_the_form_as_it_was_changes_nothing(web: Web, erin: Browser, lamp: Deal) -> None:
    answer = erin.submit(path(lamp), path(lamp), **OAK)
    assert answer.status_code == 303
    assert now(web, lamp) == lamp and noted_changes(web) == []


WRONG = [
    ("title", "", "Please fill out this field."),
    ("price", "free", "A price is written in digits"),
    ("price", "30", "The list price must be higher than the price"),
    ("list_price", "1", "The list price must be higher than the price"),
    ("link", "ftp://shop.example", "A link begins with https:// or http://"),
    ("description", "x" * 501, "at most 500 characters"),
]


@pytest.mark.parametrize("to", ["", "/preview"], ids=["change", "preview"])
def test_a_wrong_field_is_told_beside_it_and_nothing_is_changed(
    to: str, web: Web, erin: Browser, lamp: Deal
) -> None:
    form = erin.form(path(lamp), path(lamp))
    for field, typed, says in WRONG:
        answer = erin.post(path(lamp) + to, data={**form.fields, **OAK, field: typed})

        beside = "list_price" if "list price" in says else field
        fault = answer.text.partition(f'id="{beside}-fault">')[2].partition("<")[0]
        assert answer.status_code == 422 and says in words(fault), (field, typed)
    assert now(web, lamp) == lamp and noted_changes(web) == []


def test_the_preview_changes_nothing(web: Web, erin: Browser, lamp: Deal) -> None:
    form = erin.form(path(lamp), path(lamp))
    answer = erin.post(
        f"{path(lamp)}/preview", data={**form.fields, **OAK, "title": "A <i>lamp</i>"}
    )
    card = answer.text.partition('id="preview"')[2].partition("</section>")[0]
    assert answer.status_code == 200 and "<h3>A &lt;i&gt;lamp&lt;/i&gt;</h3>" in card
    assert "Apple in Home" in card
    assert now(web, lamp) == lamp


def test_who_comes_second_is_told_and_sees_both(web: Web, erin: Browser, lamp: Deal) -> None:
    form = erin.form(path(lamp), path(lamp))
    web.run(update_deal(lamp.deal_id, title="A red lamp"))

    late = erin.post(path(lamp), data={**form.fields, **OAK, "title": "A blue lamp"})

    assert late.status_code == 409
    assert "Someone else has changed this deal meanwhile" in late.text
    assert 'value="A blue lamp"' in late.text and "A red lamp</dd>" in late.text
    assert now(web, lamp).title == "A red lamp" and noted_changes(web) == []


def test_who_has_seen_both_may_send_theirs_again(web: Web, erin: Browser, lamp: Deal) -> None:
    form = erin.form(path(lamp), path(lamp))
    web.run(update_deal(lamp.deal_id, title="A red lamp"))
    late = erin.post(path(lamp), data={**form.fields, **OAK, "title": "A blue lamp"})
    seen = unescape(late.text.partition('name="seen" value="')[2].partition('"')[0])

    again = erin.post(path(lamp), data={**form.fields, **OAK, "title": "A blue lamp", "seen": seen})

    assert again.status_code == 303 and now(web, lamp).title == "A blue lamp"


def test_a_change_between_the_look_and_the_write_is_not_lost(
    web: Web, erin: Browser, lamp: Deal
) -> None:
    form = erin.form(path(lamp), path(lamp))

    def retitled_meanwhile(exchange: Exchange) -> None:
        if exchange.request.operation == "GetItem" and lamp.deal_id in repr(
            exchange.request.params.get("Key")
        ):
            web.site.store.hooks = hooks
            web.run(update_deal(lamp.deal_id, title="A red lamp"))

    hooks = web.site.store.hooks
    web.site.store.hooks = (*hooks, retitled_meanwhile)
    late = erin.post(path(lamp), data={**form.fields, **OAK, "title": "A blue lamp"})

    assert (
        late.status_code == 409
        and now(web, lamp).title == "A red lamp"
        and noted_changes(web) == []
    )


def test_a_deal_that_is_not_there_is_404(erin: Browser) -> None:
    data: dict[str, Any] = {"form_token": erin.token()}
    for deal_id in (NOBODY, "no-id"):
        assert erin.get(f"/editor/deals/{deal_id}").status_code == 404
        for to in ("", "/preview", "/hot"):
            assert erin.post(f"/editor/deals/{deal_id}{to}", data=data).status_code == 404


# Where it is featured


def test_who_changes_what_featured_places_do_not_show_is_not_bothered(
    web: Web, erin: Browser, lamp: Deal
) -> None:
    web.run(set_front_page_deals([lamp.deal_id]))
    changed = erin.submit(path(lamp), path(lamp), description="Pine.").headers["location"]
    assert "It is featured" not in erin.get(changed).text
