"""Imports carts from the published NoSQL Workbench model of this scenario.

There a row's key is (`CustomerID`, `Status#Date`), every value is a string, statuses are written
`Active`, and a row also has a `Status`, which may differ from the one in its key. The key wins;
rows that disagree are reported. An unknown status, such as `Shipped`, is refused unless the caller
says what it means. Times have no zone, and are taken as UTC.

A purchased line needs an OrderId, and those rows have none: lines of one account and one second get
an OrderId that is derived from both. So importing the same rows again changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, TypeAlias

from pydantic import ValidationError

from bigtime import model as bt
from bigtime.systems.cart.design import CartChanged, CartLine, LineMarker, Status, order_id_of

Row: TypeAlias = Mapping[str, Any]
"""A row by its attributes: plain strings, or DynamoDB's JSON, `{"S": text}`."""

ACCOUNT_NAMES = ("CustomerID", "AccountID")
KEY_NAMES = ("Status#Date", "Status#Timestamp", "SK")
SAMPLE: Row = {
    "CustomerID": "Chad",
    "Status#Date": "Active#2019-10-08T21:11:42",
    "ItemSKU": "72f49",
    "Price": "12.49",
    "Count": "1",
    "Status": "Active",
}


class UnreadableRow(bt.Malformed):
    """This row is not a valid cart line; correct it and import again."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A row whose key and Status differ; the key won."""

    row: int
    key: str
    status: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A row that was not imported, and why."""

    row: int
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """The result of an import; rows are numbered from 1."""

    imported: list[CartLine] = field(default_factory=list)
    unchanged: list[CartLine] = field(default_factory=list)
    disagreeing: list[Disagreement] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)


@bt.pattern("Import Rows", index="Main table", takes="Rows", sample={"rows": [SAMPLE]})
def import_rows(
    rows: Iterable[Row], *, meaning: Mapping[str, Status] | None = None
) -> bt.Steps[Report]:
    """The key wins over Status; `meaning` says what other statuses are."""
    known = {**{status.value: status for status in Status}, **uppercase(meaning or {})}
    report = Report()
    for number, row in enumerate(rows, 1):
        try:
            line = line_of(row, known)
            yield from import_line(line, report)
        except bt.DomainError as error:
            report.refused.append(Refusal(number, str(error)))
            continue
        status, key = text_in(row, "Status"), text_in(row, *KEY_NAMES)
        if status and known.get(status.upper()) is not line.status:
            report.disagreeing.append(Disagreement(number, key, status))
    return report


def import_line(line: CartLine, report: Report) -> bt.Steps[None]:
    """Writes a line unless it exists; an existing one stays as it is."""
    if (yield from bt.get(line.own_key(), consistent=True)) is not None:
        report.unchanged.append(line)
        return
    if line.status is Status.ACTIVE:
        marker = LineMarker.key(line.account_id, line.item_sku)
        if (yield from bt.get(marker, consistent=True)) is not None:
            raise UnreadableRow("The product is in this cart already, since another time.")
    report.imported.append((yield from bt.create(line, unless_exists=CartChanged)))


def line_of(row: Row, known: Mapping[str, Status]) -> CartLine:
    text, _, rest = text_in(row, *KEY_NAMES).partition("#")
    status = known.get(text.upper())
    if status is None:
        raise UnreadableRow(f"{text!r} is no status of a cart; say what it means.")
    account_id = text_in(row, *ACCOUNT_NAMES)
    at = moment_of(rest.partition("#")[0])
    try:
        return CartLine(
            account_id=account_id,
            status=status,
            entered_at=at,
            item_sku=text_in(row, "ItemSKU"),
            price=text_in(row, "Price"),
            count=text_in(row, "Count"),
            create_timestamp=at,
            order_id=order_of(row, account_id, at) if status is Status.PURCHASED else None,
        )
    except ValidationError:
        raise UnreadableRow from None


def text_in(row: Row, *names: str) -> Any:
    """The text of the first of these attributes that the row has."""
    for name in names:
        value = row.get(name)
        if isinstance(value, Mapping):
            value = next(iter(value.values()), None)
        if isinstance(value, str):
            return value
    return ""


def moment_of(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UnreadableRow(f"{text!r} is no time; write it as 2019-10-08T21:11:42.") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def order_of(row: Row, account_id: str, at: datetime) -> bt.Ksuid:
    """The row's own OrderId, or one that is derived from the account and the second."""
    order_id = text_in(row, "OrderId")
    if order_id:
        return order_id_of(order_id)
    try:
        return bt.Ksuid.make(at, sha256(f"{account_id}\0{at.isoformat()}".encode()).digest()[:16])
    except ValueError as error:
        raise UnreadableRow(f"No OrderId can be made: {error}.") from None


def uppercase(meaning: Mapping[str, Status]) -> dict[str, Status]:
    return {name.upper(): status for name, status in meaning.items()}
