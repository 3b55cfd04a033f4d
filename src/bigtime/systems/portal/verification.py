"""Verifies all audit chains, to find what was changed bypassing the portal.

Every record is checked with its chain: each entry must match its hashes and the previous entry,
none may be missing, each change must begin with the state in which the previous one ended, and the
record must be as its last entry says, under its own key. Then each chain is checked for its record,
which must exist and have the chain's id: a chain without one is reached from no record.

Items are read as they are stored, since one that was tampered with may not be a valid entity.
Verification goes page by page and keeps only where a page ended, so a large log takes time but no
memory. Others may write meanwhile: before a record is reported, it is read in one transaction with
the key that its next entry would have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from bigtime import model as bt
from bigtime.systems.portal import chain as chains
from bigtime.systems.portal import design
from bigtime.systems.portal.design import Audited
from bigtime.systems.portal.records import TRIES
from bigtime.wire import AttributeValue, Item, Request, Response

PAGE: Final = 100
SEQUENCE_DIGITS: Final = 12

STAGES: Final = (
    (design.TENANTS.name, Audited.TENANTS, "TENANT#"),
    (design.PRODUCTS.name, Audited.PRODUCTS, "PRODUCT#"),
    (design.CAMPAIGNS.name, Audited.CAMPAIGNS, "CAMPAIGN#"),
    (design.ORDERS.name, Audited.ORDERS, "TENANT#"),
    (design.AUDIT.name, None, ""),
)


@dataclass(frozen=True, slots=True)
class Broken:
    """What is wrong with a chain: the record, the entry, and the fault."""

    record: str
    sequence: int
    what: str

    def __str__(self) -> str:
        return f"{self.record}, entry {self.sequence}: {self.what}"


@dataclass(frozen=True, slots=True)
class Place:
    """How far a verification has come: a table, and the last item read in it."""

    stage: int = 0
    last: Item | None = None


@dataclass(frozen=True, slots=True)
class Verified:
    """One page of a verification. `next` is where the next page begins, None at the end."""

    broken: list[Broken]
    items: int
    next: Place | None


@bt.pattern(
    "Verify Audit Log",
    index="Main table",
    sample={"limit": 2},
    accepted={"scan": "it looks at every record and every entry, page by page"},
)
def verify_audit(*, limit: int = PAGE) -> bt.Steps[list[Broken]]:
    """every record with its chain, then every chain with its record"""
    broken: list[Broken] = []
    place: Place | None = Place()
    while place is not None:
        page = yield from verify_chains(place, limit=limit)
        broken += page.broken
        place = page.next
    return broken


def verify_chains(place: Place | None = None, *, limit: int = PAGE) -> bt.Steps[Verified]:
    """One page: some records with their chains, or some entries with their records."""
    here = place or Place()
    table, audited, prefix = STAGES[here.stage]
    response = yield scan_request(table, here.last, limit)
    items: list[Item] = response["Items"]
    if audited is None:
        found = yield from bt.together(*map(check_stray_chain, chains_in(items)))
    else:
        records = [item for item in items if text_in(item, "PK").startswith(prefix)]
        found = yield from bt.together(
            *(check_record(table, audited, record) for record in records)
        )
    broken = [fault for faults in found for fault in faults]
    return Verified(broken, len(items), after(here, response.get("LastEvaluatedKey")))


def after(here: Place, last: Item | None) -> Place | None:
    if last is not None:
        return Place(here.stage, last)
    return Place(here.stage + 1) if here.stage + 1 < len(STAGES) else None


# A record and its chain


def check_record(table: str, audited: Audited, item: Item) -> bt.Steps[list[Broken]]:
    """What is wrong with a record and its chain; for a product, also the chain of its prices."""
    broken = yield from against_chain(table, audited, item)
    if not is_in_its_place(table, audited, item):
        chain = f"{audited}#{text_in(item, 'id')}"
        broken = [Broken(chain, 0, "a copy of its record is in the place of another"), *broken]
    if audited is Audited.PRODUCTS:
        prices = yield from walk_chain(f"{Audited.PRICES}#{text_in(item, 'id')}")
        broken += prices.all_broken()
    return broken


def against_chain(table: str, audited: Audited, item: Item) -> bt.Steps[list[Broken]]:
    chain = f"{audited}#{text_in(item, 'id')}"
    for _ in range(TRIES):
        walk = yield from walk_chain(chain)
        if same_state(item, walk.state):
            return walk.all_broken()
        record, following = yield from at_one_moment(table, item, chain, walk.sequence + 1)
        if following is not None:
            item = record or item
            continue
        if record is None:
            return [*walk.all_broken(), Broken(chain, walk.sequence, "its record is gone")]
        if same_state(record, walk.state):
            return walk.all_broken()
        return [*walk.all_broken(), unlike(walk)]
    raise bt.Conflict


def is_in_its_place(table: str, audited: Audited, item: Item) -> bool:
    """Whether a record is under the key that its chain leads to: under another, it hides one."""
    last: Item = {"PK": {"S": f"{audited}#{text_in(item, 'id')}"}, "after": {"M": item}}
    return record_place(last) == (table, {name: item[name] for name in chains.KEY})


def unlike(walk: Walk) -> Broken:
    if walk.state is None:
        return Broken(walk.chain, walk.sequence, "no entry tells what the record is")
    return Broken(walk.chain, walk.sequence, "the record is not what this entry says it became")


def same_state(item: Item, state: AttributeValue | None) -> bool:
    return state is not None and chains.canonical_value(
        {"M": chains.without_key(item)}
    ) == chains.canonical_value(state)


@dataclass(slots=True)
class Walk:
    """A walk along one chain, entry by entry: its position, and the faults so far."""

    chain: str
    sequence: int = 0
    hash: str | None = chains.NOTHING_BEFORE
    state: AttributeValue | None = None
    anonymised: int = 0
    erased: list[int] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)

    def see(self, item: Item) -> None:
        sequence = self.number_of(item)
        if sequence is None:
            return
        for what in self.faults(item):
            self.broken.append(Broken(self.chain, sequence, what))
        if text_in(item, "action") == design.Action.ANONYMISED:
            self.anonymised = sequence
        if is_erased(item):
            self.erased.append(sequence)
        self.sequence = sequence
        self.hash = text_in(item, chains.OWN_HASH)
        self.state = item.get("after")

    def number_of(self, item: Item) -> int | None:
        """The entry's number; None if it is not a number above the last one."""
        text = text_in(item, "SK")
        digits = len(text) == SEQUENCE_DIGITS and text.isascii() and text.isdigit()
        if not digits or int(text) <= self.sequence:
            self.broken.append(Broken(self.chain, self.sequence, f"{text!r} is no entry's number"))
            return None
        if int(text) > self.sequence + 1:
            self.broken.append(Broken(self.chain, self.sequence + 1, "the entry is missing"))
            self.hash = self.state = None
        return int(text)

    def faults(self, item: Item) -> Iterator[str]:
        if text_in(item, chains.OWN_HASH) != chains.entry_hash(item):
            yield "the entry was changed: it does not fit its hash"
        if not is_erased(item) and text_in(item, "contentHash") != chains.content_hash(item):
            yield "what the entry tells was changed: it does not fit its hash"
        if self.hash is not None and text_in(item, "previousHash") != self.hash:
            yield "the link to the entry before is broken"
        elif not self.goes_on(item):
            yield "the record was changed between this entry and the one before"

    def goes_on(self, item: Item) -> bool:
        """Whether the state before this change is the state after the previous; true if unknown."""
        before = item.get("before")
        if before is None or self.state is None:
            return True
        return chains.canonical_value(before) == chains.canonical_value(self.state)

    def all_broken(self) -> list[Broken]:
        unsaid = (number for number in self.erased if number > self.anonymised)
        what = "what the entry tells was erased, and no later entry says so"
        return [*self.broken, *(Broken(self.chain, number, what) for number in unsaid)]


def is_erased(item: Item) -> bool:
    return chains.CONTENT.isdisjoint(item)


def walk_chain(chain: str) -> bt.Steps[Walk]:
    """Walks a chain to its end."""
    walk = Walk(chain)
    last: Item | None = None
    while True:
        response = yield chain_request(chain, last)
        for item in response["Items"]:
            walk.see(item)
        last = response.get("LastEvaluatedKey")
        if last is None:
            return walk


# A chain and its record


def chains_in(items: list[Item]) -> list[Item]:
    """One entry of each chain, if possible one that holds the record's state."""
    chains: dict[str, Item] = {}
    for item in items:
        name = text_in(item, "PK")
        if name not in chains or "after" in item:
            chains[name] = item
    return list(chains.values())


def check_stray_chain(item: Item) -> bt.Steps[list[Broken]]:
    """What is wrong with a chain that no record leads to."""
    chain, sequence = text_in(item, "PK"), text_in(item, "SK")
    number = int(sequence) if sequence.isascii() and sequence.isdigit() else 0
    place = record_place(item)
    if place is None:
        return [Broken(chain, number, "no record can have this chain")]
    table, key = place
    response = yield Request("GetItem", {"TableName": table, "Key": key, "ConsistentRead": True})
    id = chain.partition("#")[2]
    is_there = text_in(response.get("Item", {}), "id") == id
    return [] if is_there else [Broken(chain, number, "its record is gone")]


def record_place(entry: Item) -> tuple[str, Item] | None:
    """The table and the key of the record that an entry is about."""
    audited, _, id = text_in(entry, "PK").partition("#")
    state = (entry.get("after") or {}).get("M") or {}
    match audited:
        case Audited.TENANTS:
            return design.TENANTS.name, metadata(f"TENANT#{id}")
        case Audited.PRODUCTS | Audited.PRICES:
            return design.PRODUCTS.name, metadata(f"PRODUCT#{id}")
        case Audited.CAMPAIGNS:
            return design.CAMPAIGNS.name, metadata(f"CAMPAIGN#{text_in(state, 'code')}")
        case Audited.ORDERS:
            partition = f"TENANT#{text_in(state, 'tenantId')}"
            return design.ORDERS.name, {"PK": {"S": partition}, "SK": {"S": f"ORDER#{id}"}}
    return None


def metadata(partition: str) -> Item:
    return {"PK": {"S": partition}, "SK": {"S": "METADATA"}}


# Requests


def scan_request(table: str, last: Item | None, limit: int) -> Request:
    params = {"TableName": table, "ConsistentRead": True, "Limit": limit}
    return Request("Scan", params | start_parameters(last))


def chain_request(chain: str, last: Item | None) -> Request:
    params: dict[str, Any] = {
        "TableName": design.AUDIT.name,
        "KeyConditionExpression": "#pk = :pk",
        "ExpressionAttributeNames": {"#pk": "PK"},
        "ExpressionAttributeValues": {":pk": {"S": chain}},
        "ConsistentRead": True,
    }
    return Request("Query", params | start_parameters(last))


def start_parameters(last: Item | None) -> dict[str, Any]:
    return {} if last is None else {"ExclusiveStartKey": last}


def at_one_moment(
    table: str, record: Item, chain: str, sequence: int
) -> bt.Steps[tuple[Item | None, Item | None]]:
    """A record and the entry with that number, read in one transaction."""
    entry = {"PK": {"S": chain}, "SK": {"S": f"{sequence:0{SEQUENCE_DIGITS}}"}}
    keys = ((table, {name: record[name] for name in ("PK", "SK")}), (design.AUDIT.name, entry))
    gets = [{"Get": {"TableName": name, "Key": key}} for name, key in keys]
    response: Response = yield Request("TransactGetItems", {"TransactItems": gets})
    found, following = response["Responses"]
    return found.get("Item"), following.get("Item")


def text_in(item: Item, name: str) -> str:
    """A string attribute; empty where it is missing, or not a string."""
    return str(item.get(name, {}).get("S", ""))
