"""Contributor Insights: the status of each table and global index, and the names of its rules.

Nothing is counted; only what the API returns is kept. An update takes effect at once: its response
says ENABLING or DISABLING, as AWS's does, and the next description says ENABLED or DISABLED. An
update that changes nothing returns the current status. A table that was never updated is DISABLED
and has no other members.

AWS: "CloudWatch Contributor Insights for DynamoDB: How it works"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/contributorinsights_HowItWorks.html
The messages and the transitional statuses were seen by AWS's controller:
https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-subresources.md
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from bigtime import wire
from bigtime.engine.operations import table_schema
from bigtime.engine.operations.tables import find, find_for_writing
from bigtime.engine.storage import Database, TableDefinition, Transaction, Work
from bigtime.wire import Params, Response

NOTES: Final = table_schema.INSIGHTS  # for the table (under "") and for each index by its name
EVERY_KEY: Final = "ACCESSED_AND_THROTTLED_KEYS"
MOST_LISTED: Final = 100


def update_contributor_insights(database: Database, params: Params) -> Work[Response]:
    name = database.table_name(params["TableName"])
    index = params.get("IndexName", "")
    enable = params["ContributorInsightsAction"] == "ENABLE"

    def work(transaction: Transaction) -> Response:
        table = find_for_writing(database, name).definition
        check_index(table, index, enable=enable)
        known = insights_of(table)
        before = known.get(index, {})
        # Enabling without a mode counts every key; disabling keeps the mode.
        mode = before.get("ContributorInsightsMode", EVERY_KEY)
        if enable:
            mode = params.get("ContributorInsightsMode", EVERY_KEY)
        state = {
            "ContributorInsightsStatus": "ENABLED" if enable else "DISABLED",
            "ContributorInsightsMode": mode,
            "LastUpdateDateTime": round(transaction.now, 3),
        }
        if is_settled(before, state):
            settled = {"ContributorInsightsStatus": state["ContributorInsightsStatus"], **before}
            settled.pop("LastUpdateDateTime", None)
            return {**resource(name, index), **settled}
        changed = table_schema.with_note(table, NOTES, {**known, index: state})
        database.catalogue.change(transaction, changed)
        return {
            **resource(name, index),
            "ContributorInsightsStatus": "ENABLING" if enable else "DISABLING",
            "ContributorInsightsMode": state["ContributorInsightsMode"],
        }

    return work


def is_settled(before: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether the update changes nothing, as AWS's response shows (DDB-TABLE-091 and -341)."""
    if wanted["ContributorInsightsStatus"] == "DISABLED":
        return bool(before.get("ContributorInsightsStatus", "DISABLED") == "DISABLED")
    members = ("ContributorInsightsStatus", "ContributorInsightsMode")
    return all(before.get(member) == wanted[member] for member in members)


def describe_contributor_insights(database: Database, params: Params) -> Response:
    name = database.table_name(params["TableName"])
    index = params.get("IndexName", "")
    table = find(database, name).definition
    check_index(table, index, enable=False)
    state = insights_of(table).get(index, {"ContributorInsightsStatus": "DISABLED"})
    rules = rule_names(table, index, state)
    shown = {"ContributorInsightsRuleList": rules} if rules else {}
    return {**resource(name, index), **shown, **state}


def list_contributor_insights(database: Database, params: Params) -> Response:
    """A page of the tables and indexes that are not DISABLED, sorted by name."""
    if "TableName" in params:
        tables = [find(database, database.table_name(params["TableName"])).definition]
    else:
        database.catalogue.refresh()
        tables = [table.definition for table in database.catalogue.tables.values()]
    after = params.get("NextToken", "")
    limit = max(params.get("MaxResults", MOST_LISTED), 1)
    entries = sorted(e for table in tables for e in enabled_insights(table) if e[0] > after)
    response: Response = {"ContributorInsightsSummaries": [entry for _, entry in entries[:limit]]}
    if len(entries) > limit:
        response["NextToken"] = entries[limit - 1][0]
    return response


def enabled_insights(table: TableDefinition) -> Iterator[tuple[str, Response]]:
    """The enabled entries of a table, each with its sort key, which is also its page token."""
    for index, state in insights_of(table).items():
        if state["ContributorInsightsStatus"] == "ENABLED":
            summary = {key: value for key, value in state.items() if key != "LastUpdateDateTime"}
            yield f"{table.name}/{index}", {**resource(table.name, index), **summary}


def insights_of(table: TableDefinition) -> dict[str, dict[str, Any]]:
    """The insights by index name, leaving out indexes that have been deleted."""
    known: dict[str, dict[str, Any]] = table.notes.get(NOTES, {})
    return {name: state for name, state in known.items() if not name or table.index(name)}


def check_index(table: TableDefinition, name: str, *, enable: bool) -> None:
    index = table.index(name) if name else None
    if name and (index is None or not index.is_global):
        raise table_schema.no_index(table, name)
    if index is not None and index.building and enable:
        raise wire.ValidationException(
            "Table or Index is not in a valid state to update Key Access Insights: "
            "IndexStatus must be ACTIVE to enable ContributorInsights."
        )


def rule_names(table: TableDefinition, index: str, state: dict[str, Any]) -> list[str]:
    if state["ContributorInsightsStatus"] != "ENABLED":
        return []
    found = table.index(index) if index else None
    has_range_key = found.range_key if found else table.range_key
    keys = ("PK", "SK") if has_range_key else ("PK",)
    counted = ("C", "T") if state["ContributorInsightsMode"] == EVERY_KEY else ("T",)
    subject = f"{table.name}-{index}" if index else table.name
    moment = round(state["LastUpdateDateTime"] * 1000)
    return [
        f"DynamoDBContributorInsights-{key}{what}-{subject}-{moment}"
        for what in counted
        for key in keys
    ]


def resource(name: str, index: str) -> Response:
    return {"TableName": name, "IndexName": index} if index else {"TableName": name}
