"""Decides whether a request is allowed: a pure function of the request and the policies.

1. If a statement in any policy denies the request, it is denied.
2. Otherwise, if a statement in a policy of the caller or of the resource allows it, it is allowed:
   within an account the two are combined.
3. Otherwise the request is denied.

A resource policy may name an account. Allowing an account leaves the decision to the account's own
policies, so it allows nothing to the account's users by itself; denying it denies all of them.

AWS: "Policy evaluation logic", "AWS JSON policy elements: Principal"
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_principal.html
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from bigtime.engine.iam.conditions import Keys, Unresolved, arn_like, fill, like
from bigtime.engine.iam.policy import Effect, Policy, Statement, Terms

PolicyKind: TypeAlias = Literal["identity-based", "resource-based"]


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller; `arns` are the principals by which a resource policy can refer to it."""

    arn: str
    account: str
    arns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """One action on one resource; the names of the condition keys are in lower case.

    A statement with a condition on an `unsupported` key does not apply.
    """

    caller: Caller
    action: str
    resource: str
    keys: Keys
    unsupported: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Decision:
    """`denied_by` is the kind of policy with an explicit deny."""

    request: AccessRequest
    allowed: bool
    denied_by: PolicyKind | None = None

    @property
    def reason(self) -> str:
        """Why the request is denied, in AWS's words; empty if it is allowed.

        AWS: "Troubleshoot access denied error messages"; DynamoDB names the resource * too.
        https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html
        https://github.com/sebdah/dynamic-dynamodb/issues/321
        """
        if self.allowed:
            return ""
        action, resource = self.request.action, self.request.resource
        why = {
            None: f"because no identity-based policy allows the {action} action",
            "identity-based": "with an explicit deny in an identity-based policy",
            "resource-based": "with an explicit deny in a resource-based policy",
        }[self.denied_by]
        return (
            f"User: {self.request.caller.arn} is not authorized to perform: {action} on resource: "
            f"{resource} {why}"
        )


def evaluate(
    request: AccessRequest,
    identity_policies: Sequence[Policy],
    resource_policy: Policy | None = None,
) -> Decision:
    """Evaluates a request against the policies of the caller and of the resource."""
    of_resource = () if resource_policy is None else (resource_policy,)
    if has_statement(request, identity_policies, "Deny"):
        return Decision(request, False, "identity-based")
    if has_statement(request, of_resource, "Deny"):
        return Decision(request, False, "resource-based")
    allowed = has_statement(request, (*identity_policies, *of_resource), "Allow")
    return Decision(request, allowed)


def has_statement(request: AccessRequest, policies: Sequence[Policy], effect: Effect) -> bool:
    return any(
        applies(statement, request, policy.has_variables)
        for policy in policies
        for statement in policy.statements
        if statement.effect == effect
    )


def applies(statement: Statement, request: AccessRequest, has_variables: bool) -> bool:
    if not matches_action(statement.actions, request.action):
        return False
    if statement.principals is not None and not matches_caller(statement, request.caller):
        return False
    if any(condition.key in request.unsupported for condition in statement.conditions):
        return False
    try:
        return matches_resource(statement.resources, request, has_variables) and all(
            condition.holds(
                request.keys, variables=has_variables, of_deny=statement.effect == "Deny"
            )
            for condition in statement.conditions
        )
    except Unresolved:
        return False


@lru_cache(4096)
def matches_action(terms: Terms, action: str) -> bool:
    """Whether a pattern matches the action; action names are case-insensitive."""
    found = any(like(action.lower(), pattern.lower()) for pattern in terms.patterns)
    return found is not terms.negated


def matches_resource(terms: Terms, request: AccessRequest, has_variables: bool) -> bool:
    def matches(pattern: str) -> bool:
        filled = fill(pattern, request.keys, is_pattern=True) if has_variables else pattern
        return filled == "*" or arn_like(request.resource, whole_arn(filled))

    return any(map(matches, terms.patterns)) is not terms.negated


def whole_arn(pattern: str) -> str:
    """Completes a partial ARN as AWS does: ``arn:aws:dynamodb`` is all of DynamoDB."""
    return pattern + ":*" * (5 - pattern.count(":"))


def matches_caller(statement: Statement, caller: Caller) -> bool:
    terms = statement.principals
    assert terms is not None
    names = set(terms.patterns)
    meant = "*" in names or not names.isdisjoint(caller.arns)
    if terms.negated:
        return not meant
    account = {caller.account, f"arn:aws:iam::{caller.account}:root"}
    return meant or (statement.effect == "Deny" and not names.isdisjoint(account))
