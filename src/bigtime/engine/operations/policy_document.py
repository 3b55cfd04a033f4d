"""A resource policy as it is stored with its table, and the validation of its text.

AWS: "Resource-based policy considerations"; the messages are those that AWS's controller has seen.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/rbac-considerations.html
https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/details/DDB-TABLE-442.md
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import orjson

from bigtime.engine.operations.table_schema import invalid, with_note
from bigtime.engine.storage import TableDefinition
from bigtime.wire import ValidationException

if TYPE_CHECKING:
    from bigtime.engine.iam import Policy, Statement

# The key in the definition's notes of the policies: the table's (under "") and by stream label.
NOTES: Final = "ResourcePolicies"
MOST_BYTES: Final = 20 * 1024

MEMBERS: Final = (
    "Sid Effect Principal NotPrincipal Action NotAction Resource NotResource Condition".split()
)
ACCOUNT: Final = re.compile(r"^[0-9]{12}$")
UNBOUNDED: Final = (
    "Resource-based policy grants unbounded access in one or more elements. "
    "Please revise the policy to ensure least-privilege form of access"
)

# Actions that a policy must not name. Seen on AWS, for a table's policy:
# https://github.com/aws/aws-cdk/pull/36194; for a stream's:
# https://github.com/aws-controllers-k8s/dynamodb-controller/pull/176
NOT_OF_STREAMS: Final = frozenset({"liststreams"})
NOT_OF_TABLES: Final = NOT_OF_STREAMS | {"getrecords", "getsharditerator", "describestream"}


def check_document(text: str, *, of_stream: bool = False) -> None:
    """Rejects a policy that cannot be evaluated, or with actions of another kind of resource."""
    if len(text.encode()) > MOST_BYTES:
        invalid(f"Maximum policy size of {MOST_BYTES} bytes exceeded")
    try:
        document: Any = orjson.loads(text)
    except orjson.JSONDecodeError:
        invalid("Invalid policy document: This policy contains invalid Json")
    check_is_object(text, document)
    statements = document.get("Statement") if isinstance(document, dict) else None
    if isinstance(statements, dict):
        statements = [statements]
    if not isinstance(statements, list) or not statements:
        invalid("Invalid policy document: Could not parse the policy: Statement is empty!")
    for statement in statements:
        for field in ("Effect", "Principal", "Action", "Resource"):
            if not isinstance(statement, dict) or not {field, f"Not{field}"} & statement.keys():
                invalid(f"Invalid policy document: Missing required field {field}")
    labels = [statement["Sid"] for statement in statements if "Sid" in statement]
    if any(label in labels[:place] for place, label in enumerate(labels)):
        invalid("Invalid policy document: The Statement Ids in the policy are not unique")
    from bigtime.engine.iam import PolicyError, read_policy

    try:
        policy = read_policy(document, of_resource=True)
    except PolicyError as error:
        # AWS's messages about a single element are not known.
        invalid(f"Invalid policy document: {error}")
    actions = (action for each in policy.statements for action in each.actions.patterns)
    wrong = [action for action in actions if not may_be_named(action, of_stream)]
    if wrong:
        quoted = ", ".join(f'"{action}"' for action in wrong)
        invalid(f"Invalid policy document: The following action names are invalid: {quoted}")
    if any(is_unbounded(statement) for statement in policy.statements):
        raise ValidationException(UNBOUNDED)


def is_unbounded(statement: Statement) -> bool:
    """Whether it allows any principal without a condition (DDB-TABLE-356)."""
    principals = statement.principals
    names_all = principals is not None and not principals.negated and "*" in principals.patterns
    return statement.effect == "Allow" and names_all and not statement.conditions


def is_same(one: str, other: str) -> bool:
    return one == other or canonical(one) == canonical(other)


def canonical(text: str) -> str:
    """The policy as AWS stores it (DDB-TABLE-208 and -351 to -355).

    It has no white space, a fixed order of members and a Version; a list of one is unwrapped, and
    an account number becomes the ARN of the account's root.
    """
    document = orjson.loads(text)
    given = document["Statement"]
    kept: dict[str, Any] = {"Version": document.get("Version", "2008-10-17")}
    if "Id" in document:
        kept["Id"] = document["Id"]
    statements = given if isinstance(given, list) else [given]
    kept["Statement"] = [
        {name: kept_value(name, each[name]) for name in MEMBERS if name in each}
        for each in statements
    ]
    return orjson.dumps(kept).decode()


def kept_value(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: kept_value(name, each) for key, each in value.items()}
    if name in ("Principal", "NotPrincipal"):
        names = value if isinstance(value, list) else [value]
        value = list(dict.fromkeys(ACCOUNT.sub(r"arn:aws:iam::\g<0>:root", each) for each in names))
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def may_be_named(action: str, of_stream: bool) -> bool:
    service, _, name = action.lower().partition(":")
    if "*" in action or "?" in action:
        return True
    return service == "dynamodb" and name not in (NOT_OF_STREAMS if of_stream else NOT_OF_TABLES)


def stored_policy(definition: TableDefinition, label: str = "") -> Policy | None:
    """The policy of a table and its indexes or, with a label, that of a stream."""
    found = definition.notes.get(NOTES, {}).get(label)
    return None if found is None else parse(found["Policy"])


def check_is_object(text: str, document: Any) -> None:
    """What AWS says of other JSON, and of an empty object (DDB-TABLE-457)."""
    if document is None:
        invalid("Invalid policy document: This text appears not to be a policy")
    if not isinstance(document, dict):
        invalid("Invalid policy document: This policy contains invalid Json")
    if not document:
        row, column = text.count("\n") + 1, len(text.rpartition("\n")[2].rstrip()) + 1
        invalid(f"Invalid policy document: Syntax error at position ({row},{column})")


@lru_cache(256)
def parse(text: str) -> Policy:
    from bigtime.engine.iam import Policy, PolicyError, Statement, Terms, read_policy

    try:
        return read_policy(orjson.loads(text), of_resource=True)
    except PolicyError:
        # Stored before policies were parsed: what it should deny is unknown, so it denies
        # everything.
        everything = Terms(("*",))
        return Policy((Statement("Deny", everything, everything, everything),), False)


def with_policy(definition: TableDefinition, label: str, text: str, now: float) -> TableDefinition:
    """The table with this policy; its revision is the time, and later than the previous one."""
    policies = definition.notes.get(NOTES, {})
    before = int(policies.get(label, {}).get("RevisionId", 0))
    policy = {"Policy": canonical(text), "RevisionId": str(max(round(now * 1000), before + 1))}
    return with_note(definition, NOTES, {**policies, label: policy})
