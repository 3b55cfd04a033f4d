"""Resource policies of a table that was copied to another store, and what to know before.

A policy names principals of an account. In the same account it is put on the copy, with the copy's
ARN in place of the source's; from another account it is told, with the request to make.

AWS: "PutResourcePolicy"
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PutResourcePolicy.html
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from bigtime.ops.replica_copy import read_table, replica_settings
from bigtime.store import Store
from bigtime.wire import (
    DynamoDBError,
    PolicyNotFoundException,
    Request,
    Response,
    UnknownOperationException,
)


def announce_settings(source: Store, name: str) -> Iterator[str]:
    """What a table has that needs a look before the switch."""
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


def copy_policies(source: Store, target: Store, name: str) -> Iterator[str]:
    """Puts the policies of a table and of its stream on its copy; what was done, or is to do."""
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
    """What has a policy of its own: the table, and its stream while that is on."""
    yield "table", table["TableArn"]
    is_on = (table.get("StreamSpecification") or {}).get("StreamEnabled")
    if is_on and table.get("LatestStreamArn"):
        yield "stream of", table["LatestStreamArn"]


def read_policy(store: Store, arn: str) -> tuple[str | None, str]:
    """The policy of a resource, as one line; or why it cannot be known."""
    try:
        found = store.send(Request("GetResourcePolicy", {"ResourceArn": arn}))
    except (PolicyNotFoundException, UnknownOperationException):  # or the store knows no policies
        return None, ""
    except DynamoDBError as error:
        return None, error.code
    return json.dumps(json.loads(found["Policy"])), ""


def rename_resource(policy: str, arn: str, copy: str) -> str:
    return re.sub(rf"{re.escape(arn)}(?![\w.-])", lambda _: copy, policy)


def put_policy(target: Store, arn: str, copy: str, policy: str) -> str:
    """Why it was not put; empty if it was."""
    account, other = arn.split(":")[4], copy.split(":")[4]
    if account != other:
        return f"its principals are of account {account}, and the copy is in {other}"
    try:
        target.send(Request("PutResourcePolicy", {"ResourceArn": copy, "Policy": policy}))
    except DynamoDBError as error:
        return f"{error.code}: {error.message}"
    return ""
