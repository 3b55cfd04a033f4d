"""At the desk: an end, taking a deal off, its brand and category, brands, and a test message."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from bigtime.model import delete, load_many
from bigtime.systems.accounts.design import Role
from bigtime.systems.cart.line import put_in_cart
from bigtime.systems.deals.deals import fetch_brand_deals, fetch_deal_for_editor, update_deal
from bigtime.systems.deals.design import Deal, User
from bigtime.systems.deals.lifecycle import expire_deals, view_unpublished_deals
from bigtime.systems.deals.users import view_messages
from bigtime.web.http.settings import Settings
from bigtime.web.worker import Worker
from tests.web.browsing import Browser, Web, words
from tests.web.conftest import PostDeal
from tests.web.editor.noted import noted_changes

PAST = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def lamp(post_deal: PostDeal) -> Deal:
    return post_deal()


def path(deal: Deal) -> str:
    return f"/editor/deals/{deal.deal_id}"


def now(web: Web, deal: Deal) -> Deal:
    found: Deal = web.run(fetch_deal_for_editor(deal.deal_id))
    return found


# An end


def test_an_end_is_set_at_posting_and_shown_in_utc(web: Web, erin: Browser) -> None:
    typed = {"brand_name": "Apple", "category_name": "HOME", "title": "A rug", "price": "5"}
    more = {"link": "https://shop.example/rug", "ends_at": "2099-12-24T18:30"}
    made = erin.submit("/editor/deals/new", "/editor/deals", **typed, **more)
    page = erin.get(made.headers["location"]).text
    assert "ends 24 December 2099, 18:30 UTC" in words(page)
    assert 'type="datetime-local" value="2099-12-24T18:30"' in page
    (deal,) = web.run(fetch_brand_deals("Apple"))
    assert "Ends 24 December 2099, 18:30 UTC" in words(erin.get(f"/deals/{deal.deal_id}").text)


@pytest.mark.parametrize(
    ("typed", "fault"),
    [
        ("tomorrow", "Write the end as a date and a time in UTC"),
        ("2020-01-01T00:00", "This end is in the past; choose a later one."),
    ],
)
def test_an_end_that_will_not_do_keeps_the_form(erin: Browser, typed: str, fault: str) -> None:
    facts = {"brand_name": "Apple", "category_name": "HOME", "title": "A rug", "price": "5"}
    answer = erin.submit(
        "/editor/deals/new",
        "/editor/deals",
        **facts,
        link="https://shop.example/rug",
        ends_at=typed,
    )
    assert answer.status_code == 422 and fault in words(answer.text)
    assert 'id="ends_at-fault"' in answer.text


def test_an_expired_deal_says_so_on_every_page_and_is_not_sold(
    web: Web, erin: Browser, alex: Browser, post_deal: PostDeal
) -> None:
    lamp = post_deal(ends_at=datetime.now(UTC) + timedelta(hours=1))
    public = f"/deals/{lamp.deal_id}"
    assert "Add to cart" in alex.get(public).text and "Expired" not in alex.get("/").text

    erin.submit(path(lamp), path(lamp), ends_at="2026-01-01T00:00")

    page = alex.get(public).text
    assert "This deal has expired. It ended 1 January 2026, 00:00 UTC" in words(page)
    assert "Add to cart" not in page and "See deal" in page
    for address in ("/brands/APPLE", "/categories/HOME"):
        assert "Expired" in words(alex.get(address).text), address
    refused = alex.post("/cart/add", data={"form_token": alex.token(), "deal_id": lamp.deal_id})
    assert refused.status_code == 422
    assert "This deal has expired, and cannot be put in the cart." in words(refused.text)
    assert "has expired, so nobody will be notified" in words(erin.get(f"{path(lamp)}/hot").text)
    asked = erin.post(f"{path(lamp)}/hot", data={"form_token": erin.token()})
    assert asked.status_code == 422

    erin.submit(path(lamp), path(lamp), ends_at="")
    assert "Add to cart" in alex.get(public).text


def test_the_worker_expires_what_is_due(web: Web, lamp: Deal) -> None:
    web.run(update_deal(lamp.deal_id, ends_at=datetime.now(UTC) + timedelta(seconds=50)))
    worker = Worker(web.store, Settings())
    (chore,) = [each for each in worker.chores if each.name == "ends of deals"]
    assert chore.seconds <= 30
    web.store.clock = lambda: datetime.now(UTC) + timedelta(minutes=1)
    chore.try_once()
    assert now(web, lamp).status == "expired"
    assert web.run(expire_deals()) == 0


# Taking a deal off


def test_a_deal_is_taken_off_after_a_question_and_comes_back(
    web: Web, erin: Browser, alex: Browser, lamp: Deal
) -> None:
    off = f"{path(lamp)}/unpublish"
    assert off in erin.links(path(lamp)) and "Unpublish this deal?" in erin.get(off).text
    assert now(web, lamp).is_listed

    done = erin.submit(off, off, why="The <b>price</b> was wrong")

    page = words(erin.get(done.headers["location"]).text)
    assert "Unpublished. Shoppers do not see this deal: The <b>price</b> was wrong" in page
    gone = alex.get(f"/deals/{lamp.deal_id}")
    assert gone.status_code == 404 and "This deal is no longer available." in words(gone.text)
    assert alex.get(f"/deals/{lamp.deal_id}/go").status_code == 404
    for address in ("/", "/brands/APPLE", "/categories/HOME", "/sitemap.xml", "/editor"):
        assert lamp.deal_id not in erin.get(address).text.split("Latest changes")[0], address
    assert erin.get("/editor/find", params={"deal": lamp.deal_id}).status_code == 303
    assert erin.get(off).status_code == 303

    erin.submit(path(lamp), f"{path(lamp)}/publish")
    assert alex.get(f"/deals/{lamp.deal_id}").status_code == 200
    assert [what for _, what, _ in noted_changes(web)] == [
        "published deal again",
        "unpublished deal",
    ]


def test_the_desk_lists_what_is_unpublished(
    web: Web, erin: Browser, lamp: Deal, post_deal: PostDeal
) -> None:
    rug = post_deal("A rug")
    assert "No unpublished deals." in words(erin.get("/editor/unpublished").text)
    for deal in (lamp, rug):
        erin.submit(f"{path(deal)}/unpublish", f"{path(deal)}/unpublish", why="A <b>mistake</b>")
    assert "/editor/unpublished" in erin.links("/editor")
    listed = erin.get("/editor/unpublished").text
    assert "A rug" in listed and "A lamp" in listed and "A <b>mistake</b>" in words(listed)
    newest = sorted([lamp.deal_id, rug.deal_id], reverse=True)
    first = web.run(view_unpublished_deals(limit=1))
    second = web.run(view_unpublished_deals(limit=1, after=first.position))
    assert [deal.deal_id for deal in (*first, *second)] == newest

    erin.submit(path(lamp), f"{path(lamp)}/publish")
    web.run(delete(Deal.key(rug.deal_id)))
    assert "No unpublished deals." in words(erin.get("/editor/unpublished").text)


def test_a_reason_that_is_too_long_keeps_the_page(web: Web, erin: Browser, lamp: Deal) -> None:
    answer = erin.submit(f"{path(lamp)}/unpublish", f"{path(lamp)}/unpublish", why="x" * 201)
    assert answer.status_code == 422 and "at most 200 characters" in answer.text
    assert now(web, lamp).is_listed


def test_a_cart_says_what_is_no_longer_available(
    web: Web, erin: Browser, alex: Browser, lamp: Deal, post_deal: PostDeal
) -> None:
    rug = post_deal("A rug", price=Decimal(5))
    for deal in (lamp, rug):
        web.run(put_in_cart("alex", deal.deal_id, deal.price))
    assert "Total $24.99" in words(alex.get("/cart").text)
    erin.submit(f"{path(lamp)}/unpublish", f"{path(lamp)}/unpublish")
    page = alex.get("/cart").text
    assert "A lamp No longer available. Remove it, or save it for later." in words(page)
    assert "Total $5.00" in words(page) and "Check out" not in page
    assert f"/deals/{lamp.deal_id}" not in alex.links("/cart")
    shown = alex.form("/checkout", "/checkout").fields
    address = {"recipient": "A", "street": "1 Lane", "city": "Rome", "postal_code": "1"}
    sent = alex.post("/checkout", data={**shown, **address, "country": "IT"})
    assert sent.status_code == 422 and "is no longer available" in words(sent.text)
    assert alex.get("/orders").text.count("/orders/") <= 1


# Brand and category


def test_brand_and_category_are_corrected(
    web: Web, erin: Browser, alex: Browser, lamp: Deal
) -> None:
    assert "A lamp" in alex.get("/brands/APPLE").text
    done = erin.submit(path(lamp), path(lamp), brand_name="cast & crumb", category_name="TOYS")
    assert done.status_code == 303
    moved = now(web, lamp)
    assert (moved.brand_name, moved.category_name) == ("Cast & Crumb", "Toys")
    assert noted_changes(web)[0][2] == "A lamp: brand, category"
    assert web.run(fetch_brand_deals("Apple")).items == []
    unknown = erin.submit(path(lamp), path(lamp), brand_name="Nobody")
    assert unknown.status_code == 422 and 'id="brand_name-fault"' in unknown.text
    shown = erin.submit(path(lamp), f"{path(lamp)}/preview", brand_name="Apple")
    assert shown.status_code == 200 and "Apple in Toys" in words(shown.text)


def test_a_correction_meets_another_s_change(web: Web, erin: Browser, lamp: Deal) -> None:
    ed = web.signed_in("ed", Role.EDITOR)
    began = erin.form(path(lamp), path(lamp)).fields
    ed.submit(path(lamp), path(lamp), category_name="TOYS", ends_at="2099-01-01T00:00")
    late = erin.post(path(lamp), data={**began, "title": "A blue lamp"})
    assert late.status_code == 409
    assert "ed has changed this deal meanwhile: ends at, category" in words(late.text)
    assert 'value="2099-01-01T00:00"' in late.text  # what erin did not touch
    assert '<option value="TOYS" selected>' in late.text


# Brands


EDIT = "/editor/brands/edit/CAST%20%26%20CRUMB"


def test_a_brand_is_found_and_changed(web: Web, erin: Browser, alex: Browser) -> None:
    found = erin.get("/editor/brands/find", params={"find": "cast  & crumb"})
    assert found.headers["location"] == EDIT
    done = erin.submit(
        EDIT, EDIT, name="CAST & Crumb", logo="https://x.example/l.png", description="Iron\npans."
    )
    assert done.status_code == 303
    page = alex.get("/brands/CAST%20%26%20CRUMB").text
    assert "CAST &amp; Crumb</h1>" in page and "Iron\npans." in page
    assert "https://x.example/l.png" in page
    assert "CAST &amp; Crumb" in alex.get("/brands").text
    assert EDIT in erin.links("/brands/CAST%20%26%20CRUMB")
    assert EDIT not in alex.links("/brands/CAST%20%26%20CRUMB")
    assert noted_changes(web)[0][1:] == ("changed brand", "CAST & Crumb: name, logo, description")


def test_a_brand_does_not_become_another(erin: Browser) -> None:
    answer = erin.submit(EDIT, EDIT, name="Stone")
    assert answer.status_code == 422 and "this would be another brand" in words(answer.text)
    assert erin.get("/editor/brands/find", params={"find": "Nobody"}).status_code == 422
    assert erin.get("/editor/brands/edit/NOBODY").status_code == 404


def test_two_editors_of_a_brand_are_merged(web: Web, erin: Browser) -> None:
    ed = web.signed_in("ed", Role.EDITOR)
    began = erin.form(EDIT, EDIT).fields
    ed.submit(EDIT, EDIT, description="Iron pans.")
    late = erin.post(EDIT, data={**began, "logo": "https://x.example/l.png"})
    assert late.status_code == 409 and (
        "ed has changed this brand meanwhile: description." in words(late.text)
    )
    assert ">Iron pans.</textarea>" in late.text and "https://x.example/l.png" in late.text


# Before a hot message


def test_the_page_counts_users_and_sends_a_test_to_its_editor_alone(
    web: Web, erin: Browser, lamp: Deal
) -> None:
    web.run(load_many(User(username=f"user{number}", name="U") for number in range(30)))
    hot = f"{path(lamp)}/hot"
    assert "It reaches about 31 users." in words(erin.get(hot).text)

    sent = erin.submit(hot, f"{hot}/test")

    page = erin.get(sent.headers["location"]).text
    assert "A test was sent to you." in words(page)
    (message,) = web.run(view_messages("erin"))
    assert (message.kind, message.subject) == ("test", "Test: Hot: A lamp")
    shown = erin.get(f"/inbox/{message.message_id}").text
    assert "A test that only you got." in words(shown)
    assert not web.run(view_messages("user7")).items
    assert "Send to all users" in page  # it is not begun
