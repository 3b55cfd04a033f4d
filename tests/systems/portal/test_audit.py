"""The audit log: what it tells, and what it finds when somebody has been at the tables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from datetime import timedelta
from decimal import Decimal
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.model import setup
from bigtime.store import Store
from bigtime.systems.portal import SYSTEM
from bigtime.systems.portal.chain import NOTHING_BEFORE, content_hash, entry_hash
from bigtime.systems.portal.design import Action, Audited
from bigtime.systems.portal.errors import UnknownProduct, UnknownTenant
from bigtime.systems.portal.orders import place_order
from bigtime.systems.portal.products import update_product
from bigtime.systems.portal.records import audit_log
from bigtime.systems.portal.registration import suspend_tenant
from bigtime.systems.portal.tenants import soft_delete_tenant, update_tenant
from bigtime.systems.portal.verification import Broken, Place, verify_audit, verify_chains
from bigtime.wire import Item
from tests.store.places import Place as Somewhere
from tests.systems.portal.scenes import (
    ADMIN,
    Runs,
    contents,
    new_campaign,
    new_product,
    new_tenant,
    registered_tenant,
    request_steps,
    stored_item,
)


def product_with_history(place: Runs) -> str:
    """A product with four entries, beside a tenant, a campaign and an order; the product's id."""
    product = new_product(place)
    for price in ("250.00", "260.00", "270.00"):
        place.run(update_product(product.id, {"price": price}, by=ADMIN))
    new_campaign(place, product.id)
    tenant = registered_tenant(place)
    place.run(place_order(tenant.id, {product.id: 1}, "SUMMER2026"))
    assert place.run(verify_audit()) == []
    return product.id


def put(place: Runs, table: str, item: Item) -> None:
    place.run(request_steps("PutItem", TableName=table, Item=item))


def drop(place: Runs, table: str, item: Item) -> None:
    key = {name: item[name] for name in ("PK", "SK")}
    place.run(request_steps("DeleteItem", TableName=table, Key=key))


def entry_of(place: Runs, record: str, sequence: int) -> Item:
    item = stored_item(place, "audit", record, f"{sequence:012}")
    assert item is not None
    return item


def reseal(item: Item) -> Item:
    """An entry with hashes that fit it."""
    item = {**item, "contentHash": {"S": content_hash(item)}}
    return {**item, "hash": {"S": entry_hash(item)}}


def audit_findings(place: Runs) -> list[tuple[str, int]]:
    return [(each.record, each.sequence) for each in place.run(verify_audit())]


# What it tells


def test_an_entry_tells_who_changed_what_when_from_and_to(place: Somewhere) -> None:
    product = new_product(place)
    place.time.now += timedelta(minutes=3)
    after = place.run(update_product(product.id, {"price": "250.00"}, by="editor@example.com"))

    latest, first = place.run(audit_log(Audited.PRODUCTS, product.id))

    assert (first.sequence, first.action, first.actor) == (1, Action.CREATED, ADMIN)
    assert first.before is None
    assert (latest.sequence, latest.action) == (2, Action.UPDATED)
    assert (latest.actor, latest.at) == ("editor@example.com", after.date_last_updated)
    assert latest.before == first.after
    changed = {
        name: ((latest.before or {})[name], value)
        for name, value in (latest.after or {}).items()
        if (latest.before or {})[name] != value
    }
    assert changed == {
        "price": (Decimal("299.99"), Decimal(250)),
        "dateLastUpdated": ("2026-11-15T12:00:00Z", f"{after.date_last_updated:%FT%TZ}"),
        "lastUpdatedBy": (ADMIN, "editor@example.com"),
    }
    assert (first.previous_hash, latest.previous_hash) == (NOTHING_BEFORE, first.hash)


def test_an_entry_is_hashed_as_the_essay_says(alone: Somewhere) -> None:
    """By hand, from the stored item: what somebody else would write to verify a log."""
    tenant = new_tenant(alone)
    alone.run(suspend_tenant(tenant.id, "fraud", by=ADMIN))
    item = entry_of(alone, f"tenants#{tenant.id}", 2)

    def sha(names: set[str]) -> str:
        chosen = {name: item[name] for name in names & item.keys()}
        text = json.dumps(chosen, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return sha256(text.encode()).hexdigest()

    told = {"reason", "before", "after", "salt"}
    assert item["contentHash"]["S"] == sha(told)
    assert item["hash"]["S"] == sha(item.keys() - told - {"hash"})
    assert item["previousHash"] == entry_of(alone, f"tenants#{tenant.id}", 1)["hash"]
    assert item.keys() >= {"actor", "action", "at", "before", "after", "reason", "salt"}


def test_the_entry_and_the_change_are_one_transaction(alone: Somewhere) -> None:
    product = new_product(alone)
    alone.exchanges.clear()
    alone.run(update_product(product.id, {"price": "1.00"}, by=ADMIN))
    assert alone.operations == ["GetItem", "Query", "TransactWriteItems"]
    request = alone.exchanges[-1].request.params
    tables = [
        next(iter(transact_item.values()))["TableName"]
        for transact_item in request["TransactItems"]
    ]
    assert tables == ["products", "audit"]
    assert request["ClientRequestToken"], "it may be sent again when nobody knows what came of it"


def test_a_change_that_is_refused_leaves_no_entry(alone: Somewhere) -> None:
    with pytest.raises(UnknownTenant):
        alone.run(soft_delete_tenant("tenant_x", by=ADMIN))
    assert contents(alone)["audit"] == []


def test_a_log_comes_in_pages_either_way(alone: Somewhere) -> None:
    product_id = product_with_history(alone)
    page = alone.run(audit_log(Audited.PRODUCTS, product_id, limit=3))
    rest = alone.run(audit_log(Audited.PRODUCTS, product_id, limit=3, after=page.position))
    assert [each.sequence for each in (*page, *rest)] == [4, 3, 2, 1]
    forward = alone.run(audit_log(Audited.PRODUCTS, product_id, newest_first=False))
    assert [each.sequence for each in forward] == [1, 2, 3, 4]
    with pytest.raises(UnknownProduct):
        alone.run(audit_log(Audited.PRODUCTS, "x" * 3000))


# What it finds


def test_nothing_is_wrong_with_what_the_portal_has_written(place: Somewhere) -> None:
    product_with_history(place)
    assert place.run(verify_audit()) == []


def test_it_goes_page_by_page_and_finds_the_same(alone: Somewhere) -> None:
    product_id = product_with_history(alone)
    drop(alone, "audit", entry_of(alone, f"products#{product_id}", 2))
    whole = alone.run(verify_audit())
    pages, broken, items = 0, [], 0
    place: Place | None = Place()
    while place is not None:
        page = alone.run(verify_chains(place, limit=2))
        assert page.items <= 2
        pages, items = pages + 1, items + page.items
        broken += page.broken
        place = page.next
    assert broken == whole != []
    everything = sum(len(rows) for name, rows in contents(alone).items() if name != "codes")
    assert (items, pages > 5) == (everything, True)


def changed_bytes(value: Any) -> Iterator[Any]:
    """Every way to change one character somewhere in an attribute's text, or a truth."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, str):
        for place, letter in enumerate(value):
            yield value[:place] + ("1" if letter != "1" else "2") + value[place + 1 :]
    elif isinstance(value, list):
        for place, each in enumerate(value):
            for other in changed_bytes(each):
                yield [*value[:place], other, *value[place + 1 :]]
    else:
        for name, each in value.items():
            for other in changed_bytes(each):
                yield {**value, name: other}


@settings(max_examples=60)
@given(data=st.data())
def test_one_changed_byte_of_an_entry_is_found(data: st.DataObject) -> None:
    with Engine.memory(housekeeping=False) as engine, Store(engine) as store:
        store.run(setup(SYSTEM))
        product = new_product(store)
        store.run(update_product(product.id, {"price": "250.00"}, by=ADMIN))
        tenant = new_tenant(store)
        store.run(suspend_tenant(tenant.id, "fraud", by=ADMIN))
        record = data.draw(st.sampled_from([f"products#{product.id}", f"tenants#{tenant.id}"]))
        sequence = data.draw(st.sampled_from([1, 2]))
        item = entry_of(store, record, sequence)
        name = data.draw(st.sampled_from(sorted(item.keys() - {"PK", "SK", "salt"})))
        ways = [
            changed_byte
            for changed_byte in changed_bytes(item[name])
            if not same_number(item[name], changed_byte)
        ]
        put(store, "audit", {**item, name: data.draw(st.sampled_from(ways))})
        assert (record, sequence) in audit_findings(store)


def same_number(one: Any, other: Any) -> bool:
    """`sequence` is stored as a number; `01` is none, and 1 is 1."""
    try:
        return bool(one["N"] == other["N"] or int(other["N"]) < 0)
    except KeyError:
        return False


def test_a_changed_salt_or_type_or_an_attribute_more_or_less_is_found(alone: Somewhere) -> None:
    product_id = product_with_history(alone)
    record = f"products#{product_id}"
    item = entry_of(alone, record, 3)
    for touched in (
        {**item, "salt": {"B": "AAAAAAAAAAAAAAAAAAAAAA=="}},
        {**item, "at": {"N": "1"}},
        {**item, "note": {"S": "added"}},
        {name: value for name, value in item.items() if name != "actor"},
        {name: value for name, value in item.items() if name != "salt"},
        {name: value for name, value in item.items() if name != "hash"},
        {**item, "hash": {"NULL": True}},
    ):
        put(alone, "audit", touched)
        assert (record, 3) in audit_findings(alone)
    put(alone, "audit", item)
    assert audit_findings(alone) == []


def test_a_number_spelled_otherwise_is_the_same_number(alone: Somewhere) -> None:
    product_id = product_with_history(alone)
    item = deepcopy(entry_of(alone, f"products#{product_id}", 2))
    item["after"]["M"]["price"] = {"N": "250.000"}
    put(alone, "audit", item)
    assert audit_findings(alone) == []


def test_an_entry_whose_hashes_were_made_anew_breaks_the_link(place: Somewhere) -> None:
    product_id = product_with_history(place)
    record = f"products#{product_id}"
    item = entry_of(place, record, 2)
    put(place, "audit", reseal({**item, "actor": {"S": "mallory@example.com"}}))
    broken = Broken(record, 3, "the link to the entry before is broken")
    assert place.run(verify_audit()) == [broken]


@pytest.mark.parametrize("sequence", [1, 2, 3])
def test_a_missing_entry_is_found(alone: Somewhere, sequence: int) -> None:
    record = f"products#{product_with_history(alone)}"
    drop(alone, "audit", entry_of(alone, record, sequence))
    assert alone.run(verify_audit()) == [Broken(record, sequence, "the entry is missing")]


def test_a_missing_last_entry_shows_in_the_record(place: Somewhere) -> None:
    record = f"products#{product_with_history(place)}"
    drop(place, "audit", entry_of(place, record, 4))
    (broken,) = place.run(verify_audit())
    assert (broken.record, broken.sequence) == (record, 3)
    assert broken.what == "the record is not what this entry says it became"


def test_a_whole_chain_that_is_missing_shows_in_the_record(alone: Somewhere) -> None:
    record = f"products#{product_with_history(alone)}"
    for sequence in (1, 2, 3, 4):
        drop(alone, "audit", entry_of(alone, record, sequence))
    assert alone.run(verify_audit()) == [Broken(record, 0, "no entry tells what the record is")]


def test_an_entry_put_in_at_the_end_is_found(alone: Somewhere) -> None:
    """Well linked and well hashed, it says that the record became what it is not."""
    record = f"products#{product_with_history(alone)}"
    last = deepcopy(entry_of(alone, record, 4))
    last["before"], last["after"] = last["after"], deepcopy(last["after"])
    last["after"]["M"]["price"] = {"N": "1"}
    more = {**last, "SK": {"S": f"{5:012}"}, "sequence": {"N": "5"}, "previousHash": last["hash"]}
    put(alone, "audit", reseal(more))
    assert audit_findings(alone) == [(record, 5)]


def test_an_entry_put_in_between_is_found(alone: Somewhere) -> None:
    record = f"products#{product_with_history(alone)}"
    item = entry_of(alone, record, 2)
    put(alone, "audit", reseal({**item, "SK": {"S": "0000000000021"}}))
    assert audit_findings(alone) == [(record, 2)]
    drop(alone, "audit", {**item, "SK": {"S": "0000000000021"}})
    put(alone, "audit", reseal({**item, "SK": {"S": "000000000000"}}))
    assert audit_findings(alone) == [(record, 0)]


def test_entries_that_changed_places_are_found(alone: Somewhere) -> None:
    record = f"products#{product_with_history(alone)}"
    second, third = entry_of(alone, record, 2), entry_of(alone, record, 3)
    put(alone, "audit", {**second, "SK": third["SK"]})
    put(alone, "audit", {**third, "SK": second["SK"]})
    assert {sequence for _, sequence in audit_findings(alone)} >= {2, 3}


@pytest.mark.parametrize(
    ("table", "name", "value"),
    [
        ("tenants", "email", {"S": "mallory@example.com"}),
        ("tenants", "status", {"S": "VALIDATED"}),
        ("products", "price", {"N": "0.01"}),
        ("campaigns", "discountPercentage", {"N": "99"}),
        ("orders", "total", {"N": "0.01"}),
        ("products", "note", {"S": "added"}),
    ],
    ids=["email", "status", "price", "discount", "total", "added"],
)
def test_a_record_changed_behind_the_portals_back_is_found(
    alone: Somewhere, table: str, name: str, value: dict[str, str]
) -> None:
    product_with_history(alone)
    (item,) = [each for each in contents(alone)[table] if not each["PK"]["S"].startswith("EMAIL#")]
    put(alone, table, {**item, name: value})
    (broken,) = alone.run(verify_audit())
    assert broken.record == f"{table}#{item['id']['S']}"
    assert broken.what == "the record is not what this entry says it became"


def test_a_change_behind_its_back_shows_even_after_the_next_change(alone: Somewhere) -> None:
    product_id = product_with_history(alone)
    item = stored_item(alone, "products", f"PRODUCT#{product_id}")
    assert item is not None
    put(alone, "products", {**item, "price": {"N": "0.01"}})
    alone.run(update_product(product_id, {"name": "Another name"}, by=ADMIN))
    assert alone.run(verify_audit()) == [
        Broken(
            f"products#{product_id}",
            5,
            "the record was changed between this entry and the one before",
        )
    ]


@pytest.mark.parametrize("table", ["tenants", "products", "campaigns", "orders"])
def test_a_record_that_was_deleted_for_good_is_found(place: Somewhere, table: str) -> None:
    product_with_history(place)
    (item,) = [each for each in contents(place)[table] if not each["PK"]["S"].startswith("EMAIL#")]
    drop(place, table, item)
    chain = f"{table}#{item['id']['S']}"
    assert {each.what for each in place.run(verify_audit())} == {"its record is gone"}
    assert {each.record for each in place.run(verify_audit())} == {chain}


def test_a_record_of_nobody_is_found(alone: Somewhere) -> None:
    product_id = product_with_history(alone)
    item = stored_item(alone, "products", f"PRODUCT#{product_id}")
    assert item is not None
    other = product_id.replace(product_id[-4:], "0000")
    twin = {**item, "PK": {"S": f"PRODUCT#{other}"}, "id": {"S": other}}
    put(alone, "products", twin)
    assert audit_findings(alone) == [(f"products#{other}", 0)]
    put(alone, "audit", {**entry_of(alone, f"products#{product_id}", 1), "PK": {"S": "x#y"}})
    assert ("x#y", 1) in audit_findings(alone)


@pytest.mark.parametrize("table", ["tenants", "orders"])
def test_a_record_replaced_by_a_copy_of_another_is_found(alone: Somewhere, table: str) -> None:
    """The copy fits its own chain, and nothing leads to that of the record which it replaced."""
    product_with_history(alone)
    other = registered_tenant(alone, "other@example.com")
    (product,) = contents(alone)["products"]
    alone.run(place_order(other.id, {product["id"]["S"]: 2}))
    one, two = [each for each in contents(alone)[table] if "id" in each]
    put(alone, table, {**two, "PK": one["PK"], "SK": one["SK"]})
    assert {(each.record, each.what) for each in alone.run(verify_audit())} == {
        (f"{table}#{two['id']['S']}", "a copy of its record is in the place of another"),
        (f"{table}#{one['id']['S']}", "its record is gone"),
    }


def test_a_chain_that_was_led_to_another_record_is_found(alone: Somewhere) -> None:
    product_id = product_with_history(alone)
    other = new_campaign(alone, product_id, code="WINTER2026")
    (gone,) = [each for each in contents(alone)["campaigns"] if each["id"]["S"] != other.id]
    drop(alone, "campaigns", gone)
    entry = deepcopy(entry_of(alone, f"campaigns#{gone['id']['S']}", 1))
    entry["after"]["M"]["code"] = {"S": "WINTER2026"}
    put(alone, "audit", entry)
    assert alone.run(verify_audit()) == [
        Broken(f"campaigns#{gone['id']['S']}", 1, "its record is gone")
    ]


def test_what_was_erased_without_a_word_is_found(alone: Somewhere) -> None:
    tenant = new_tenant(alone)
    alone.run(update_tenant(tenant.id, {"organization_name": "Example"}, by=ADMIN))
    item = entry_of(alone, f"tenants#{tenant.id}", 1)
    told = {"before", "after", "reason", "salt"}
    put(alone, "audit", {name: value for name, value in item.items() if name not in told})
    (broken,) = alone.run(verify_audit())
    assert (broken.sequence, broken.what) == (
        1,
        "what the entry tells was erased, and no later entry says so",
    )
    assert str(broken) == f"tenants#{tenant.id}, entry 1: {broken.what}"
