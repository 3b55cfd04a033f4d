"""Tags of tables: TagResource, UntagResource, ListTagsOfResource, and the validation of tags.

AWS: "Tagging restrictions in DynamoDB"; `table_schema` lists the sources of the messages.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Tagging.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from bigtime import wire
from bigtime.engine.operations.table_schema import first_repeated, invalid
from bigtime.engine.storage import Database, Table, TableDefinition, Transaction, Work
from bigtime.wire import Params, Response, ValidationException

MOST_TAGS: Final = 50
TOO_MANY: Final = "Number of Tags exceed the current limit for the provided ResourceArn"
# Of all keys and values in UTF-8. AWS: "Tagging restrictions"; DDB-TABLE-109 and -442.
MOST_BYTES: Final = 10_240
LENGTHS: Final = {"Key": (1, 128), "Value": (0, 256)}
# Letters, spaces, numbers and these symbols.
TAG_TEXT: Final = re.compile(r"(?:[^\W_]|[\s+\-=._:/@])*")
DYNAMODB_ARN: Final = re.compile(
    r"arn:aws[a-z-]*:dynamodb:[^:]*:\d+:table/([^/]{3,})(?:/([^/]+)(/.*)?)?"
)
TAG_MEMBER: Final = {"TagResource": "Tags", "UntagResource": "TagKeys"}


def tag_resource(database: Database, params: Params) -> Work[Response]:
    return change_tags(
        database, "TagResource", params, lambda table: with_tags(table, params["Tags"])
    )


def untag_resource(database: Database, params: Params) -> Work[Response]:
    return change_tags(
        database, "UntagResource", params, lambda table: without_tags(table, params["TagKeys"])
    )


def change_tags(
    database: Database,
    operation: str,
    params: Params,
    change: Callable[[TableDefinition], TableDefinition],
) -> Work[Response]:
    name = tagged_resource(operation, params)
    check_place(database, params["ResourceArn"])

    def work(transaction: Transaction) -> Response:
        table = find_tagged(database, database.catalogue.tables_for_writing(), name, params)
        database.catalogue.change(transaction, change(table.definition))
        return {}

    return work


def list_tags_of_resource(database: Database, params: Params) -> Response:
    name = tagged_resource("ListTagsOfResource", params)
    check_place(database, params["ResourceArn"])
    database.catalogue.refresh()
    table = find_tagged(database, database.catalogue.tables, name, params)
    return {"Tags": [{"Key": key, "Value": value} for key, value in table.definition.tags.items()]}


def check_place(database: Database, arn: str) -> None:
    """Rejects an ARN of another account, or of another region (DDB-TABLE-071)."""
    _, partition, _, region, account, _ = arn.split(":", 5)
    if account != database.account:
        raise wire.AccessDeniedException("Access is denied")
    if (partition, region) != ("aws", database.region):
        raise ValidationException(f"Invalid TableArn: Invalid ResourceArn provided as input {arn}")


def find_tagged(
    database: Database, tables: Mapping[str, Table], name: str, params: Params
) -> Table:
    """The table of that name; the tags of a stream are not supported, as if it were not there.

    AWS once said "ResourcArn", and that the caller was not authorized to list the tags of a table
    that does not exist; by October 2026 it says this (DDB-TABLE-070, -071).
    """
    arn = params["ResourceArn"]
    table = tables.get(name) if arn == database.table_arn(name) else None
    if table is None:
        raise wire.ResourceNotFoundException(
            f"Requested resource not found: ResourceArn: {arn} not found"
        )
    return table


# --- What a tag may be ----------------------------------------------------------------


def tagged_resource(operation: str, params: Params) -> str:
    """The table name in a tag request's ARN, after AWS's checks of the parameters."""
    arn, member = params.get("ResourceArn"), TAG_MEMBER.get(operation)
    if arn is None:
        raise ValidationException("Invalid TableArn")
    if not arn.startswith("arn:"):
        invalid(f"ARNs must start with 'arn:': {arn}")
    if member is not None and member not in params:
        raise ValidationException(
            f"1 validation error detected: Value null at '{member[0].lower()}{member[1:]}' "
            "failed to satisfy constraint: Member must not be null"
        )
    found = DYNAMODB_ARN.fullmatch(arn)
    if found is None:
        raise ValidationException(f"Invalid TableArn: Invalid ResourceArn provided as input {arn}")
    if found[2] == "backup":  # (DDB-BACKUP-013)
        invalid(f"Provided Arn is not a DynamoDB resource arn: {arn}")
    if found[2] and found[2] != "stream":
        invalid(
            "Invalid resource arn provided, only table or stream is accepted. "
            f"Provided resource arn: {arn}"
        )
    if member is not None and not params[member]:
        noun = "Tag" if member == "Tags" else "Tag Key"
        raise ValidationException(f"Atleast one {noun} needs to be provided as Input.")
    return found[1]


def with_tags(table: TableDefinition, tags: Sequence[Params]) -> TableDefinition:
    merged = {**table.tags, **checked_tags(tags)}
    checked_tags([{"Key": key, "Value": value} for key, value in merged.items()])
    return replace(table, tags=merged)


def without_tags(table: TableDefinition, keys: Sequence[str]) -> TableDefinition:
    for key in keys:
        check_tag_key(key)
    if len(keys) > MOST_TAGS:
        raise ValidationException(TOO_MANY)
    return replace(table, tags={k: v for k, v in table.tags.items() if k not in keys})


def checked_tags(tags: Sequence[Params]) -> dict[str, str]:
    keys = [tag.get("Key") for tag in tags]
    if None in keys:  # (DDB-TABLE-457)
        raise ValidationException("The Tag Key provided is invalid, Key: null")
    found = {tag["Key"]: tag.get("Value") for tag in tags}
    if len(found) < len(tags):
        repeated = first_repeated([tag["Key"] for tag in tags])
        raise ValidationException(
            f"Duplicate Tag Keys provided as input: Duplicate Tag Key found {repeated}"
        )
    for key, value in found.items():
        check_tag_key(key)
        check_tag_text("Value", value)
    if len(found) > MOST_TAGS:
        raise ValidationException(TOO_MANY)
    size = sum(len(text.encode()) for tag in found.items() for text in tag if text)
    if size > MOST_BYTES:
        raise ValidationException(
            f"Tag set size {size} bytes is above max size limit of {MOST_BYTES} bytes"
        )
    return {key: value or "" for key, value in found.items()}


def check_tag_key(key: str) -> None:
    """Checks a key to add or to remove (DDB-TABLE-105)."""
    if key.lower().startswith("aws:"):
        raise ValidationException(f"Tag Key cannot be prefixed with aws:, Key: {key}")
    check_tag_text("Key", key)


def check_tag_text(part: str, text: str | None) -> None:
    """Checks characters and length, for which AWS has one message (DDB-TABLE-107)."""
    least, most = LENGTHS[part]
    if text is None or not least <= len(text) <= most or not TAG_TEXT.fullmatch(text):
        shown = "null" if text is None else text
        raise ValidationException(f"The Tag {part} provided is invalid, {part}: {shown}")
