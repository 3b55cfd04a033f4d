"""Products for an admin; a new price is confirmed before it holds."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from bigtime.systems.portal.design import Campaign, Product
from bigtime.systems.portal.products import (
    get_product,
    list_products,
    soft_delete_product,
    update_product,
)
from tests.systems.portal.scenes import ADMIN, NO_PRODUCT, new_product
from tests.web.browsing import Browser, Reader, Web, words

HERE = "/admin/products"
FORM = {
    "name": "New Plan",
    "description": "First line\r\nsecond line",
    "price": "149.50",
    "billing_cycle": "yearly",
    "features": " One \r\n\r\nTwo\r\n",
}


def as_typed(product: Product, **but: str) -> dict[str, str]:
    """What an admin's browser sends of a product."""
    return {
        "name": product.name,
        "description": product.description,
        "price": str(product.price),
        "billing_cycle": product.billing_cycle,
        "features": "\r\n".join(product.features),
        **but,
    }


def change(ada: Browser, product: Product, **but: str) -> Any:
    page = f"{HERE}/{product.id}"
    return ada.submit(page, page, **as_typed(product, **but))


def now_is(web: Web, product: Product) -> Product:
    found: Product = web.run(get_product(product.id, include_inactive=True))
    return found


def test_products_are_listed_active_archived_or_all(
    web: Web, ada: Browser, product: Product
) -> None:
    gone = new_product(web, name="Gone Plan")
    web.run(soft_delete_product(gone.id, by=ADMIN))
    seen = {
        which: [
            link.rpartition("/")[2]
            for link in ada.links(f"{HERE}?which={which}")
            if link.startswith(f"{HERE}/prod_")
        ]
        for which in ("active", "archived", "all")
    }
    assert seen["active"] == [product.id]
    assert seen["archived"] == [gone.id]
    assert sorted(seen["all"]) == sorted([product.id, gone.id])
    assert "Active (1) Archived (1)" in words(ada.get(HERE).text)
    assert ada.get(f"{HERE}?which=other").status_code == 400


def test_a_list_goes_on_with_the_same_filter(web: Web, ada: Browser) -> None:
    for number in range(27):
        made = new_product(web, name=f"Plan {number}")
        web.run(soft_delete_product(made.id, by=ADMIN))
    (more,) = [link for link in ada.links(f"{HERE}?which=archived") if "after=" in link]
    assert "which=archived" in more
    assert ada.get(more).text.count(f'href="{HERE}/prod_') == 2
    assert ada.get(f"{HERE}?after=x").status_code == 400


def test_an_admin_makes_a_product_and_everybody_sees_it(
    web: Web, ada: Browser, visitor: Browser
) -> None:
    visitor.get("/pricing")
    done = ada.submit(f"{HERE}/new", f"{HERE}/new", **FORM)
    (made,) = web.run(list_products())
    assert done.headers["location"] == f"{HERE}/{made.id}?done=made"
    assert (made.price, made.features, made.description) == (
        Decimal("149.50"),
        ["One", "Two"],
        "First line\nsecond line",
    )
    assert made.last_updated_by == "ada@example.com"
    assert "R 149.50 a year" in words(visitor.get("/pricing").text)


def features_in(html: str) -> list[str]:
    """The rows of the list of features, from the top."""
    (form,) = (form for form in Reader(html).forms if "description" in form.fields)
    return [text for name, text in form.fields.items() if name.startswith("feature_")]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "x" * 201),
        ("description", ""),
        ("description", "x" * 2001),
        ("price", ""),
        ("price", "0"),
        ("price", "-1"),
        ("price", "1.999"),
        ("price", "NaN"),
        ("price", "1e5"),
        ("price", "1_000"),
        ("price", "19,99"),
        ("price", "10000000"),
        ("price", "cheap"),
        ("billing_cycle", "weekly"),
        ("billing_cycle", ""),
        ("features", "\n".join("x" * 51)),
        ("features", "x" * 201),
    ],
)
def test_a_wrong_field_is_told_beside_it_kept_and_changes_nothing(
    web: Web, ada: Browser, product: Product, field: str, value: str
) -> None:
    made = ada.submit(f"{HERE}/new", f"{HERE}/new", **{**FORM, field: value})
    changed = change(ada, product, **{field: value})
    for refused in (made, changed):
        assert refused.status_code == 422
        assert f'id="{field}-fault"' in refused.text
        shown = "\n".join(features_in(refused.text)) if field == "features" else refused.text
        assert field == "billing_cycle" or value in shown
    assert web.run(list_products()).items == [product]


def test_what_is_changed_is_saved_and_only_that(web: Web, ada: Browser, product: Product) -> None:
    done = change(ada, product, name="Other Name")
    assert done.headers["location"] == f"{HERE}/{product.id}?done=changed"
    changed = now_is(web, product)
    assert changed.name == "Other Name"
    assert (changed.price, changed.features, changed.description) == (
        product.price,
        product.features,
        product.description,
    )


def test_saving_what_is_so_already_changes_nothing(
    web: Web, ada: Browser, product: Product
) -> None:
    assert change(ada, product).status_code == 303
    assert now_is(web, product) == product


# Prices


def test_a_price_is_read_as_people_type_it(web: Web, ada: Browser) -> None:
    assert ada.submit(f"{HERE}/new", f"{HERE}/new", **{**FORM, "price": "R 1,149.50"}).is_redirect
    (made,) = web.run(list_products()).items
    assert made.price == Decimal("1149.50")


def test_what_is_wrong_with_a_price_is_said(ada: Browser, product: Product) -> None:
    for typed, says in [
        ("1e5", "A price is written in digits, such as 19.99."),
        ("19,99", "Decimals follow a point, such as 19.99."),
        ("10000000", "A price is at most R 9,999,999.99."),
    ]:
        page = change(ada, product, price=typed).text
        assert says in words(page.partition('id="price-fault">')[2].partition("<")[0])


def confirmation(answer: Any) -> dict[str, str]:
    (form,) = [form for form in Reader(answer.text).forms if "confirmed" in form.fields]
    return form.fields


def test_a_new_price_is_warned_of_and_holds_when_it_is_confirmed(
    web: Web, ada: Browser, visitor: Browser, product: Product, campaign: Campaign
) -> None:
    visitor.get("/pricing"), visitor.get("/campaigns/SUMMER2026")
    asked = change(ada, product, price="199", features="A\r\nB")
    told = words(asked.text)
    assert asked.status_code == 200
    assert "costs R 299.99 and would cost R 199.00" in told
    assert "This affects all new orders immediately. Existing orders keep their prices." in told
    assert "SUMMER2026" in told
    assert now_is(web, product) == product
    done = ada.post(f"{HERE}/{product.id}", data=confirmation(asked))
    assert done.headers["location"] == f"{HERE}/{product.id}?done=changed"
    assert (now_is(web, product).price, now_is(web, product).features) == (Decimal(199), ["A", "B"])
    assert "R 199.00" in visitor.get("/pricing").text
    assert "R 159.20" in visitor.get("/campaigns/SUMMER2026").text


def test_a_yes_to_one_price_is_none_to_another(web: Web, ada: Browser, product: Product) -> None:
    fields = confirmation(change(ada, product, price="199"))
    again = ada.post(f"{HERE}/{product.id}", data={**fields, "price": "1.99"})
    assert again.status_code == 200
    assert "would cost R 1.99" in words(again.text)
    assert now_is(web, product) == product


def test_a_price_that_another_admin_changed_meanwhile_is_not_written_over(
    web: Web, ada: Browser, product: Product
) -> None:
    fields = confirmation(change(ada, product, price="199"))
    web.run(update_product(product.id, {"price": "500"}, by=ADMIN))
    again = ada.post(f"{HERE}/{product.id}", data=fields)
    assert "costs R 500.00 and would cost R 199.00" in words(again.text)
    moved = ada.post(f"{HERE}/{product.id}", data=confirmation(again))
    assert moved.status_code == 409
    assert now_is(web, product).price == 500


def test_two_admins_do_not_write_over_each_other(web: Web, ada: Browser, product: Product) -> None:
    page = f"{HERE}/{product.id}"
    form = ada.form(page, page)
    web.run(update_product(product.id, {"name": "First"}, by=ADMIN))
    data = {**form.fields, **as_typed(product, description="Second")}
    moved = ada.post(page, data=data)
    assert moved.status_code == 409
    assert "Second" in moved.text
    assert (now_is(web, product).name, now_is(web, product).description) == (
        "First",
        product.description,
    )


# Archiving


def test_an_archived_product_is_off_the_pricing_page_until_it_is_restored(
    web: Web, ada: Browser, visitor: Browser, product: Product
) -> None:
    page = f"{HERE}/{product.id}"
    assert product.name in visitor.get("/pricing").text
    assert ada.submit(page, f"{page}/archive").status_code == 303
    assert product.name not in visitor.get("/pricing").text
    assert change_refused(ada, product)
    assert ada.submit(page, f"{page}/restore").status_code == 303
    assert product.name in visitor.get("/pricing").text


def change_refused(ada: Browser, product: Product) -> bool:
    page = f"{HERE}/{product.id}"
    assert f'action="{page}"' not in ada.get(page).text
    seen = {"form_token": ada.token(), "seen": ""}
    return bool(ada.post(page, data={**as_typed(product, name="x"), **seen}).status_code == 409)


@pytest.mark.parametrize("product_id", [NO_PRODUCT, "x"])
def test_a_product_that_is_none_is_unknown(ada: Browser, product_id: str) -> None:
    token = ada.token()
    for method, path in (("GET", ""), ("POST", ""), ("POST", "/archive"), ("POST", "/restore")):
        data = {**FORM, "form_token": token} if method == "POST" else None
        answer = ada.request(method, f"{HERE}/{product_id}{path}", data=data)
        assert answer.status_code == 404, (method, path)


def press(browser: Browser, page: str, action: str, button: str, **typed: str) -> Any:
    """Presses a button of the list of features, with other fields as they are typed."""
    form = next(form for form in Reader(browser.get(page).text).forms if form.action == action)
    return browser.post(action, data={**form.fields, **typed, "rows": button})


@pytest.mark.parametrize(
    ("button", "features"),
    [
        ("add", ["One", "Two", "Three", ""]),
        ("remove 0", ["Two", "Three"]),
        ("remove 2", ["One", "Two"]),
        ("up 1", ["Two", "One", "Three"]),
        ("down 1", ["One", "Three", "Two"]),
        ("up 0", ["One", "Two", "Three"]),
        ("down 2", ["One", "Two", "Three"]),
        ("remove 3", ["One", "Two", "Three"]),
        ("remove", ["One", "Two", "Three"]),
        ("remove -1", ["One", "Two", "Three"]),
        ("sort", ["One", "Two", "Three"]),
    ],
)
def test_features_are_added_removed_and_moved(
    web: Web, ada: Browser, button: str, features: list[str]
) -> None:
    product = new_product(web, features=["One", "Two", "Three"])
    page = f"{HERE}/{product.id}"
    pressed = press(ada, page, page, button, name="Typed", price="not yet")
    assert pressed.status_code == 200
    assert features_in(pressed.text) == features
    assert 'value="Typed"' in pressed.text
    assert 'value="not yet"' in pressed.text
    assert "features-fault" not in pressed.text
    assert now_is(web, product) == product
    form = next(form for form in Reader(pressed.text).forms if form.action == page)
    saved = ada.post(page, data={**form.fields, "price": str(product.price)})
    assert saved.status_code == 303
    assert now_is(web, product).features == [text for text in features if text]


def test_a_row_s_button_does_not_hide_that_another_changed_it(
    web: Web, ada: Browser, product: Product
) -> None:
    page = f"{HERE}/{product.id}"
    form = ada.form(page, page)
    web.run(update_product(product.id, {"name": "Another's"}, by=ADMIN))
    pressed = ada.post(page, data={**form.fields, "rows": "add"})
    form = next(form for form in Reader(pressed.text).forms if form.action == page)
    assert ada.post(page, data=form.fields).status_code == 409


def test_features_of_a_new_product_are_typed_row_by_row(web: Web, ada: Browser) -> None:
    page = f"{HERE}/new"
    typed = {name: text for name, text in FORM.items() if name != "features"}
    first = press(ada, page, page, "add", **typed)
    form = next(form for form in Reader(first.text).forms if form.action == page)
    assert features_in(first.text) == [""]
    second = ada.post(page, data={**form.fields, "feature_0": "Fast", "rows": "add"})
    form = next(form for form in Reader(second.text).forms if form.action == page)
    made = ada.post(page, data={**form.fields, "feature_1": "Cheap"})
    assert made.status_code == 303
    (product,) = web.run(list_products()).items
    assert product.features == ["Fast", "Cheap"]
