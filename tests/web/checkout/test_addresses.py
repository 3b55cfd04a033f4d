"""Addresses: added, changed and removed by whoever they belong to."""

from __future__ import annotations

import pytest

from bigtime.systems.shop.customer import create_customer, save_address, view_customer
from bigtime.systems.shop.design import Address, UnknownCustomer
from tests.web.cart.page_forms import form_of
from tests.web.cart.scene import Browser, Scene
from tests.web.checkout.ordering import HOME

ADDRESSES, CHANGE, REMOVE = "/me/addresses", "/me/addresses/change", "/me/addresses/remove"
TYPED = HOME.model_dump(exclude_none=True)


@pytest.fixture
def liz(scene: Scene) -> Browser:
    return scene.browser("liz")


def kept_addresses(scene: Scene, username: str = "liz") -> dict[str, Address]:
    try:
        customer = scene.run(view_customer(username)).customer
    except UnknownCustomer:
        return {}
    return customer.addresses if customer else {}


def test_an_address_is_added_and_its_owner_becomes_a_customer(scene: Scene, liz: Browser) -> None:
    page = liz.get(ADDRESSES)
    assert "No addresses yet" in page.text
    listed = liz.follow(liz.submit(page, ADDRESSES, **TYPED, name="home", region="Western Cape"))
    assert "1 Long Street" in listed.text
    assert kept_addresses(scene) == {"home": HOME.model_copy(update={"region": "Western Cape"})}


def test_an_address_is_changed_and_keeps_its_name(scene: Scene, liz: Browser) -> None:
    liz.send(ADDRESSES, **TYPED, name="home / x", region="Western Cape")
    page = liz.get(f"{CHANGE}?name=home%20%2F%20x")
    form = form_of(page.text, CHANGE)
    assert form.fields["region"] == "Western Cape"
    liz.follow(liz.submit_form(form, street="9 Mill Lane", region=""))
    assert kept_addresses(scene) == {"home / x": HOME.model_copy(update={"street": "9 Mill Lane"})}


def test_an_address_is_removed(scene: Scene, liz: Browser) -> None:
    for name in ("home", "work"):
        liz.send(ADDRESSES, **TYPED, name=name)
    form = form_of(liz.get(ADDRESSES).text, REMOVE, name="work")
    liz.follow(liz.submit_form(form))
    assert kept_addresses(scene) == {"home": HOME}
    assert liz.submit_form(form).status_code == 404


def test_a_name_is_not_given_twice(scene: Scene, liz: Browser) -> None:
    liz.send(ADDRESSES, **TYPED, name="home")
    assert liz.send(ADDRESSES, **TYPED, name="home").status_code == 303
    refused = liz.send(ADDRESSES, **{**TYPED, "street": "9 Mill Lane"}, name="home")
    assert refused.status_code == 422
    assert 'id="name-fault"' in refused.text
    assert kept_addresses(scene) == {"home": HOME}


WRONG = {
    "nothing": "",
    "space": "  ",
    "too much": "x" * 101,
    "what nobody sees": "R\x00",
    "two lines": "R\nS",
}


@pytest.mark.parametrize("name", ["name", *TYPED])
@pytest.mark.parametrize("typed", WRONG.values(), ids=WRONG.keys())
def test_a_wrong_field_is_told_beside_it_and_stays_as_typed(
    scene: Scene, liz: Browser, name: str, typed: str
) -> None:
    told = {**TYPED, "name": "home", name: typed}
    page = liz.send(ADDRESSES, **told)
    assert page.status_code == 422
    assert f'id="{name}-fault"' in page.text
    assert told.items() <= form_of(page.text, ADDRESSES).fields.items()
    assert kept_addresses(scene) == {}


@pytest.mark.parametrize("name", list(TYPED))
def test_a_wrong_change_is_told_and_changes_nothing(scene: Scene, liz: Browser, name: str) -> None:
    liz.send(ADDRESSES, **TYPED, name="home")
    page = liz.send(CHANGE, **{**TYPED, "name": "home", name: "x" * 101})
    assert page.status_code == 422
    assert f'id="{name}-fault"' in page.text
    assert kept_addresses(scene) == {"home": HOME}


def test_twenty_addresses_are_enough(scene: Scene, liz: Browser) -> None:
    scene.run(create_customer("liz", "liz@example.com", "Liz"))
    for number in range(20):
        scene.run(save_address("liz", f"home {number}", HOME))
    assert "Remove one to add another" in liz.get(ADDRESSES).text
    assert "Keep it" not in liz.get(ADDRESSES).text
    refused = liz.send(ADDRESSES, **TYPED, name="another")
    assert refused.status_code == 422
    assert '<p class="fault" role="alert">You can have at most 20 addresses' in refused.text
    assert {**TYPED, "name": "another"}.items() <= form_of(refused.text, ADDRESSES).fields.items()
    assert len(kept_addresses(scene)) == 20


def test_an_unknown_address_is_neither_changed_nor_made(scene: Scene, liz: Browser) -> None:
    liz.send(ADDRESSES, **TYPED, name="home")
    answers = [
        liz.get(CHANGE),
        liz.get(f"{CHANGE}?name=work"),
        liz.send(CHANGE, **TYPED, name="work"),
        liz.send(CHANGE, **TYPED),
        liz.send(REMOVE, name="work"),
        scene.browser("chad").send(REMOVE, name="home"),
    ]
    assert [answer.status_code for answer in answers] == [404] * 6
    assert liz.send(REMOVE).status_code == 400
    assert kept_addresses(scene) == {"home": HOME}


def test_an_address_is_escaped(liz: Browser) -> None:
    liz.send(ADDRESSES, **{**TYPED, "street": "<script>alert(1)</script>"}, name="<b>")
    for path in (ADDRESSES, f"{CHANGE}?name=%3Cb%3E"):
        page = liz.get(path)
        assert page.status_code == 200
        assert "<script>alert" not in page.text
        assert "<b>" not in page.text


def test_nobody_and_forms_from_elsewhere_change_nothing(scene: Scene, liz: Browser) -> None:
    liz.send(ADDRESSES, **TYPED, name="home")
    nobody = scene.browser()
    for path in (ADDRESSES, CHANGE):
        assert nobody.get(path).headers["location"] == f"/log-in?next={path}"
    for path in (ADDRESSES, CHANGE, REMOVE):
        assert nobody.send(path, **TYPED, name="home").headers["location"] == "/log-in"
        assert liz.send(path, **TYPED, name="home", form_token="made-up").status_code == 400
    assert kept_addresses(scene) == {"home": HOME}


def test_each_part_of_an_address_has_its_own_direction(scene: Scene, liz: Browser) -> None:
    """S2.3: the house number jumped before a name that ended in Arabic."""
    name = "Liz & \u0645\u0631\u062d\u0628\u0627"
    typed = {**TYPED, "recipient": name, "name": "home"}
    page = liz.follow(liz.submit(liz.get(ADDRESSES), ADDRESSES, **typed)).text
    assert "<bdi>Liz &amp; \u0645\u0631\u062d\u0628\u0627</bdi>, <bdi>1 Long Street</bdi>" in page
