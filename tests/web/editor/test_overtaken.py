"""Two editors at once: nobody's work is lost without their being told, by whichever way."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from bigtime.systems.accounts.design import Role
from bigtime.systems.deals.deals import fetch_deal, update_deal
from bigtime.systems.deals.design import Deal
from bigtime.systems.deals.featured import set_front_page_deals
from bigtime.systems.deals.front_page import fetch_front_page
from tests.web.browsing import Browser, Form, Reader, Web, words
from tests.web.conftest import PostDeal
from tests.web.editor.noted import noted_changes

FRONT = "/editor/featured/front-page"


@pytest.fixture
def lamp(post_deal: PostDeal) -> Deal:
    return post_deal(list_price=Decimal("29.99"))


@pytest.fixture
def ed(web: Web) -> Browser:
    """Another editor."""
    return web.signed_in("ed", Role.EDITOR)


def path(deal: Deal) -> str:
    return f"/editor/deals/{deal.deal_id}"


def form_in(html: str, action: str) -> Form:
    """The form on a page that was answered, which is sent to that address."""
    forms = [form for form in Reader(html).forms if form.action == action]
    return next(form for form in forms if "form_token" in form.fields)


def now(web: Web, deal: Deal) -> Deal:
    found: Deal = web.run(fetch_deal(deal.deal_id))
    return found


# A deal


@pytest.mark.parametrize(
    ("to", "title", "status"),
    [("", "", 422), ("/preview", "A blue lamp", 200), ("/preview", "", 422)],
    ids=["a fault", "a preview", "a preview with a fault"],
)
def test_a_detour_does_not_hide_what_another_changed(
    to: str, title: str, status: int, web: Web, erin: Browser, ed: Browser, lamp: Deal
) -> None:
    began = erin.form(path(lamp), path(lamp)).fields
    ed.submit(path(lamp), path(lamp), price="1.00")

    detour = erin.post(path(lamp) + to, data={**began, "title": title})
    shown = form_in(detour.text, path(lamp)).fields
    late = erin.post(path(lamp), data={**shown, "title": "A blue lamp"})

    assert (detour.status_code, late.status_code) == (status, 409)
    assert (now(web, lamp).title, now(web, lamp).price) == ("A lamp", Decimal(1))
    assert [who for who, *_ in noted_changes(web)] == ["ed"]


def overtaken(erin: Browser, ed: Browser, lamp: Deal) -> Any:
    """What an editor is answered after another has changed the price."""
    began = erin.form(path(lamp), path(lamp)).fields
    ed.submit(path(lamp), path(lamp), price="1.00", link="https://shop.example/other")
    return erin.post(path(lamp), data={**began, "title": "A blue lamp", "description": "Blue."})


def test_both_are_shown_side_by_side_where_they_differ(
    erin: Browser, ed: Browser, lamp: Deal
) -> None:
    late = overtaken(erin, ed, lamp)

    compared = words(late.text.partition('<dl class="facts">')[2].partition("</dl>")[0])
    assert late.status_code == 409
    assert compared == (
        "Title Theirs: A lamp Yours: A blue lamp Description Theirs: none Yours: Blue."
    )
    assert "ed has changed this deal meanwhile: link, price." in words(late.text)


def test_theirs_is_taken_by_a_link(web: Web, erin: Browser, ed: Browser, lamp: Deal) -> None:
    late = overtaken(erin, ed, lamp)
    taking = late.text.partition("Use theirs")[0].rpartition('href="')[2].partition('"')[0]
    assert taking == path(lamp)
    assert erin.form(taking, path(lamp)).fields["price"] == "1.00"


def test_mine_is_kept_knowingly(web: Web, erin: Browser, ed: Browser, lamp: Deal) -> None:
    late = overtaken(erin, ed, lamp)
    mine = form_in(late.text, path(lamp))

    again = erin.post(path(lamp), data=mine.fields)

    assert "Keep mine" in mine.text and "Save changes" not in mine.text
    assert again.status_code == 303
    kept = now(web, lamp)
    assert (kept.title, kept.description) == ("A blue lamp", "Blue.")
    assert (kept.price, kept.link) == (Decimal("1.00"), "https://shop.example/other")


def test_what_both_have_changed_is_shown_and_kept_as_typed(
    web: Web, erin: Browser, ed: Browser, lamp: Deal
) -> None:
    began = erin.form(path(lamp), path(lamp)).fields
    ed.submit(path(lamp), path(lamp), price="1.00", list_price="")
    late = erin.post(path(lamp), data={**began, "price": "2.50"})
    assert "Price Theirs: $1.00 Yours: $2.50" in words(late.text)
    mine = form_in(late.text, path(lamp)).fields
    assert (mine["price"], mine["list_price"]) == ("2.50", "")
    assert erin.post(path(lamp), data=mine).status_code == 303
    assert (now(web, lamp).price, now(web, lamp).list_price) == (Decimal("2.50"), None)


@pytest.mark.parametrize("seen", ["", "x", "[1]", '{"price": "x"}', "{}"])
def test_a_form_that_does_not_say_what_it_showed_is_taken_as_typed(
    seen: str, web: Web, erin: Browser, lamp: Deal
) -> None:
    began = erin.form(path(lamp), path(lamp)).fields
    late = erin.post(path(lamp), data={**began, "seen": seen, "price": "2.50"})
    assert late.status_code == 409
    assert form_in(late.text, path(lamp)).fields["price"] == "2.50"
    assert now(web, lamp) == lamp


def test_who_keeps_theirs_is_told_again_if_it_changed_again(
    web: Web, erin: Browser, ed: Browser, lamp: Deal
) -> None:
    mine = form_in(overtaken(erin, ed, lamp).text, path(lamp)).fields
    web.run(update_deal(lamp.deal_id, price=Decimal(2)))
    assert erin.post(path(lamp), data=mine).status_code == 409
    assert now(web, lamp).price == 2


def test_a_change_that_is_sent_twice_is_no_conflict(web: Web, erin: Browser, lamp: Deal) -> None:
    form = erin.form(path(lamp), path(lamp)).fields
    for _ in range(2):
        answer = erin.post(path(lamp), data={**form, "title": "A blue lamp"})
        assert answer.status_code == 303
    assert len(noted_changes(web)) == 1


# Featured deals


@pytest.fixture
def lamps(web: Web, old_deals: Any) -> list[Deal]:
    """Deals, of which three are on the front page."""
    deals: list[Deal] = old_deals(8)
    web.run(set_front_page_deals([deal.deal_id for deal in deals[:3]]))
    return deals


def featured_titles(web: Web) -> list[str]:
    front, _ = web.run(fetch_front_page())
    return [featured_deal.deal_id for featured_deal in front.featured_deals]


def ids(*deals: Deal) -> str:
    return ".".join(deal.deal_id for deal in deals)


def draft_fields(html: str) -> dict[str, str]:
    """The fields that every button of a draft sends with it."""
    return next(
        form.fields
        for form in Reader(html).forms
        if "deals" in form.fields and "form_token" not in form.fields
    )


def press(erin: Browser, html: str, **button: str) -> Any:
    return erin.get(FRONT, params={**draft_fields(html), **button})


def published_by(editor: Browser, *deals: Deal) -> Any:
    form = form_in(editor.get(FRONT).text, FRONT).fields
    return editor.post(FRONT, data={**form, "deals": ids(*deals)})


def test_a_draft_remembers_what_it_began_from(
    web: Web, erin: Browser, ed: Browser, lamps: list[Deal]
) -> None:
    began = erin.get(FRONT).text
    assert published_by(ed, *lamps[:3], lamps[7]).status_code == 303

    draft = press(erin, began, down=lamps[0].deal_id).text
    draft = press(erin, draft, add="nonsense").text
    late = erin.post(FRONT, data=form_in(draft, FRONT).fields)

    assert late.status_code == 409
    assert featured_titles(web) == [deal.deal_id for deal in (*lamps[:3], lamps[7])]
    assert [who for who, *_ in noted_changes(web)] == ["ed"]


def test_the_way_to_older_deals_remembers_it_too(
    web: Web, erin: Browser, ed: Browser, old_deals: Any
) -> None:
    deals = old_deals(30)
    web.run(set_front_page_deals([deals[0].deal_id]))
    (older,) = [link for link in erin.links(FRONT) if "&after=" in link]
    published_by(ed, deals[1])
    late = erin.post(FRONT, data=form_in(erin.get(older).text, FRONT).fields)
    assert late.status_code == 409 and featured_titles(web) == [deals[1].deal_id]


def test_a_draft_that_does_not_say_what_it_began_from_overwrites_nothing(
    web: Web, erin: Browser, lamps: list[Deal]
) -> None:
    draft = erin.get(FRONT, params={"deals": ids(lamps[4])}).text
    assert erin.post(FRONT, data=form_in(draft, FRONT).fields).status_code == 409
    assert featured_titles(web) == [deal.deal_id for deal in lamps[:3]]


def late_choice(erin: Browser, ed: Browser, lamps: list[Deal]) -> Any:
    """What an editor is answered who publishes after another."""
    form = form_in(erin.get(FRONT).text, FRONT).fields
    published_by(ed, lamps[7], lamps[0])
    return erin.post(FRONT, data={**form, "deals": ids(*lamps[1:3], lamps[0])})


def test_both_choices_are_shown(erin: Browser, ed: Browser, lamps: list[Deal]) -> None:
    page = late_choice(erin, ed, lamps).text
    theirs = page.partition('aria-label="Theirs"')[2].partition("</ol>")[0]
    mine = page.partition('aria-label="Draft"')[2].partition("</ol>")[0]
    assert [title in words(theirs) for title in ("Lamp 7", "Lamp 0", "Lamp 1")] == [
        True,
        True,
        False,
    ]
    assert [title in words(mine) for title in ("Lamp 1", "Lamp 2", "Lamp 7")] == [True, True, False]
    assert "Use theirs" in page and "Publish mine instead" in page


def test_one_of_theirs_is_added_to_mine(
    web: Web, erin: Browser, ed: Browser, lamps: list[Deal]
) -> None:
    page = late_choice(erin, ed, lamps).text
    theirs = page.partition('aria-label="Theirs"')[2].partition("</ol>")[0]
    assert f'name="add" value="{lamps[7].deal_id}"' in theirs
    assert f'name="add" value="{lamps[0].deal_id}"' not in theirs  # it is in both
    both = press(erin, page, add=lamps[7].deal_id).text

    assert erin.post(FRONT, data=form_in(both, FRONT).fields).status_code == 303
    assert featured_titles(web) == [deal.deal_id for deal in (*lamps[1:3], lamps[0], lamps[7])]


def test_my_choice_is_published_knowingly(
    web: Web, erin: Browser, ed: Browser, lamps: list[Deal]
) -> None:
    mine = form_in(late_choice(erin, ed, lamps).text, FRONT).fields
    assert erin.post(FRONT, data=mine).status_code == 303
    assert featured_titles(web) == [deal.deal_id for deal in (*lamps[1:3], lamps[0])]


def test_a_choice_that_is_sent_twice_is_no_conflict(
    web: Web, erin: Browser, lamps: list[Deal]
) -> None:
    form = form_in(erin.get(FRONT).text, FRONT).fields
    for _ in range(2):
        answer = erin.post(FRONT, data={**form, "deals": ids(lamps[4])})
        assert answer.status_code == 303
    assert featured_titles(web) == [lamps[4].deal_id]
