"""What tables copied to another store get last: resource policies and replicas.

A policy names principals of an account. In the same account it is put on the copy, with the copy's
ARN in place of the source's; from another account it is only reported, with the request to make.

Replicas are created once the application may be started on the copy: DynamoDB copies the whole
table into each region, which takes hours for a large one. Different tables are handled in parallel,
the replicas of one table in turn, because DynamoDB creates one at a time. A replica gets the
settings of its own that DescribeTable shows for the source's: table class, read limits. A KMS key
belongs to the source, and is not taken over. What is set in the replica's own region, such as
point-in-time recovery, tags and deletion protection, is not copied.

AWS: "PutResourcePolicy", "CreateReplicationGroupMemberAction", "Tutorial: Creating a global table"
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PutResourcePolicy.html
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CreateReplicationGroupMemberAction.html
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables.tutorial.html
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from bigtime.ops.job_state import CannotGoOn
from bigtime.ops.table_settings import POLL_SECONDS, describe_table, replica_request
from bigtime.store import Store
from bigtime.wire import (
    AccessDeniedException,
    DynamoDBError,
    LimitExceededException,
    PolicyNotFoundException,
    Request,
    ResourceInUseException,
    Response,
    UnknownOperationException,
    ValidationException,
)

Settings: TypeAlias = dict[str, Any]
"""The settings of one replica, as in UpdateTable's Create."""

OVERRIDES: Final = ("ProvisionedThroughputOverride", "OnDemandThroughputOverride")
GONE: Final = ("DELETING", "ARCHIVING", "ARCHIVED")
CHANGING: Final = ("CREATING", "UPDATING", "DELETING")
REFUSALS: Final = (ValidationException, UnknownOperationException, AccessDeniedException)


def announce_settings(source: Store, name: str) -> Iterator[str]:
    """The settings of a table that a person should look at before the switch."""
    table = read_table(source, name)
    if replicas := replica_settings(table):
        regions = ", ".join(each["RegionName"] for each in replicas)
        yield f"{name} has replicas in {regions}: --finish makes them, or says why not"
    for what, arn in resources(table):
        policy, fault = read_policy(source, arn)
        if fault:
            yield f"the policy of the {what} {name} cannot be read ({fault}): look after it by hand"
        elif policy is not None:
            yield f"the {what} {name} has a resource policy: --finish copies it, or says why not"


def read_table(store: Store, name: str) -> Response:
    table = store.run(describe_table(name))
    if table is None:
        raise CannotGoOn(f"{name} is not there any more: it was deleted since it was copied.")
    return table


# --- Policies -------------------------------------------------------------------------------


def copy_policies(source: Store, target: Store, name: str) -> Iterator[str]:
    """Puts the policies of a table and its stream on the copy; yields what was done or is to do."""
    arns = dict(resources(read_table(target, name)))
    for what, arn in resources(read_table(source, name)):
        policy, fault = read_policy(source, arn)
        if fault:
            yield f"the policy of the {what} {name} cannot be read ({fault}): look after it by hand"
        if policy is None:
            continue
        if what not in arns:
            yield f"the {what} {name} has no copy to put its policy on: {policy}"
            continue
        policy = rename_resource(policy, arn, arns[what])
        fault = put_policy(target, arn, arns[what], policy)
        if fault:
            yield (
                f"the {what} {name} has a resource policy that is not copied ({fault}): correct it"
                f" and put it with PutResourcePolicy on {arns[what]}: {policy}"
            )
        else:
            yield f"copied the resource policy of the {what} {name}"


def resources(table: Response) -> Iterator[tuple[str, str]]:
    """What can have a policy of its own: the table, and its stream while that is enabled."""
    yield "table", table["TableArn"]
    is_on = (table.get("StreamSpecification") or {}).get("StreamEnabled")
    if is_on and table.get("LatestStreamArn"):
        yield "stream of", table["LatestStreamArn"]


def read_policy(store: Store, arn: str) -> tuple[str | None, str]:
    """The policy of a resource, on one line; or why it cannot be read."""
    try:
        found = store.send(Request("GetResourcePolicy", {"ResourceArn": arn}))
    except (PolicyNotFoundException, UnknownOperationException):  # or the store has no policies
        return None, ""
    except DynamoDBError as error:
        return None, error.code
    return json.dumps(json.loads(found["Policy"])), ""


def rename_resource(policy: str, arn: str, copy: str) -> str:
    return re.sub(rf"{re.escape(arn)}(?![\w.-])", lambda _: copy, policy)


def put_policy(target: Store, arn: str, copy: str, policy: str) -> str:
    """Why the policy was not put; empty if it was."""
    account, other = arn.split(":")[4], copy.split(":")[4]
    if account != other:
        return f"its principals are of account {account}, and the copy is in {other}"
    try:
        target.send(Request("PutResourcePolicy", {"ResourceArn": copy, "Policy": policy}))
    except DynamoDBError as error:
        return f"{error.code}: {error.message}"
    return ""


# --- Replicas -------------------------------------------------------------------------------


def replica_settings(table: Response) -> list[Settings]:
    """The replicas to ask for, to get those that a table has."""
    replicas = [each for each in table.get("Replicas") or [] if each["ReplicaStatus"] not in GONE]
    usual = (table.get("TableClassSummary") or {}).get("TableClass", "STANDARD")
    return sorted(
        (settings_of(replica, usual) for replica in replicas), key=lambda each: each["RegionName"]
    )


def settings_of(replica: Mapping[str, Any], usual_class: str) -> Settings:
    settings = {"RegionName": replica["RegionName"], **overrides_of(replica)}
    own_class = (replica.get("ReplicaTableClassSummary") or {}).get("TableClass", usual_class)
    if own_class != usual_class:
        settings["TableClassOverride"] = own_class
    indexes = [
        {"IndexName": index["IndexName"], **overrides_of(index)}
        for index in replica.get("GlobalSecondaryIndexes") or []
        if overrides_of(index)
    ]
    return {**settings, "GlobalSecondaryIndexes": indexes} if indexes else settings


def overrides_of(described: Mapping[str, Any]) -> Settings:
    return {name: described[name] for name in OVERRIDES if described.get(name)}


def make_replicas(
    target: Store,
    wanted: Mapping[str, list[Settings]],
    *,
    seconds: float,
    say: Callable[[str], None],
) -> None:
    """Creates the missing replicas of each table, and waits until they are ACTIVE.

    Where the target refuses one, `say` is called with the request to make. Replicas that are not
    ready after so many seconds are an error; calling it again continues.
    """
    deadline = time.monotonic() + seconds
    left = {name: list(replicas) for name, replicas in wanted.items()}
    while True:
        for name, replicas in left.items():
            advance(target, name, replicas, say)
        left = {name: replicas for name, replicas in left.items() if replicas}
        if not left:
            return
        if time.monotonic() > deadline:
            places = ", ".join(
                f"{name} in {each['RegionName']}"
                for name, replicas in left.items()
                for each in replicas
            )
            raise CannotGoOn(
                f"These replicas are not ready after {seconds:,.0f} s: {places}. The application"
                " runs without them; run the same again to create them."
            )
        target.sleep(POLL_SECONDS)


def advance(target: Store, name: str, left: list[Settings], say: Callable[[str], None]) -> None:
    """Asks for a table's next replica if none is being created; drops finished ones from `left`."""
    table = read_table(target, name)
    there = {each["RegionName"]: each["ReplicaStatus"] for each in table.get("Replicas") or []}
    own = table["TableArn"].split(":")[3]
    while left and (left[0]["RegionName"] == own or there.get(left[0]["RegionName"]) == "ACTIVE"):
        replica = left.pop(0)
        if replica["RegionName"] != own:
            say(f"created a replica of {name} in {replica['RegionName']}")
    if not left:
        return
    region = left[0]["RegionName"]
    status = there.get(region)
    if status is not None and status not in CHANGING:
        raise CannotGoOn(
            f"The replica of {name} in {region}: {status}. Delete it in the target by UpdateTable,"
            " see to its cause, and run the same again. The application runs without it."
        )
    if status is None and table["TableStatus"] == "ACTIVE":
        try:
            target.send(replica_request(name, left[0]))
        except (ResourceInUseException, LimitExceededException):
            return  # one change of a table at a time, and a few per account: in the next round
        except REFUSALS as error:
            say(advice(table, left.pop(0), error))


def advice(copy: Response, replica: Settings, error: DynamoDBError) -> str:
    """How a person creates a replica that the target refused."""
    name, region = copy["TableName"], replica["RegionName"]
    view = (copy.get("StreamSpecification") or {}).get("StreamViewType")
    stream = "" if view == "NEW_AND_OLD_IMAGES" else ", with a stream of NEW_AND_OLD_IMAGES,"
    return (
        f"{name} has a replica in {region}, which the target refuses to make"
        f" ({error.code}: {error.message}): see to that, and make it there{stream} by UpdateTable"
        f" with {json.dumps(dict(replica_request(name, replica).params))}"
    )
