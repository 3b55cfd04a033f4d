"""A live table: its description, and a bounded sample of its items.

The sample is taken from several segments of a scan, so that it is spread over the table. Only what
the items have in common gets into the module, and no stored values except the labels in their
keys and the values of the type attribute.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from bigtime import model as bt
from bigtime.advisor.difference import read_expiry, read_tags
from bigtime.advisor.imports import names
from bigtime.advisor.imports.completion import add_entities
from bigtime.advisor.imports.draft import CannotImport, Draft, TableDraft
from bigtime.advisor.imports.kinds import Kind, kinds_in
from bigtime.advisor.imports.trial import ImportedModule, finished_module
from bigtime.wire import (
    Item,
    Request,
    ResourceNotFoundException,
    Response,
    UnknownOperationException,
)

SAMPLE: Final = 1_000
SEGMENTS: Final = 8
MOST_PAGES: Final = 20
"""The most pages, of at most 1 MB, to read from a segment."""


def import_table(name: str, *, sample: int = SAMPLE) -> bt.Steps[ImportedModule]:
    """The module for a live table, from at most `sample` of its items."""
    try:
        answer = yield Request("DescribeTable", {"TableName": name})
    except ResourceNotFoundException:
        raise CannotImport(
            f"table {name}", "there is no such table", "check its name and --store"
        ) from None
    described = answer["Table"]
    settings = yield from read_settings(described)
    items, is_complete = yield from sample_items(name, sample)
    draft = draft_of_table(described, settings, items, is_complete=is_complete)
    return finished_module(draft)


def read_settings(described: Response) -> bt.Steps[dict[str, Any]]:
    """The settings that DescribeTable omits, as far as the endpoint supports their calls."""
    name = described["TableName"]
    settings: dict[str, Any] = {}
    try:
        settings["ttl"] = yield from read_expiry(name)
        settings["tags"] = yield from read_tags(described["TableArn"])
        backups = yield Request("DescribeContinuousBackups", {"TableName": name})
        recovery = backups["ContinuousBackupsDescription"].get("PointInTimeRecoveryDescription", {})
        if recovery.get("PointInTimeRecoveryStatus") == "ENABLED":
            settings["point_in_time_recovery"] = recovery.get("RecoveryPeriodInDays", True)
    except UnknownOperationException:
        pass
    return settings


def sample_items(name: str, most: int) -> bt.Steps[tuple[list[Item], bool]]:
    """Items from all segments of a table, and whether these are all its items."""
    items: list[Item] = []
    is_complete = True
    each = max(1, most // SEGMENTS)
    for segment in range(SEGMENTS):
        params: dict[str, Any] = {
            "TableName": name,
            "Segment": segment,
            "TotalSegments": SEGMENTS,
        }
        left = each
        for _ in range(MOST_PAGES):
            page = yield Request("Scan", {**params, "Limit": left})
            items += page["Items"]
            left -= len(page["Items"])
            position = page.get("LastEvaluatedKey")
            if position is None or left <= 0:
                break
            params["ExclusiveStartKey"] = position
        is_complete = is_complete and position is None
    return items, is_complete


def draft_of_table(
    described: Response, settings: dict[str, Any], items: list[Item], *, is_complete: bool
) -> Draft:
    name = described["TableName"]
    place = f"table {name}"
    draft = Draft(names.system_name(name), place, about=f"The table {name}, as it was found.")
    made = TableDraft(table_of(draft, described, settings, place), place)
    made.constant = names.constant_name(name)
    rows = [(place, item) for item in items]
    kinds = list(kinds_in(made.table, rows, place, set()))
    if not kinds:
        kinds = [Kind(names.class_name(name), place)]
        draft.tell(place, "it has no items", "its keys are fields; give them templates")
    for kind in kinds:
        kind.is_complete = is_complete
        many = "one item" if len(kind.rows) == 1 else f"{len(kind.rows):,} items"
        kind.about = f"Inferred from {many}." if kind.rows else ""
    if not is_complete:
        draft.tell(
            place,
            f"{len(items):,} of its items were looked at",
            "look for others with `bigtime import table --sample N`",
        )
    add_entities(draft, made, kinds)
    for entity in made.entities:
        entity.rows = []  # stored items must not get into the module
    draft.tables.append(made)
    return draft


def table_of(draft: Draft, described: Response, settings: dict[str, Any], place: str) -> bt.Table:
    types = {
        each["AttributeName"]: each["AttributeType"] for each in described["AttributeDefinitions"]
    }
    partition, sort = halves_of(described["KeySchema"], types)
    paid = described.get("ProvisionedThroughput") or {}
    billing = (described.get("BillingModeSummary") or {}).get("BillingMode", "PROVISIONED")
    is_paid = billing == "PROVISIONED" and paid.get("ReadCapacityUnits")
    stream = described.get("StreamSpecification") or {}
    try:
        return bt.Table(
            described["TableName"],
            partition[0],
            sort[0] if sort else None,
            indexes=list(indexes_of(described, types)),
            stream=stream.get("StreamViewType") if stream.get("StreamEnabled") else None,
            deletion_protection=bool(described.get("DeletionProtectionEnabled")),
            throughput=bt.Throughput(paid["ReadCapacityUnits"], paid["WriteCapacityUnits"])
            if is_paid
            else None,
            encryption=encryption_of(described),
            table_class=(described.get("TableClassSummary") or {}).get("TableClass"),
            replicas=[each["RegionName"] for each in described.get("Replicas") or []],
            **settings,
        )
    except bt.DesignError as error:
        raise CannotImport(place, f"{error}", "declare it by hand") from None


def halves_of(
    schema: list[dict[str, str]], types: dict[str, str]
) -> tuple[list[bt.Attribute], list[bt.Attribute]]:
    makers = {"S": bt.Attribute, "N": bt.number, "B": bt.binary}
    halves = {
        kind: [
            makers[types[each["AttributeName"]]](each["AttributeName"])
            for each in schema
            if each["KeyType"] == kind
        ]
        for kind in ("HASH", "RANGE")
    }
    return halves["HASH"], halves["RANGE"]


def indexes_of(described: Response, types: dict[str, str]) -> Iterator[bt.Index]:
    for arm in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        for index in described.get(arm) or []:
            partition, sort = halves_of(index["KeySchema"], types)
            projection = index["Projection"]
            keys_only = projection["ProjectionType"] == "KEYS_ONLY"
            include = tuple(projection.get("NonKeyAttributes") or ())
            if arm == "LocalSecondaryIndexes":
                yield bt.local_index(
                    index["IndexName"], sort[0], keys_only=keys_only, include=include
                )
            else:
                yield bt.global_index(
                    index["IndexName"], partition, sort, keys_only=keys_only, include=include
                )


def encryption_of(described: Response) -> str | None:
    """The KMS key of a table; None if AWS owns the key, which is not described then."""
    found = described.get("SSEDescription") or {}
    if found.get("Status") not in ("ENABLED", "ENABLING", "UPDATING"):
        return None
    key: str = found.get("KMSMasterKeyArn") or bt.MANAGED_KEY
    return key
