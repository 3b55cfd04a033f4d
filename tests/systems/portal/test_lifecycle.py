"""Whatever is done to tenants, products and campaigns, they are what the rules make of them.

After each run: every marker and every index is right, the lists and counts are the model's, every
chain verifies, and each record has as many entries as it had changes.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from bigtime.engine import Engine
from bigtime.model import DomainError, setup, verify
from bigtime.store import Store
from bigtime.store.driver import Exchange
from bigtime.systems.portal import SYSTEM
from bigtime.systems.portal.campaigns import (
    create_campaign,
    get_campaign,
    list_campaigns,
    restore_campaign,
    soft_delete_campaign,
    update_campaign,
)
from bigtime.systems.portal.design import Purpose
from bigtime.systems.portal.orders import list_orders, place_order
from bigtime.systems.portal.products import (
    list_products,
    restore_product,
    soft_delete_product,
    update_product,
)
from bigtime.systems.portal.registration import (
    MOVES,
    issue_code,
    override_tenant_status,
    register_tenant,
    reinstate_tenant,
    suspend_tenant,
    update_tenant_status,
    validate_tenant,
)
from bigtime.systems.portal.tenants import (
    count_tenants_by_status,
    get_tenant,
    list_tenants,
    list_tenants_by_status,
    restore_tenant,
    soft_delete_tenant,
    tenant_at_checkout,
    update_tenant,
)
from bigtime.systems.portal.values import Status
from bigtime.systems.portal.verification import verify_audit
from bigtime.wire import Request, Steps
from tests.store.places import Time
from tests.systems.portal.scenes import ADMIN, campaign_fields, contents, new_product

T = TypeVar("T")

EMAILS = ("a@example.com", "b@example.com", "c@example.com")
CODES = ("SUMMER2026", "WINTER2026")

emails = st.sampled_from(EMAILS)
statuses = st.sampled_from(Status)
codes = st.sampled_from(CODES)
prices = st.sampled_from(["100.00", "250.50", "299.99"])


@dataclass
class Known:
    """What a tenant should be."""

    id: str
    status: Status = Status.UNVALIDATED
    previous: Status | None = None
    active: bool = True
    organization: str | None = None
    orders: int = 0

    @property
    def may_order(self) -> bool:
        return self.active and self.status != Status.SUSPENDED

    def move_to(self, target: Status) -> None:
        self.previous = self.status if target == Status.SUSPENDED else None
        self.status = target


class Portal(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.opened = ExitStack()
        self.time = Time()
        self.asked: list[Request] = []
        engine = self.opened.enter_context(Engine.memory(housekeeping=False))
        self.store = Store(
            engine,
            clock=self.time.clock,
            randomness=Random(5).randbytes,
            hooks=[self.note],
        )
        self.opened.enter_context(self.store)
        self.tenants: dict[str, Known] = {}
        self.campaigns: dict[str, bool] = {}
        self.changes: Counter[str] = Counter()

    def note(self, exchange: Exchange) -> None:
        self.asked.append(exchange.request)

    @initialize()
    def open(self) -> None:
        self.store.run(setup(SYSTEM))
        self.product = new_product(self.store)
        self.is_sold, self.price = True, "299.99"
        self.changes[self.product.id] += 1

    def attempt(self, steps: Steps[T], *, works: bool) -> T | None:
        """Runs steps that should work, or should be refused."""
        self.time.now += timedelta(seconds=7)
        if works:
            return self.store.run(steps)
        with pytest.raises(DomainError):
            self.store.run(steps)
        return None

    # Tenants

    @rule(email=emails)
    def check_out(self, email: str) -> None:
        known = self.tenants.get(email)
        made = self.attempt(tenant_at_checkout(email), works=known is None or known.may_order)
        if known is None:
            assert made is not None
            self.tenants[email] = Known(made.id)
            self.changes[made.id] += 1
        elif made is not None:
            assert (made.id, made.status) == (known.id, known.status)

    @precondition(lambda self: self.tenants)
    @rule(data=st.data())
    def prove_address(self, data: st.DataObject) -> None:
        known = self.one(data)
        works = known.may_order and known.status == Status.UNVALIDATED
        code = self.attempt(issue_code(Purpose.VALIDATE, known.id), works=works)
        if code is not None:
            self.attempt(validate_tenant(known.id, code), works=True)
            self.move(known, Status.VALIDATED)

    @precondition(lambda self: self.tenants)
    @rule(data=st.data(), organization=st.sampled_from([None, "Example"]))
    def register(self, data: st.DataObject, organization: str | None) -> None:
        known = self.one(data)
        works = known.active and known.status == Status.VALIDATED
        if self.attempt(register_tenant(known.id, organization), works=works):
            self.move(known, Status.REGISTERED)
            known.organization = organization or known.organization

    @precondition(lambda self: self.tenants)
    @rule(data=st.data(), status=statuses)
    def move_along(self, data: st.DataObject, status: Status) -> None:
        known = self.one(data)
        allowed = {*MOVES[known.status], *([known.previous] if known.previous else [])}
        works = known.active and status in allowed
        if self.attempt(update_tenant_status(known.id, status, by=ADMIN), works=works):
            self.move(known, status)

    @precondition(lambda self: self.tenants)
    @rule(data=st.data(), status=statuses)
    def override(self, data: st.DataObject, status: Status) -> None:
        known = self.one(data)
        same = known.status == status
        steps = override_tenant_status(known.id, status, "because", by=ADMIN)
        self.attempt(steps, works=known.active or same)
        if known.active and not same:
            self.move(known, status)

    @precondition(lambda self: self.tenants)
    @rule(data=st.data())
    def suspend(self, data: st.DataObject) -> None:
        known = self.one(data)
        suspended = known.status == Status.SUSPENDED
        steps = suspend_tenant(known.id, "because", by=ADMIN)
        self.attempt(steps, works=known.active or suspended)
        if known.active and not suspended:
            self.move(known, Status.SUSPENDED)

    @precondition(lambda self: self.tenants)
    @rule(data=st.data())
    def reinstate(self, data: st.DataObject) -> None:
        known = self.one(data)
        works = known.active and known.status == Status.SUSPENDED
        if self.attempt(reinstate_tenant(known.id, "because", by=ADMIN), works=works):
            self.move(known, known.previous or Status.REGISTERED)

    @precondition(lambda self: self.tenants)
    @rule(data=st.data(), active=st.booleans())
    def delete_or_restore(self, data: st.DataObject, active: bool) -> None:
        known = self.one(data)
        change = restore_tenant if active else soft_delete_tenant
        self.attempt(change(known.id, by=ADMIN), works=True)
        self.changes[known.id] += known.active != active
        known.active = active

    @precondition(lambda self: self.tenants)
    @rule(data=st.data(), name=st.sampled_from([None, "One", "Two"]))
    def rename_organization(self, data: st.DataObject, name: str | None) -> None:
        known = self.one(data)
        same = known.organization == name
        steps = update_tenant(known.id, {"organization_name": name}, by=ADMIN)
        self.attempt(steps, works=known.active or same)
        if known.active and not same:
            self.changes[known.id] += 1
            known.organization = name

    # Products, campaigns and orders

    @rule(active=st.booleans())
    def sell_or_not(self, active: bool) -> None:
        change = restore_product if active else soft_delete_product
        self.attempt(change(self.product.id, by=ADMIN), works=True)
        self.changes[self.product.id] += self.is_sold != active
        self.is_sold = active

    @rule(price=prices)
    def reprice(self, price: str) -> None:
        same = price == self.price
        steps = update_product(self.product.id, {"price": price}, by=ADMIN)
        self.attempt(steps, works=self.is_sold or same)
        if self.is_sold and not same:
            self.price = price
            self.changes[self.product.id] += 1

    @rule(code=codes)
    def announce(self, code: str) -> None:
        steps = create_campaign(**campaign_fields(self.product.id, code=code))
        made = self.attempt(steps, works=self.is_sold and code not in self.campaigns)
        if made is not None:
            self.campaigns[code] = True
            self.changes[made.id] += 1

    @precondition(lambda self: self.campaigns)
    @rule(data=st.data(), active=st.booleans())
    def run_or_withdraw(self, data: st.DataObject, active: bool) -> None:
        code = data.draw(st.sampled_from(sorted(self.campaigns)))
        change = restore_campaign if active else soft_delete_campaign
        made = self.attempt(change(code, by=ADMIN), works=True)
        assert made is not None
        self.changes[made.id] += self.campaigns[code] != active
        self.campaigns[code] = active

    @precondition(lambda self: self.campaigns)
    @rule(data=st.data(), discount=st.sampled_from([10, 30]))
    def discount(self, data: st.DataObject, discount: int) -> None:
        code = data.draw(st.sampled_from(sorted(self.campaigns)))
        before = self.store.run(get_campaign(code, include_inactive=True)).campaign
        same = before.discount_percentage == discount
        steps = update_campaign(code, {"discount_percentage": discount}, by=ADMIN)
        self.attempt(steps, works=self.campaigns[code] or same)
        self.changes[before.id] += self.campaigns[code] and not same

    @precondition(lambda self: self.tenants)
    @rule(data=st.data(), code=st.none() | codes)
    def order(self, data: st.DataObject, code: str | None) -> None:
        known = self.one(data)
        works = (
            known.may_order and self.is_sold and (code is None or bool(self.campaigns.get(code)))
        )
        made = self.attempt(place_order(known.id, {self.product.id: 2}, code), works=works)
        if made is not None:
            known.orders += 1
            self.changes[made.id] += 1

    # The model

    def one(self, data: st.DataObject) -> Known:
        return self.tenants[data.draw(st.sampled_from(sorted(self.tenants)))]

    def move(self, known: Known, target: Status) -> None:
        known.move_to(target)
        self.changes[known.id] += 1

    def teardown(self) -> None:
        with self.opened:
            if hasattr(self, "product"):
                self.check()

    def check(self) -> None:
        run = self.store.run
        assert run(verify(SYSTEM)) == []
        assert run(verify_audit()) == []
        self.check_tenants()
        sold = [product.id for product in run(list_products())]
        assert sold == ([self.product.id] if self.is_sold else [])
        shown = {campaign.campaign.code for campaign in run(list_campaigns())}
        assert shown == {code for code, active in self.campaigns.items() if active}
        entries = Counter(each["id"]["S"] for each in contents(self.store)["audit"])
        assert entries == +self.changes
        assert not any("Delete" in request.operation for request in self.asked)

    def check_tenants(self) -> None:
        run = self.store.run
        living = [tenant for tenant in self.tenants.values() if tenant.active]
        for known in self.tenants.values():
            found = run(get_tenant(known.id, include_inactive=True))
            assert (found.status, found.previous_status) == (known.status, known.previous)
            assert (found.active, found.organization_name) == (known.active, known.organization)
            assert len(run(list_orders(known.id))) == known.orders
        assert {tenant.id for tenant in run(list_tenants())} == {each.id for each in living}
        counts = Counter(each.status for each in living)
        assert run(count_tenants_by_status()) == {each: counts[each] for each in Status}
        for status in Status:
            listed = {each.id for each in run(list_tenants_by_status(status))}
            assert listed == {each.id for each in living if each.status == status}


Portal.TestCase.settings = settings(max_examples=40, stateful_step_count=30)
TestPortal = Portal.TestCase
