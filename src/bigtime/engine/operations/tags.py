"""Tags: which table a tag call is about, and the table's tags after it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bigtime.engine.operations.table_schema import invalid
from bigtime.engine.storage import TableDefinition
from bigtime.wire import AccessDeniedException, Params, ValidationException

MOST_TAGS: Final = 50
ANY_ARN: Final = re.compile(r".+:.+:.+:.+:.+:.+/.+")
TAGGABLE_ARN: Final = re.compile(r"arn:aws[a-z-]*:dynamodb:.+:\d+:table/([^/]{3,})")
TAG_MEMBER: Final = {"TagResource": "Tags", "UntagResource": "TagKeys"}


def tagged_resource(operation: str, params: Params, *, account: str) -> str:
    """The table that a tag call is about, after the checks that AWS makes of its parameters."""
    arn, member = params.get("ResourceArn"), TAG_MEMBER.get(operation)
    if arn is None:
        raise ValidationException("Invalid TableArn")
    if not ANY_ARN.fullmatch(arn):
        raise AccessDeniedException(
            f"User: arn:aws:iam::{account}:root is not authorized to perform: "
            f"dynamodb:{operation} on resource: {arn or '*'}"
        )
    if member is not None and member not in params:
        raise ValidationException(
            f"1 validation error detected: Value null at '{member[0].lower()}{member[1:]}' "
            "failed to satisfy constraint: Member must not be null"
        )
    found = TAGGABLE_ARN.fullmatch(arn)
    if found is None:
        raise ValidationException(f"Invalid TableArn: Invalid ResourceArn provided as input {arn}")
    if member is not None and not params[member]:
        noun = "Tag" if member == "Tags" else "Tag Key"
        raise ValidationException(f"Atleast one {noun} needs to be provided as Input.")
    return found[1]


def tagged(table: TableDefinition, tags: Sequence[Params]) -> TableDefinition:
    merged = {**table.tags, **checked_tags(tags)}
    checked_tags([{"Key": key, "Value": value} for key, value in merged.items()])
    return replace(table, tags=merged)


def untagged(table: TableDefinition, keys: Sequence[str]) -> TableDefinition:
    return replace(table, tags={k: v for k, v in table.tags.items() if k not in keys})


def checked_tags(tags: Sequence[Params]) -> dict[str, str]:
    found = {tag["Key"]: tag["Value"] for tag in tags}
    if len(found) < len(tags):
        invalid("Duplicate tag keys are not allowed")
    for key in found:
        if key.lower().startswith("aws:"):
            invalid("aws: prefixed tag key names are not allowed for external use")
    if len(found) > MOST_TAGS:
        invalid(f"The number of tags exceeds the per-resource limit of {MOST_TAGS}")
    return found
