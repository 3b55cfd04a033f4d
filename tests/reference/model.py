"""DynamoDB as dicts: the tables of a run, and what each operation does to them.

An operation is refused for what is wrong with its expressions, then for its planted fault, then
for what the tables hold: its condition first, then its update. So AWS orders its checks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.reference import evaluation, updates
from tests.reference import operations as o
from tests.reference import trees as t
from tests.reference.designs import ATTRIBUTE_TYPES, Design
from tests.reference.mistakes import mistakes
from tests.reference.outcomes import Answer, Prediction, Reason, Refusal, Refused, canonical
from tests.reference.reads import query, scan
from tests.reference.tables import Table
from tests.reference.transactions import transact_write
from tests.reference.updates import BeyondLimits, Unapplicable, project
from tests.reference.values import Item, decode_item

CONDITION_FAILED = "The conditional request failed"
INVALID = "ValidationException"


@dataclass
class Model:
    designs: Iterable[Design]
    tables: dict[str, Table] = field(init=False)
    tokens: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tables = {design.name: Table(design) for design in self.designs}

    def perform(self, operation: o.Operation) -> Prediction:
        try:
            self.refuse_unread(operation)
            return self.done(operation)
        except Refused as refused:
            return refused.refusal

    def refuse_unread(self, operation: o.Operation) -> None:
        """What is wrong with a request whatever the tables hold."""
        wrong = list(mistakes(operation))
        if wrong:
            certain = len(wrong) == 1 and operation.fault is None and "document paths" in wrong[0]
            raise Refused(Refusal(INVALID, wrong[0] if certain else None))
        if operation.fault is not None:
            fault, sentence = operation.fault, operation.fault.sentence
            message = sentence(operation.main_design()) if sentence else None
            raise Refused(Refusal(fault.code, message))

    def done(self, operation: o.Operation) -> Prediction:
        match operation:
            case o.Query():
                return query(self.table(operation), operation)
            case o.Scan():
                return scan(self.table(operation), operation)
            case o.Put() | o.Delete() | o.Update():
                return self.write(operation)
            case o.TransactWrite():
                return transact_write(self, operation)
            case _:
                return self.other(operation)

    def other(self, operation: o.Get | o.BatchGet | o.TransactGet | o.BatchWrite) -> Answer:
        match operation:
            case o.Get():
                return Answer({"Item": self.got(operation)})
            case o.BatchGet():
                return self.batch_get(operation)
            case o.TransactGet():
                return self.transact_get(operation)
            case o.BatchWrite():
                return self.batch_write(operation)

    def table(self, operation: o.OnTable) -> Table:
        return self.tables[operation.design.name]

    def old(self, write: o.OnItem) -> Item | None:
        table = self.table(write)
        return table.items.get(table.key_of(decode_item(write.names())))

    def write(self, write: o.Write) -> Answer:
        old = self.old(write)
        reason = self.objection(write, old)
        if reason is not None:
            raise Refused(refusal(reason))
        new = self.become(write, old)
        self.store(write, new)
        return Answer(*returned_attributes(write, old, new))

    def objection(self, write: o.Write, old: Item | None) -> Reason | None:
        """Why this write cannot be done to this item: its condition, or its update."""
        if write.condition is not None and not evaluation.holds(write.condition, old or {}):
            shown = old if write.returns_on_failure == "ALL_OLD" else None
            return Reason("ConditionalCheckFailed", CONDITION_FAILED, shown)
        try:
            self.become(write, old)
        except Unapplicable as error:
            sure = isinstance(write, o.Update) and can_fail_once(write)
            return Reason("ValidationError", (str(error) or None) if sure else None)
        return None

    def become(self, write: o.Write, old: Item | None) -> Item | None:
        match write:
            case o.Put():
                return decode_item(write.item)
            case o.Delete():
                return None
            case o.Update():
                if old is None and updates.only_removes(write.actions):
                    return None
                new = updates.apply_update(write.actions, old or decode_item(write.key))
                check_index_keys(new, write.design)
                nothing_made = old is None and updates.only_takes_away(write.actions)
                return None if nothing_made else new
            case _:
                return old

    def store(self, write: o.Write, new: Item | None) -> None:
        table = self.table(write)
        key = table.key_of(decode_item(write.names()))
        table.items.pop(key, None)
        if new is not None:
            table.items[key] = new

    def got(self, get: o.Get) -> Item | None:
        item = self.old(get)
        return project(get.projection, item) if item and get.projection else item

    def batch_get(self, operation: o.BatchGet) -> Answer:
        found: dict[str, Counter[str]] = {}
        projections: dict[str, o.Get] = {}
        for get in operation.gets:
            shared = projections.setdefault(get.design.name, get).projection
            item = self.old(get)
            shown = project(shared, item) if item and shared else item
            seen = found.setdefault(get.design.name, Counter())
            if shown is not None:
                seen[canonical(shown)] += 1
        return Answer({"Responses": found})

    def batch_write(self, operation: o.BatchWrite) -> Answer:
        for write in operation.writes:
            self.store(write, self.become(write, None))
        return Answer()

    def transact_get(self, operation: o.TransactGet) -> Answer:
        items = [self.got(get) for get in operation.gets]
        # An item of which nothing was asked that it has is not there, unlike in a GetItem.
        return Answer({"Responses": [{"Item": item} if item else {} for item in items]})


def can_fail_once(update: o.Update) -> bool:
    """Whether an update has one place to go wrong; of several, AWS says not which comes first."""
    (first, *others) = update.actions
    two_operands = isinstance(first, t.Set) and isinstance(first.value, t.Arithmetic | t.Append)
    return not others and not two_operands and not update.style.legacy


def refusal(reason: Reason) -> Refusal:
    if reason.code == "ConditionalCheckFailed":
        return Refusal("ConditionalCheckFailedException", reason.message, reason.item)
    return Refusal(INVALID, reason.message)


def check_index_keys(item: Item, design: Design) -> None:
    """A key of an index has its type and, as text or bytes, is not empty."""
    for name in design.index_keys:
        kind, content = item.get(name, (ATTRIBUTE_TYPES[name], "present"))
        if kind != ATTRIBUTE_TYPES[name] or content in ("", b""):
            raise BeyondLimits


def returned_attributes(
    write: o.Write, old: Item | None, new: Item | None
) -> tuple[dict[str, Any], frozenset[str]]:
    """The Attributes of a write's response, and whether we are unsure of them."""
    unsure: frozenset[str] = frozenset()
    shown: Item | None = None
    if write.returns == "ALL_OLD":
        shown = old
    elif isinstance(write, o.Update):
        paths = [action.path for action in write.actions]
        match write.returns:
            case "ALL_NEW":
                shown = new
            case "UPDATED_OLD":
                shown = project(paths, old or {}) or None
            case "UPDATED_NEW":
                # Of an element that was added to its list AWS shows nothing, or so it was seen
                # (github.com/ExtendDB/extenddb/pull/105); the documentation is silent.
                if updates.resizes_a_list(write.actions, old or {}):
                    unsure = frozenset({"Attributes"})
                shown = project(paths, new or {}) or None
            case _:
                pass
    return {"Attributes": shown}, unsure
