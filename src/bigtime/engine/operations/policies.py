"""Resource policies: stored with their table and returned; `access` evaluates them.

A table and each of its streams has a policy of its own, under its ARN, with a revision id that
changes with every update. A caller may state which revision it expects to replace or delete or,
when it puts one, that it expects none (NO_POLICY).

AWS: "PutResourcePolicy" and "DeleteResourcePolicy"
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PutResourcePolicy.html
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DeleteResourcePolicy.html
The messages were seen on AWS by its controller and by the tests of moto that run there:
https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-policy-kinesis-autoscaling.md
https://github.com/getmoto/moto/pull/7968
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from bigtime import wire
from bigtime.engine.operations.policy_document import (
    NOTES,
    check_document,
    is_same,
    parse,
    with_policy,
)
from bigtime.engine.operations.table_schema import invalid, with_note
from bigtime.engine.operations.tables import find, find_for_writing
from bigtime.engine.storage import Database, TableDefinition, Transaction, Work
from bigtime.wire import Params, Response

NO_POLICY: Final = "NO_POLICY"
LOCKED_OUT: Final = (
    "The new resource policy will not allow you to update the resource policy in the future."
)
NOT_FOUND: Final = "Resource-based policy not found for the provided ResourceArn: "
ARN: Final = re.compile(
    r"arn:(aws[a-z-]*):dynamodb:([^:]*):([^:]*):table/([^/]+)(?:/(stream|index)/([^/]+))?"
)


class Resource(NamedTuple):
    """A table or, with a label, one of its streams."""

    arn: str
    table: str
    label: str

    def policy(self, definition: TableDefinition) -> dict[str, str] | None:
        """The policy of the resource, if any; raises if the resource does not exist."""
        stream = definition.stream
        if self.label and (stream is None or stream.label != self.label):
            raise wire.ResourceNotFoundException(
                f"Requested resource not found: Stream: {self.label} not found "
                f"for Table: {self.table}"
            )
        found: dict[str, str] | None = definition.notes.get(NOTES, {}).get(self.label)
        return found


def put_resource_policy(database: Database, params: Params) -> Work[Response]:
    resource = read_resource(database, params["ResourceArn"])
    check_document(params["Policy"], of_stream=bool(resource.label))
    if not params.get("ConfirmRemoveSelfResourceAccess"):
        check_stays_open(database, resource, params["Policy"])

    def work(transaction: Transaction) -> Response:
        definition = find_for_writing(database, resource.table).definition
        policy = resource.policy(definition)
        check_expected(params.get("ExpectedRevisionId"), policy, resource)
        if policy is None or not is_same(policy["Policy"], params["Policy"]):
            changed = with_policy(definition, resource.label, params["Policy"], transaction.now)
            database.catalogue.change(transaction, changed)
            policy = resource.policy(changed)
        assert policy is not None
        return {"RevisionId": policy["RevisionId"]}

    return work


def check_stays_open(database: Database, resource: Resource, text: str) -> None:
    """Rejects a policy that denies everyone, or the account, to replace it (DDB-TABLE-210)."""
    from bigtime.engine.iam import AccessRequest, Caller, evaluate

    root = f"arn:aws:iam::{database.account}:root"
    caller = Caller(root, database.account, (root,))
    request = AccessRequest(caller, "dynamodb:PutResourcePolicy", resource.arn, {})
    if evaluate(request, (), parse(text)).denied_by:
        raise wire.AccessDeniedException(LOCKED_OUT)


def get_resource_policy(database: Database, params: Params) -> Response:
    resource = read_resource(database, params["ResourceArn"])
    policy = resource.policy(find(database, resource.table).definition)
    if policy is None:
        raise wire.PolicyNotFoundException(NOT_FOUND + resource.arn)
    return dict(policy)


def delete_resource_policy(database: Database, params: Params) -> Work[Response]:
    resource = read_resource(database, params["ResourceArn"])

    def work(transaction: Transaction) -> Response:
        definition = find_for_writing(database, resource.table).definition
        policy = resource.policy(definition)
        check_expected(params.get("ExpectedRevisionId"), policy, resource, takes_none=False)
        if policy is None:
            return {}
        kept = {
            label: each
            for label, each in definition.notes[NOTES].items()
            if label != resource.label
        }
        database.catalogue.change(transaction, with_note(definition, NOTES, kept))
        return {"RevisionId": policy["RevisionId"]}

    return work


def read_resource(database: Database, arn: str) -> Resource:
    """The table or stream of an ARN; the ARN is checked in AWS's order."""
    if not arn.startswith("arn:"):
        invalid(f"ARNs must start with 'arn:': {arn}")
    found = ARN.fullmatch(arn)
    if found is None:
        invalid(f"Provided Arn is not a DynamoDB resource arn: {arn}")
    partition, region, account, table, kind, label = found.groups()
    if account != database.account:
        raise wire.ValidationException(
            "This action is only supported by accounts that match "
            "the resource owner\u2019s account."
        )
    if partition != "aws" or region != database.region:
        invalid(f"Invalid resource Arn: {arn}")
    if kind == "index":
        invalid(
            "Invalid resource arn provided, only table or stream is accepted. "
            f"Provided resource arn: {arn}"
        )
    return Resource(arn, table, label or "")


def check_expected(
    expected: str | None,
    policy: dict[str, str] | None,
    resource: Resource,
    *,
    takes_none: bool = True,
) -> None:
    """Checks ExpectedRevisionId; `takes_none` says whether NO_POLICY matches a missing policy.

    AWS, of DeleteResourcePolicy's ExpectedRevisionId: "if there's no policy attached to the
    resource, the request will fail and return a PolicyNotFoundException".
    """
    if expected is None:
        return
    subject = f"target table {resource.table}"
    if policy is None:
        if expected != NO_POLICY or not takes_none:
            raise wire.PolicyNotFoundException(
                f"{NOT_FOUND}Requested update for policy with revision id {expected}, "
                f"but no policy is associated to {subject}."
            )
    elif expected == NO_POLICY:
        raise wire.PolicyNotFoundException(
            f"{NOT_FOUND}Requested policy update expecting none to be present for table "
            f"{resource.table}, but a policy exists with revision id {policy['RevisionId']}."
        )
    elif expected != policy["RevisionId"]:
        raise wire.PolicyNotFoundException(
            f"{NOT_FOUND}Requested update for policy with revision id {expected}, but the policy "
            f"associated to {subject} has revision id {policy['RevisionId']}."
        )
