"""One call as data: what the generator makes, the model performs and a target is asked."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

from bigtime.wire import Item, Request
from tests.reference import legacy
from tests.reference import trees as t
from tests.reference.designs import Design
from tests.reference.faults import Fault
from tests.reference.printing import Printer, Style


@dataclass(frozen=True, kw_only=True)
class Call:
    """What every call has: a way of spelling its expressions, perhaps one mistake."""

    style: Style = field(default=Style(), repr=False)
    fault: Fault | None = None

    def request(self) -> Request:
        params = self.params()
        if self.fault is not None:
            self.fault.spoil(params, self.main_design())
        return Request(self.name(), params)

    def name(self) -> str:
        return {"Put": "PutItem", "Get": "GetItem", "Update": "UpdateItem"}.get(
            type(self).__name__, type(self).__name__
        )

    def params(self) -> dict[str, Any]:
        raise NotImplementedError

    def main_design(self) -> Design:
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class OnTable(Call):
    design: Design

    def main_design(self) -> Design:
        return self.design


@dataclass(frozen=True, kw_only=True)
class OnItem(OnTable):
    def names(self) -> Item:
        """The key of the item that is meant, or an item that has it."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Write(OnItem):
    condition: t.Condition | None = None
    returns: str | None = None
    returns_on_failure: str | None = None

    def params(self) -> dict[str, Any]:
        printer = Printer(self.style)
        said = self.said_before_expressions() if self.style.legacy else None
        if said is None:
            said = self.expressions(printer)
        return self.main_params() | self.common() | said | printer.placeholders()

    def main_params(self) -> dict[str, Any]:
        return {"Key": dict(self.names())}

    def expressions(self, printer: Printer) -> dict[str, Any]:
        if self.condition is None:
            return {}
        return {"ConditionExpression": printer.condition(self.condition)}

    def said_before_expressions(self) -> dict[str, Any] | None:
        return legacy.tests(self.condition, "Expected")

    def common(self) -> dict[str, Any]:
        params: dict[str, Any] = {"TableName": self.design.name}
        if self.returns is not None:
            params["ReturnValues"] = self.returns
        if self.returns_on_failure is not None:
            params["ReturnValuesOnConditionCheckFailure"] = self.returns_on_failure
        return params


@dataclass(frozen=True, kw_only=True)
class Put(Write):
    item: Item

    def names(self) -> Item:
        return self.item

    def main_params(self) -> dict[str, Any]:
        return {"Item": dict(self.item)}


@dataclass(frozen=True, kw_only=True)
class Delete(Write):
    key: Item

    def names(self) -> Item:
        return self.key

    def name(self) -> str:
        return "DeleteItem"


@dataclass(frozen=True, kw_only=True)
class Check(Write):
    """A ConditionCheck: only inside a transaction."""

    key: Item

    def names(self) -> Item:
        return self.key


@dataclass(frozen=True, kw_only=True)
class Update(Write):
    key: Item
    actions: t.Update = ()

    def names(self) -> Item:
        return self.key

    def expressions(self, printer: Printer) -> dict[str, Any]:
        update = {"UpdateExpression": printer.update(self.actions)} if self.actions else {}
        return update | super().expressions(printer)

    def said_before_expressions(self) -> dict[str, Any] | None:
        updates = legacy.attribute_updates(self.actions)
        expected = super().said_before_expressions()
        return None if updates is None or expected is None else updates | expected


@dataclass(frozen=True, kw_only=True)
class Get(OnItem):
    key: Item
    projection: t.Projection = ()
    consistent: bool | None = None

    def names(self) -> Item:
        return self.key

    def params(self) -> dict[str, Any]:
        printer = Printer(self.style)
        params: dict[str, Any] = {"TableName": self.design.name, "Key": dict(self.key)}
        if self.consistent is not None:
            params["ConsistentRead"] = self.consistent
        said = legacy.attributes_to_get(self.projection) if self.style.legacy else None
        if said is None and self.projection:
            said = {"ProjectionExpression": printer.projection(self.projection)}
        return params | (said or {}) | printer.placeholders()


@dataclass(frozen=True, kw_only=True)
class Read(OnTable):
    """What Query and Scan share."""

    index: str | None = None
    filter: t.Condition | None = None
    projection: t.Projection = ()
    select: str | None = None
    limit: int | None = None
    consistent: bool | None = None

    def params(self) -> dict[str, Any]:
        printer = Printer(self.style)
        said = self.said_before_expressions() if self.style.legacy else None
        if said is None:
            said = self.expressions(printer)
        return self.common() | said | printer.placeholders()

    def expressions(self, printer: Printer) -> dict[str, Any]:
        return present(
            FilterExpression=self.filter and printer.condition(self.filter),
            ProjectionExpression=printer.projection(self.projection) or None,
        )

    def said_before_expressions(self) -> dict[str, Any] | None:
        attributes = legacy.attributes_to_get(self.projection)
        tests = legacy.tests(self.filter, f"{self.name()}Filter")
        return None if attributes is None or tests is None else attributes | tests

    def common(self) -> dict[str, Any]:
        return present(
            TableName=self.design.name,
            IndexName=self.index,
            Select=self.select,
            Limit=self.limit,
            ConsistentRead=self.consistent,
        )


def present(**given: Any) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class Query(Read):
    keys: t.KeyCondition
    forward: bool | None = None
    start: Item | None = None

    def expressions(self, printer: Printer) -> dict[str, Any]:
        keys = {"KeyConditionExpression": printer.key_condition(self.keys)}
        return keys | super().expressions(printer)

    def said_before_expressions(self) -> dict[str, Any] | None:
        others = super().said_before_expressions()
        return None if others is None else others | legacy.key_conditions(self.keys)

    def common(self) -> dict[str, Any]:
        start = None if self.start is None else dict(self.start)
        also = present(ScanIndexForward=self.forward, ExclusiveStartKey=start)
        return super().common() | also


@dataclass(frozen=True, kw_only=True)
class Scan(Read):
    segments: int | None = None

    def common(self) -> dict[str, Any]:
        segment = 0 if self.segments else None
        return super().common() | present(Segment=segment, TotalSegments=self.segments)


@dataclass(frozen=True, kw_only=True)
class BatchGet(Call):
    gets: tuple[Get, ...]
    """Of one table, all share a projection: that of its first."""

    def name(self) -> str:
        return "BatchGetItem"

    def main_design(self) -> Design:
        return self.gets[0].design

    def params(self) -> dict[str, Any]:
        tables: dict[str, Any] = {}
        for get in self.alike():
            first = get.params()
            del first["TableName"], first["Key"]
            tables.setdefault(get.design.name, {"Keys": [], **first})["Keys"].append(dict(get.key))
        return {"RequestItems": tables}

    def alike(self) -> list[Get]:
        """All with AttributesToGet, or all with expressions: AWS refuses both in one request."""
        old = all(
            get.style.legacy and legacy.attributes_to_get(get.projection) is not None
            for get in self.gets
        )
        return [replace(get, style=replace(get.style, legacy=old)) for get in self.gets]


@dataclass(frozen=True, kw_only=True)
class BatchWrite(Call):
    writes: tuple[Put | Delete, ...]

    def name(self) -> str:
        return "BatchWriteItem"

    def main_design(self) -> Design:
        return self.writes[0].design

    def params(self) -> dict[str, Any]:
        tables: dict[str, Any] = {}
        for write in self.writes:
            tables.setdefault(write.design.name, []).append(
                {"PutRequest": {"Item": dict(write.item)}}
                if isinstance(write, Put)
                else {"DeleteRequest": {"Key": dict(write.key)}}
            )
        return {"RequestItems": tables}


@dataclass(frozen=True, kw_only=True)
class TransactGet(Call):
    gets: tuple[Get, ...]

    def name(self) -> str:
        return "TransactGetItems"

    def main_design(self) -> Design:
        return self.gets[0].design

    def params(self) -> dict[str, Any]:
        return {"TransactItems": [{"Get": get.params()} for get in self.gets]}


@dataclass(frozen=True, kw_only=True)
class TransactWrite(Call):
    writes: tuple[Write, ...]
    token: str | None = None

    def name(self) -> str:
        return "TransactWriteItems"

    def main_design(self) -> Design:
        return self.writes[0].design

    def params(self) -> dict[str, Any]:
        params: dict[str, Any] = {
            "TransactItems": [
                {"ConditionCheck" if isinstance(w, Check) else type(w).__name__: w.params()}
                for w in self.writes
            ]
        }
        if self.token is not None:
            params["ClientRequestToken"] = self.token
        return params


@dataclass(frozen=True, kw_only=True)
class Replay:
    """The latest transaction that went through under a token, once more: as it was or changed."""

    changed: bool


Operation: TypeAlias = (
    Put | Delete | Update | Get | Query | Scan | BatchGet | BatchWrite | TransactGet | TransactWrite
)


CallT = TypeVar("CallT", bound=Call)


def spelled_simply(call: CallT) -> CallT:
    """The same call in the most ordinary spelling: placeholders, capitals, single blanks."""
    parts: dict[str, Any] = {
        name: tuple(spelled_simply(part) for part in value)
        for name, value in vars(call).items()
        if name in ("gets", "writes")
    }
    return replace(call, **parts, style=Style())
