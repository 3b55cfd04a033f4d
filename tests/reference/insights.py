"""Contributor insights: which tables and indexes have them, in which mode, by which rules."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from bigtime.wire import Params
from tests.reference.outcomes import Refusal
from tests.reference.settings_run import (
    INDEX,
    LOCAL_INDEX,
    NO_INDEX,
    Insight,
    Settings,
    SettingsRun,
    no_table,
)

NOT_FOUND = Refusal("ResourceNotFoundException")
MODES = ("ACCESSED_AND_THROTTLED_KEYS", "THROTTLED_KEYS")


class RuleNames:
    """Equals the names of these rules in any order, each with the moment of its making.

    developerguide/contributorinsights_HowItWorks.html: "DynamoDBContributorInsights-PKC-
    [resource_name]-[creationtimestamp]"
    """

    def __init__(self, table: Settings, index: str | None, mode: str) -> None:
        keys = ("PK", "SK") if table.has_sort_key and index is None else ("PK",)
        counted = "CT" if mode == MODES[0] else "T"
        subject = f"{table.name}-{index}" if index else table.name
        self.names = sorted(
            f"DynamoDBContributorInsights-{key}{what}-{subject}" for key in keys for what in counted
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, list):
            return False
        return sorted(name.rpartition("-")[0] for name in other) == self.names

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"rules {self.names}"


def insights_place(run: SettingsRun, dice: Random) -> tuple[Params, Settings | None, str | None]:
    given, table = run.pick(dice)
    index = dice.choice((None, None, INDEX, INDEX, LOCAL_INDEX, NO_INDEX))
    return {"TableName": given, "IndexName": index}, table, index


def update_insights(run: SettingsRun, dice: Random) -> None:
    place, table, index = insights_place(run, dice)
    action = dice.choice(("ENABLE", "ENABLE", "DISABLE"))
    mode = dice.choice((None, *MODES))
    asked = {**place, "ContributorInsightsAction": action, "ContributorInsightsMode": mode}
    foretold: object = insights_refusal(place, table, index)
    if foretold is None and table is not None:
        known = table.insights.get(index or "")
        is_on, wanted_on = known is not None and known.enabled, action == "ENABLE"
        # Seen on AWS: DDB-TABLE-091 and -341 of aws-controllers-k8s/dynamodb-controller.
        wanted = mode or MODES[0] if wanted_on else known.mode if known else None
        is_settled = is_on == wanted_on and (not is_on or (known and known.mode == wanted))
        status = f"{action}D" if is_settled else f"{action[:-1]}ING"
        foretold = {
            "TableName": table.name,
            **({"IndexName": index} if index else {}),
            "ContributorInsightsStatus": status,
            **({"ContributorInsightsMode": wanted} if wanted else {}),
        }
    seen = run.expect(foretold, "UpdateContributorInsights", **asked)
    if seen and table and seen["ContributorInsightsStatus"].endswith("ING"):
        table.insights[index or ""] = Insight(
            action == "ENABLE", seen["ContributorInsightsMode"], run.now
        )


def insights_refusal(place: Params, table: Settings | None, index: str | None) -> Refusal | None:
    if table is None:
        return no_table(place["TableName"])
    return NOT_FOUND if index in (LOCAL_INDEX, NO_INDEX) else None


def describe_insights(run: SettingsRun, dice: Random) -> None:
    place, table, index = insights_place(run, dice)
    foretold: object = insights_refusal(place, table, index)
    if foretold is None and table is not None:
        foretold = foretold_insights(table, index)
    run.expect(foretold, "DescribeContributorInsights", **place)


def foretold_insights(table: Settings, index: str | None) -> Params:
    known = table.insights.get(index or "")
    on = known is not None and known.enabled
    return {
        "TableName": table.name,
        **({"IndexName": index} if index else {}),
        "ContributorInsightsStatus": "ENABLED" if on else "DISABLED",
        **(
            {"ContributorInsightsMode": known.mode, "LastUpdateDateTime": known.at} if known else {}
        ),
        **(
            {"ContributorInsightsRuleList": RuleNames(table, index, known.mode)}
            if known and on
            else {}
        ),
    }


def list_insights(run: SettingsRun, dice: Random) -> None:
    """Of a table or of all; whether what is disabled is listed, AWS does not say."""
    given, table = run.pick(dice)
    wanted = dice.choice((given, None))
    if wanted and table is None:
        run.expect(no_table(given), "ListContributorInsights", TableName=given)
        return
    listed = run.pages(
        "ListContributorInsights",
        "ContributorInsightsSummaries",
        "NextToken",
        "NextToken",
        dice.choice((1, 2, 100)),
        TableName=wanted,
    )
    tables = [table] if wanted and table else [*run.tables.values()]
    foretold = [
        {
            "TableName": each.name,
            **({"IndexName": index} if index else {}),
            "ContributorInsightsStatus": "ENABLED",
            "ContributorInsightsMode": known.mode,
        }
        for each in tables
        for index, known in each.insights.items()
        if known.enabled
    ]
    enabled = [each for each in listed if each["ContributorInsightsStatus"] != "DISABLED"]
    run.same("insights", sorted(foretold, key=str), sorted(enabled, key=str))


STEPS: dict[str, Callable[[SettingsRun, Random], None]] = {
    "update insights": update_insights,
    "describe insights": describe_insights,
    "list insights": list_insights,
}
