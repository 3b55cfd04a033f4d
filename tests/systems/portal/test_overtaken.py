"""What somebody else does between a read and its write, at exactly that moment."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.model import Conflict, setup, verify
from bigtime.store import Store
from bigtime.store.driver import Exchange
from bigtime.systems.portal import SYSTEM
from bigtime.systems.portal.campaigns import create_campaign, soft_delete_campaign, update_campaign
from bigtime.systems.portal.design import Audited, Purpose
from bigtime.systems.portal.errors import (
    CampaignNotValid,
    CodeSpent,
    CodeUsed,
    CodeWrong,
    DiscountTooHigh,
    MoveRefused,
    ProductUnavailable,
    StatusMoved,
    TenantDeleted,
    TenantSuspended,
)
from bigtime.systems.portal.orders import list_orders, place_order
from bigtime.systems.portal.products import get_product, soft_delete_product, update_product
from bigtime.systems.portal.records import audit_log
from bigtime.systems.portal.registration import (
    issue_code,
    redeem_code,
    suspend_tenant,
    update_tenant_status,
)
from bigtime.systems.portal.tenants import (
    create_tenant,
    soft_delete_tenant,
    tenant_at_checkout,
    update_tenant,
)
from bigtime.systems.portal.values import Status
from bigtime.systems.portal.verification import verify_audit
from bigtime.wire import Steps
from tests.systems.portal.scenes import (
    ADMIN,
    EMAIL,
    campaign_fields,
    new_campaign,
    new_product,
    new_tenant,
)


@pytest.fixture
def store(engine: Engine) -> Store:
    store = Store(engine)
    store.run(setup(SYSTEM))
    return store


def between(
    store: Store, steps: Steps[Any], read: tuple[str, str], *meddle: Callable[[], Steps[Any]]
) -> Any:
    """Runs steps; after each reading of that kind, somebody else does the next of the others."""
    others = list(meddle)

    def hook(exchange: Exchange) -> None:
        operation, table = read
        asked = exchange.request
        if asked.operation == operation and table in str(asked.params) and others:
            store.run(others.pop(0)())

    done = Store(store.transport, hooks=[hook]).run(steps)
    assert not others, "it should have happened"
    return done


def sound(store: Store) -> bool:
    return store.run(verify(SYSTEM)) == [] and store.run(verify_audit()) == []


def test_a_change_is_made_again_on_what_is_there_then(store: Store) -> None:
    product = new_product(store)
    changed = between(
        store,
        update_product(product.id, {"price": "5.00"}, by=ADMIN),
        ("Query", "audit"),
        lambda: update_product(product.id, {"name": "Renamed"}, by="other@example.com"),
    )
    assert (changed.name, changed.price) == ("Renamed", 5)
    assert store.run(get_product(product.id)) == changed
    actors = [each.actor for each in store.run(audit_log(Audited.PRODUCTS, product.id))]
    assert actors == [ADMIN, "other@example.com", ADMIN]
    assert sound(store)


def test_the_record_read_before_a_change_and_the_chain_after_it_do_not_go_together(
    store: Store,
) -> None:
    tenant = new_tenant(store)
    between(
        store,
        update_tenant(tenant.id, {"destination_email": "forms@example.com"}, by=ADMIN),
        ("GetItem", "tenants"),
        lambda: update_tenant(tenant.id, {"organization_name": "Example"}, by=ADMIN),
    )
    assert sound(store)


def test_who_is_always_overtaken_is_told(store: Store) -> None:
    tenant = new_tenant(store)
    names = (
        (lambda number=number: update_tenant(tenant.id, {"organization_name": f"{number}"}, by="x"))
        for number in range(20)
    )
    with pytest.raises(Conflict):
        between(
            store,
            update_tenant(tenant.id, {"destination_email": "forms@example.com"}, by=ADMIN),
            ("Query", "audit"),
            *names,
        )
    assert sound(store)


def test_a_move_is_judged_on_the_status_that_it_meets(store: Store) -> None:
    tenant = new_tenant(store)
    for expected, refused in ((None, MoveRefused), (Status.UNVALIDATED, StatusMoved)):
        tenant = new_tenant(store, f"{refused.code}@example.com")
        steps = update_tenant_status(tenant.id, Status.VALIDATED, by=ADMIN, expected=expected)
        with pytest.raises(refused):
            between(
                store,
                steps,
                ("Query", "audit"),
                lambda id=tenant.id: update_tenant_status(id, Status.VALIDATED, by="other"),  # type: ignore[misc]
            )
    assert sound(store)


def test_two_at_checkout_meet_at_the_marker(store: Store) -> None:
    found = between(
        store,
        tenant_at_checkout(EMAIL),
        ("GetItem", "tenants"),
        lambda: create_tenant(EMAIL, "Was faster", by=ADMIN),
    )
    assert found.organization_name == "Was faster"
    assert sound(store)


def test_an_order_overtaken_by_new_prices_has_the_new_ones(store: Store) -> None:
    tenant, product = new_tenant(store), new_product(store, price="100.00")
    new_campaign(store, product.id, discount_percentage=10)
    order = between(
        store,
        place_order(tenant.id, {product.id: 1}, "SUMMER2026"),
        ("BatchGetItem", "products"),
        lambda: update_product(product.id, {"price": "50.00"}, by=ADMIN),
        lambda: update_campaign("SUMMER2026", {"discount_percentage": 20}, by=ADMIN),
    )
    assert order.total == 40
    assert sound(store)


@pytest.mark.parametrize(
    ("meddle", "refused"),
    [
        (lambda t, p: soft_delete_product(p, by=ADMIN), ProductUnavailable),
        (lambda t, p: soft_delete_campaign("SUMMER2026", by=ADMIN), CampaignNotValid),
        (lambda t, p: suspend_tenant(t, "fraud", by=ADMIN), TenantSuspended),
        (lambda t, p: soft_delete_tenant(t, by=ADMIN), TenantDeleted),
    ],
    ids=["product deleted", "campaign deleted", "tenant suspended", "tenant deleted"],
)
def test_an_order_is_refused_for_what_happened_meanwhile(
    store: Store, meddle: Callable[[str, str], Steps[Any]], refused: type[Exception]
) -> None:
    tenant, product = new_tenant(store), new_product(store)
    new_campaign(store, product.id)
    with pytest.raises(refused):
        between(
            store,
            place_order(tenant.id, {product.id: 1}, "SUMMER2026"),
            ("GetItem", "CAMPAIGN#"),
            lambda: meddle(tenant.id, product.id),
        )
    assert store.run(list_orders(tenant.id)).items == []
    assert sound(store)


def test_a_campaign_is_not_made_for_a_product_that_has_just_gone(store: Store) -> None:
    product = new_product(store)
    with pytest.raises(ProductUnavailable):
        between(
            store,
            create_campaign(**campaign_fields(product.id)),
            ("GetItem", "products"),
            lambda: soft_delete_product(product.id, by=ADMIN),
        )
    assert sound(store)


def test_a_discount_is_judged_on_the_price_that_it_meets(store: Store) -> None:
    product = new_product(store)
    new_campaign(store, product.id)
    for steps in (
        create_campaign(**campaign_fields(product.id, code="OTHER", discount_percentage=99)),
        update_campaign("SUMMER2026", {"discount_percentage": 99}, by=ADMIN),
    ):
        store.run(update_product(product.id, {"price": "299.99"}, by=ADMIN))
        with pytest.raises(DiscountTooHigh):
            between(
                store,
                steps,
                ("GetItem", "products"),
                lambda: update_product(product.id, {"price": "0.10"}, by=ADMIN),
            )
    assert sound(store)


def test_a_try_is_of_the_code_that_was_sent_last(store: Store) -> None:
    tenant = new_tenant(store)
    code = store.run(issue_code(Purpose.SIGN_IN, tenant.id))
    with pytest.raises(CodeWrong):
        between(
            store,
            redeem_code(Purpose.SIGN_IN, tenant.id, code),
            ("GetItem", "codes"),
            lambda: issue_code(Purpose.SIGN_IN, tenant.id),
        )


def test_a_try_that_others_have_used_up_meanwhile_is_none_even_with_the_right_code(
    store: Store,
) -> None:
    tenant = new_tenant(store)
    code = store.run(issue_code(Purpose.SIGN_IN, tenant.id))
    wrong = f"{(int(code) + 1) % 10**6:06}"

    def guess_five_times() -> Steps[None]:
        for _ in range(5):
            with suppress(CodeWrong):
                yield from redeem_code(Purpose.SIGN_IN, tenant.id, wrong)

    with pytest.raises(CodeSpent):
        between(
            store,
            redeem_code(Purpose.SIGN_IN, tenant.id, code),
            ("GetItem", "codes"),
            guess_five_times,
        )


def test_a_code_that_was_used_while_it_was_tried_is_used(store: Store) -> None:
    tenant = new_tenant(store)
    code = store.run(issue_code(Purpose.SIGN_IN, tenant.id))
    with pytest.raises(CodeUsed):
        between(
            store,
            redeem_code(Purpose.SIGN_IN, tenant.id, code),
            ("UpdateItem", "codes"),
            lambda: redeem_code(Purpose.SIGN_IN, tenant.id, code),
        )
