"""The cart, through its pages."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from bigtime.model import Ksuid
from bigtime.systems.cart.design import Status
from bigtime.systems.cart.line import move_line, put_in_cart, remove_line, set_count
from bigtime.systems.cart.purchases import purchase
from bigtime.systems.deals.deals import update_deal
from bigtime.systems.deals.design import Deal
from tests.store.places import START
from tests.web.cart.page_forms import form_of, words_of
from tests.web.cart.scene import PRICE, Browser, Scene, deal

LAMP, DESK = deal(1), deal(2, title="A <b>desk</b>", price=Decimal("250.00"))


@pytest.fixture
def liz(scene: Scene) -> Browser:
    scene.post(LAMP, DESK)
    return scene.browser("liz")


def test_an_empty_cart_says_so(liz: Browser) -> None:
    page = liz.get("/cart")
    assert page.status_code == 200
    assert "Your cart is empty" in page.text
    assert "Check out" not in page.text


def test_a_deal_is_put_in_the_cart_from_its_page(scene: Scene, liz: Browser) -> None:
    page = liz.follow(liz.submit(liz.get(f"/deals/{LAMP.deal_id}"), "/cart/add"))
    (line,) = scene.lines("liz")
    assert (line.item_sku, line.price, line.count) == (LAMP.deal_id, PRICE, 1)
    assert "Lamp 1" in page.text


def test_what_a_form_says_of_price_and_account_is_not_listened_to(
    scene: Scene, liz: Browser
) -> None:
    told = {"price": "0.01", "account_id": "chad", "username": "chad", "title": "Cheap"}
    liz.send("/cart/add", deal_id=LAMP.deal_id, **told)
    (line,) = scene.lines("liz")
    assert line.price == PRICE
    assert scene.lines("chad") == []


def test_titles_are_escaped_and_the_total_is_of_all(liz: Browser) -> None:
    liz.send("/cart/add", deal_id=LAMP.deal_id, count="3")
    page = liz.follow(liz.send("/cart/add", deal_id=DESK.deal_id))
    assert "A &lt;b&gt;desk&lt;/b&gt;" in page.text
    assert "Total $309.97" in words_of(page.text)


def typed_count(deal: Deal, count: str, *, shown: int = 1) -> dict[str, str]:
    """The field of a product's count, with something typed into it."""
    return {f"count {shown} {deal.deal_id}": count}


def counts_on(page: str) -> dict[str, str]:
    """What stands in the fields of counts, by SKU."""
    fields = form_of(page, "/cart/count").fields
    return {name.split(" ")[2]: text for name, text in fields.items() if name.startswith("count ")}


def test_a_wrong_count_of_what_is_gone_is_told_all_the_same(scene: Scene, liz: Browser) -> None:
    liz.send("/cart/add", deal_id=LAMP.deal_id)
    liz.send("/cart/add", deal_id=DESK.deal_id)
    form = form_of(liz.get("/cart").text, "/cart/count")
    (line,) = [line for line in scene.lines("liz") if line.item_sku == DESK.deal_id]
    liz.send("/cart/remove", sk=line.sk)
    page = liz.submit_form(form, **typed_count(DESK, "-4"))
    assert page.status_code == 422
    assert '<p class="fault" role="alert">' in page.text
    assert "1 to 9,999" in words_of(page.text)


def test_a_count_is_typed_as_text_so_that_a_wrong_one_stays(scene: Scene, liz: Browser) -> None:
    """A browser drops what is no number from a field of numbers."""
    liz.send("/cart/add", deal_id=LAMP.deal_id)
    page = liz.submit(liz.get("/cart"), "/cart/count", **typed_count(LAMP, "two"))
    assert 'type="number"' not in page.text
    assert counts_on(page.text) == {LAMP.deal_id: "two"}


def test_how_many_products_are_in_the_cart_stands_on_every_page(scene: Scene, liz: Browser) -> None:
    def count_shown(path: str) -> str:
        shown = words_of(liz.get(path).text).partition(" Cart ")[2]
        return shown.partition("liz ")[0].strip()

    assert [count_shown(path) for path in ("/brands", "/brands", "/me")] == ["", "", ""]
    liz.send("/cart/add", deal_id=LAMP.deal_id, count="3")
    assert [count_shown(path) for path in ("/brands", "/me")] == ["1 product", "1 product"]
    liz.send("/cart/add", deal_id=DESK.deal_id)
    assert [count_shown(path) for path in ("/brands", "/brands")] == ["2 products", "2 products"]
    for line in scene.lines("liz"):
        liz.send("/cart/save", sk=line.sk)
    assert count_shown("/brands") == ""


def test_adding_again_adds_to_the_count(scene: Scene, liz: Browser) -> None:
    for _ in range(2):
        liz.send("/cart/add", deal_id=LAMP.deal_id, count="2")
    assert [line.count for line in scene.lines("liz")] == [4]


def test_a_count_is_changed(scene: Scene, liz: Browser) -> None:
    liz.send("/cart/add", deal_id=LAMP.deal_id)
    page = liz.follow(liz.submit(liz.get("/cart"), "/cart/count", **typed_count(LAMP, " 7 ")))
    assert counts_on(page.text) == {LAMP.deal_id: "7"}
    assert [line.count for line in scene.lines("liz")] == [7]


def test_counts_of_several_lines_are_changed_at_once(scene: Scene, liz: Browser) -> None:
    for each in (LAMP, DESK):
        liz.send("/cart/add", deal_id=each.deal_id)
    typed = {**typed_count(LAMP, "7"), **typed_count(DESK, "3")}
    page = liz.follow(liz.submit(liz.get("/cart"), "/cart/count", **typed))
    assert counts_on(page.text) == {LAMP.deal_id: "7", DESK.deal_id: "3"}


def test_check_out_takes_the_counts_that_were_typed(scene: Scene, liz: Browser) -> None:
    """S2.2: 9 was typed, and 2 ordered."""
    for each in (LAMP, DESK):
        liz.send("/cart/add", deal_id=each.deal_id, count="2")
    page = liz.get("/cart")
    assert '<button form="counts" name="then" value="checkout">Check out</button>' in page.text
    typed = {**typed_count(LAMP, "9", shown=2), **typed_count(DESK, "x", shown=2)}
    wrong = liz.submit(page, "/cart/count", **typed, then="checkout")
    assert wrong.status_code == 422
    assert counts_on(wrong.text) == {LAMP.deal_id: "9", DESK.deal_id: "x"}
    typed |= typed_count(DESK, "3", shown=2)
    review = liz.submit(wrong, "/cart/count", **typed, then="checkout")
    assert review.headers["location"] == "/checkout"
    assert "Total $929.91" in words_of(liz.follow(review).text)


def test_a_count_that_was_not_touched_stays_as_another_window_has_it(
    scene: Scene, liz: Browser
) -> None:
    for each in (LAMP, DESK):
        liz.send("/cart/add", deal_id=each.deal_id)
    page = liz.get("/cart")
    scene.run(set_count("liz", LAMP.deal_id, 5))
    liz.submit(page, "/cart/count", **typed_count(DESK, "2"))
    assert {line.item_sku: line.count for line in scene.lines("liz")} == {
        LAMP.deal_id: 5,
        DESK.deal_id: 2,
    }


def test_a_large_cart_sends_all_its_counts(scene: Scene, liz: Browser) -> None:
    scene.fill("liz", 300)
    typed = {f"count 1 {deal(number).deal_id}": "2" for number in range(3)}
    assert liz.submit(liz.get("/cart"), "/cart/count", **typed).status_code == 303
    assert sum(line.count for line in scene.lines("liz")) == 303


WRONG_COUNTS = {
    "none": "0",
    "less than none": "-1",
    "too many": "10000",
    "a part": "2.5",
    "a word": "some",
    "a digit of another script": "\u0663",
    "thousands of digits": "9" * 5_000,
    "nothing": "",
}


@pytest.mark.parametrize("count", WRONG_COUNTS.values(), ids=WRONG_COUNTS.keys())
def test_a_wrong_count_is_told_beside_it_and_stays_as_typed(
    scene: Scene, liz: Browser, count: str
) -> None:
    for each in (LAMP, DESK):
        liz.send("/cart/add", deal_id=each.deal_id)
    before = scene.lines("liz")
    page = liz.submit(liz.get("/cart"), "/cart/count", **typed_count(DESK, count))
    assert page.status_code == 422
    assert counts_on(page.text) == {DESK.deal_id: count, LAMP.deal_id: "1"}
    assert page.text.count('aria-invalid="true"') == 1
    assert scene.lines("liz") == before


def test_too_many_of_a_product_are_refused_and_nothing_changes(scene: Scene, liz: Browser) -> None:
    liz.send("/cart/add", deal_id=LAMP.deal_id, count="9999")
    page = liz.send("/cart/add", deal_id=LAMP.deal_id)
    assert page.status_code == 422
    assert 'role="alert"' in page.text
    assert [line.count for line in scene.lines("liz")] == [9_999]


def test_what_is_saved_for_later_can_come_back(scene: Scene, liz: Browser) -> None:
    liz.send("/cart/add", deal_id=LAMP.deal_id, count="3")
    saved = liz.follow(liz.submit(liz.get("/cart"), "/cart/save"))
    assert "Saved for later" in saved.text
    assert (len(scene.lines("liz")), len(scene.lines("liz", Status.SAVED))) == (0, 1)
    liz.follow(liz.submit(saved, "/cart/back"))
    assert [line.count for line in scene.lines("liz")] == [3]


def test_what_is_saved_goes_on_over_pages(scene: Scene, liz: Browser) -> None:
    deals = [deal(100 + number) for number in range(30)]
    scene.post(*deals)
    for each in deals:
        scene.time.now += timedelta(seconds=1)
        line = scene.run(put_in_cart("liz", each.deal_id, each.price))
        scene.run(move_line("liz", line.sk, Status.SAVED))
    first = liz.get("/cart")
    more = first.text.split('href="/cart?saved=')[1].split('"')[0]
    second = liz.get(f"/cart?saved={more}")
    shown = [text.count("Move to cart") for text in (first.text, second.text)]
    assert shown == [25, 5]
    assert liz.get("/cart?saved=made-up").status_code == 400


def test_removed_is_put_back_as_it_was(scene: Scene, liz: Browser) -> None:
    liz.send("/cart/add", deal_id=LAMP.deal_id, count="3")
    scene.run(update_deal(LAMP.deal_id, price=Decimal("24.99")))
    before = scene.lines("liz")
    scene.time.now += timedelta(minutes=5)
    page = liz.follow(liz.submit(liz.get("/cart"), "/cart/remove"))
    assert scene.lines("liz") == []
    assert "Lamp 1 was removed." in words_of(page.text)
    for _ in range(2):
        liz.follow(liz.submit(page, "/cart/undo"))
        assert scene.lines("liz") == before


def test_a_saved_line_is_removed_and_put_back_among_the_saved(scene: Scene, liz: Browser) -> None:
    liz.send("/cart/add", deal_id=LAMP.deal_id)
    liz.submit(liz.get("/cart"), "/cart/save")
    before = scene.lines("liz", Status.SAVED)
    page = liz.follow(liz.submit(liz.get("/cart"), "/cart/remove"))
    liz.submit(page, "/cart/undo")
    assert scene.lines("liz", Status.SAVED) == before


def test_what_is_in_the_cart_again_is_not_put_back_on_top(scene: Scene, liz: Browser) -> None:
    liz.send("/cart/add", deal_id=LAMP.deal_id, count="3")
    page = liz.follow(liz.submit(liz.get("/cart"), "/cart/remove"))
    scene.time.now += timedelta(seconds=1)
    liz.send("/cart/add", deal_id=LAMP.deal_id)
    refused = liz.submit(page, "/cart/undo")
    assert refused.status_code == 422
    assert "back in your cart" in refused.text
    assert [line.count for line in scene.lines("liz")] == [1]


def test_only_what_was_removed_here_and_not_long_ago_is_put_back(
    scene: Scene, liz: Browser
) -> None:
    chad = scene.browser("chad")
    liz.send("/cart/add", deal_id=LAMP.deal_id)
    page = liz.follow(liz.submit(liz.get("/cart"), "/cart/remove"))
    undo = form_of(page.text, "/cart/undo").fields["undo"]
    assert chad.send("/cart/undo", undo=undo).status_code == 422
    assert "Undo" not in chad.get(f"/cart?undo={undo}").text
    for made_up in ("", "made-up", undo[:-2] + "AA"):
        assert liz.send("/cart/undo", undo=made_up).status_code == 422
        assert liz.get(f"/cart?undo={made_up}").status_code == 200
    scene.time.now += timedelta(hours=1)
    assert liz.send("/cart/undo", undo=undo).status_code == 422
    assert scene.lines("liz") == scene.lines("chad") == []


@pytest.mark.parametrize("price", ["24.99", "14.99"])
def test_the_cart_shows_the_present_price_and_what_it_was(
    scene: Scene, liz: Browser, price: str
) -> None:
    """S2.5: who did not take a higher price paid the old one for ever."""
    liz.send("/cart/add", deal_id=LAMP.deal_id, count="2")
    assert "It was" not in liz.get("/cart").text
    scene.catch_up()
    scene.run(update_deal(LAMP.deal_id, price=Decimal(price)))
    scene.catch_up()
    page = words_of(liz.get("/cart").text)
    assert f"${price} each. It was $19.99 when you added it" in page
    assert f"Total ${2 * Decimal(price)}" in page
    assert [line.price for line in scene.lines("liz")] == [PRICE]


def test_what_was_put_in_just_now_does_not_cost_less_on_the_page_that_follows(
    scene: Scene, liz: Browser
) -> None:
    """Though the site has the deal in memory, and has not heard yet that it changed."""
    liz.send("/cart/add", deal_id=LAMP.deal_id)
    liz.get("/cart")
    scene.run(update_deal(LAMP.deal_id, price=Decimal("24.99")))
    page = liz.follow(liz.send("/cart/add", deal_id=LAMP.deal_id))
    assert "Total $49.98" in words_of(page.text)
    assert "It was" not in page.text


def test_a_cart_that_is_looked_at_again_asks_for_lines_and_not_for_deals(
    scene: Scene, liz: Browser
) -> None:
    scene.fill("liz", 3)
    liz.get("/cart")
    scene.take_operations()
    page = liz.get("/cart").text
    assert scene.take_operations() == ["GetItem", "Query", "Query"]
    assert all(deal(number).title in page for number in range(3))


def test_a_product_that_is_no_deal_is_shown_by_its_sku(scene: Scene, liz: Browser) -> None:
    scene.run(put_in_cart("liz", "KETTLE-17", PRICE))
    page = liz.get("/cart")
    assert "KETTLE-17" in page.text


def test_a_deal_that_costs_too_much_is_not_sold_here(scene: Scene, liz: Browser) -> None:
    yacht = deal(3, price=Decimal("1000000.01"))
    scene.post(yacht)
    page = liz.send("/cart/add", deal_id=yacht.deal_id)
    assert page.status_code == 422
    assert "see it at the store" in page.text
    assert scene.lines("liz") == []


BAD: dict[str, tuple[str, dict[str, str], int]] = {
    "an unknown deal": ("/cart/add", {"deal_id": Ksuid.make(START, b"x" * 16)}, 404),
    "no id of a deal": ("/cart/add", {"deal_id": "#"}, 404),
    "no deal": ("/cart/add", {}, 422),
    "none of a deal": ("/cart/add", {"deal_id": LAMP.deal_id, "count": "0"}, 422),
    "a count of what is not there": ("/cart/count", {"count 1 x": "2"}, 404),
    "a wrong count of nothing": ("/cart/count", {"count ": "x"}, 422),
    "no line to save": ("/cart/save", {"sk": "x"}, 422),
    "nothing to save": ("/cart/save", {}, 400),
    "a gone line": ("/cart/back", {"sk": "SAVED#2026-01-01T00:00:00.000Z#72f49"}, 404),
    "a marker": ("/cart/remove", {"sk": f"LINE#{LAMP.deal_id}"}, 422),
    "no line to remove": ("/cart/remove", {"sk": "ACTIVE#2026-01-01T00:00:00.000Z#72f49"}, 404),
    "an overlong line": ("/cart/remove", {"sk": "x" * 2_000}, 400),
    "nothing to undo": ("/cart/undo", {}, 422),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_told_and_changes_nothing(scene: Scene, liz: Browser, case: str) -> None:
    liz.send("/cart/add", deal_id=LAMP.deal_id)
    before = scene.lines("liz")
    path, fields, status = BAD[case]
    page = liz.send(path, **fields)
    assert page.status_code == status
    assert "<h1>" in page.text
    assert scene.lines("liz") == before


def test_what_was_bought_cannot_be_moved_or_removed(scene: Scene, liz: Browser) -> None:
    liz.send("/cart/add", deal_id=LAMP.deal_id)
    (line,) = scene.run(purchase("liz", Ksuid.make(START, b"o" * 16)))
    for path in ("/cart/save", "/cart/back", "/cart/remove"):
        assert liz.send(path, sk=line.sk).status_code == 422
    assert scene.lines("liz", Status.PURCHASED) == [line]


POSTS = ("add", "count", "save", "back", "remove", "undo")


@pytest.mark.parametrize("deed", POSTS)
def test_nobody_and_forms_from_elsewhere_get_nowhere(scene: Scene, liz: Browser, deed: str) -> None:
    line = scene.run(put_in_cart("liz", LAMP.deal_id, PRICE))
    fields = {"deal_id": DESK.deal_id, "item_sku": LAMP.deal_id, "count": "5", "sk": line.sk}
    nobody = scene.browser().send(f"/cart/{deed}", **fields)
    if deed in ("save", "back"):
        assert (nobody.status_code, nobody.headers["location"]) == (303, "/log-in")
    else:
        assert nobody.status_code == 400
    for token in ("", "made-up", scene.site.form_tokens.token("another cookie")):
        assert liz.send(f"/cart/{deed}", **fields, form_token=token).status_code == 400
    assert scene.lines("liz") == [line]


def test_one_s_lines_are_not_another_s(scene: Scene, liz: Browser) -> None:
    line = scene.run(put_in_cart("liz", LAMP.deal_id, PRICE))
    chad = scene.browser("chad")
    assert "Lamp 1" not in chad.get("/cart").text
    for path in ("/cart/save", "/cart/remove"):
        assert chad.send(path, sk=line.sk).status_code == 404
    assert chad.send("/cart/count", **typed_count(LAMP, "9")).status_code == 404
    assert scene.lines("liz") == [line]


def test_a_line_that_somebody_removed_meanwhile_is_told(scene: Scene, liz: Browser) -> None:
    line = scene.run(put_in_cart("liz", LAMP.deal_id, PRICE))
    page = liz.get("/cart")
    scene.run(remove_line("liz", line.sk))
    for action in ("/cart/save", "/cart/remove", "/cart/count"):
        late = liz.submit(page, action, **typed_count(LAMP, "2"))
        assert late.status_code == 404
        assert "no longer in your cart" in late.text
