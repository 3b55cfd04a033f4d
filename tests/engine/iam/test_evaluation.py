"""The evaluator alone: a request, policies, and what comes of it."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.engine.iam import (
    AccessRequest,
    Decision,
    PolicyError,
    Principal,
    evaluate,
    read_policy,
)

ACCOUNT = "123456789012"
TABLE = f"arn:aws:dynamodb:us-west-2:{ACCOUNT}:table/GameScores"
ALICE = Principal.user("alice", [], tags={"team": "shop"})
ROLE = Principal.role("checkout", [])


def request(
    action: str = "GetItem",
    resource: str = TABLE,
    principal: Principal = ALICE,
    **keys: str | tuple[str, ...],
) -> AccessRequest:
    """Keys are given as `dynamodb__Select="COUNT"`."""
    given = {
        name.replace("__", ":").replace("_slash_", "/").lower(): (value,)
        if isinstance(value, str)
        else value
        for name, value in keys.items()
    }
    return AccessRequest(
        principal.caller(ACCOUNT),
        f"dynamodb:{action}",
        resource,
        {**principal.keys(ACCOUNT), **given},
    )


def statement(effect: str = "Allow", **elements: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"Effect": effect, **elements}
    if "NotAction" not in given:
        given.setdefault("Action", "dynamodb:*")
    if "NotResource" not in given:
        given.setdefault("Resource", "*")
    return given


def policy(*statements: dict[str, Any], version: str = "2012-10-17") -> dict[str, Any]:
    return {"Version": version, "Statement": list(statements)}


def decide(
    asked: AccessRequest, *documents: dict[str, Any], resource: dict[str, Any] | None = None
) -> Decision:
    of_resource = read_policy(resource, of_resource=True) if resource else None
    return evaluate(asked, [read_policy(each) for each in documents], of_resource)


def is_allowed(asked: AccessRequest, *statements: dict[str, Any]) -> bool:
    return decide(asked, policy(*statements)).allowed


# --- Effects ------------------------------------------------------------------------------------


def test_nothing_is_allowed_that_no_policy_allows() -> None:
    decision = decide(request())
    assert not decision.allowed
    assert decision.reason == (
        "User: arn:aws:iam::123456789012:user/alice is not authorized to perform: "
        f"dynamodb:GetItem on resource: {TABLE} because no identity-based policy allows the "
        "dynamodb:GetItem action"
    )


def test_an_explicit_deny_wins() -> None:
    allow, deny = policy(statement()), policy(statement("Deny", Action="dynamodb:GetItem"))
    for documents in ((allow, deny), (deny, allow)):
        decision = decide(request(), *documents)
        assert decision.reason == (
            "User: arn:aws:iam::123456789012:user/alice is not authorized to perform: "
            f"dynamodb:GetItem on resource: {TABLE} with an explicit deny in an identity-based "
            "policy"
        )
    assert decide(request("PutItem"), allow, deny).allowed


def test_a_request_on_no_one_resource_names_all() -> None:
    assert decide(request("DescribeLimits", "*")).reason == (
        "User: arn:aws:iam::123456789012:user/alice is not authorized to perform: "
        "dynamodb:DescribeLimits on resource: * because no identity-based policy allows the "
        "dynamodb:DescribeLimits action"
    )


# --- Actions and resources ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "allowed"),
    [
        ("*", True),
        ("dynamodb:*", True),
        ("dynamodb:GetItem", True),
        ("DynamoDB:getitem", True),
        ("dynamodb:Get*", True),
        ("dynamodb:Get?tem", True),
        ("dynamodb:Get", False),
        ("dynamodb:BatchGetItem", False),
        ("s3:GetItem", False),
        (["dynamodb:PutItem", "dynamodb:GetItem"], True),
    ],
)
def test_actions(pattern: Any, allowed: bool) -> None:
    assert is_allowed(request(), statement(Action=pattern)) is allowed
    assert is_allowed(request(), statement(NotAction=pattern)) is not allowed


@pytest.mark.parametrize(
    ("pattern", "allowed"),
    [
        ("*", True),
        (TABLE, True),
        (f"arn:aws:dynamodb:*:{ACCOUNT}:table/Game*", True),
        ("arn:aws:dynamodb:*:*:table/GameScore?", True),
        ("arn:aws:dynamodb:us-west-2", True),
        (f"{TABLE}/index/*", False),
        ("arn:aws:dynamodb:us-west-2:123456789012:table/gamescores", False),
        ("arn:aws:dynamodb:*:table/GameScores", False),
        ("arn:aws:s3:*:*:*", False),
    ],
)
def test_resources(pattern: str, allowed: bool) -> None:
    assert is_allowed(request(), statement(Resource=pattern)) is allowed
    assert is_allowed(request(), statement(NotResource=pattern)) is not allowed


def test_a_table_is_not_its_indexes() -> None:
    index = request("Query", f"{TABLE}/index/TopScoreDateTimeIndex")
    assert not is_allowed(index, statement(Resource=TABLE))
    assert is_allowed(index, statement(Resource=[TABLE, f"{TABLE}/index/*"]))
    assert is_allowed(index, statement(Resource=f"{TABLE}*"))


# --- Conditions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operator", "wanted", "given", "holds"),
    [
        ("StringEquals", "a", "a", True),
        ("StringEquals", ["x", "a"], "a", True),
        ("StringEquals", "A", "a", False),
        ("StringEquals", "a*", "abc", False),
        ("StringNotEquals", ["a", "b"], "c", True),
        ("StringNotEquals", ["a", "b"], "b", False),
        ("StringEqualsIgnoreCase", "A", "a", True),
        ("StringNotEqualsIgnoreCase", "A", "a", False),
        ("StringLike", "TENANT#*", "TENANT#7", True),
        ("StringLike", "TENANT#?", "TENANT#77", False),
        ("StringLike", "a\\*", "a\\b", True),
        ("StringLike", "*ab*?b", "abab", True),
        ("StringLike", "a*ab", "ab", False),
        # Answered at once: trying every place for each wildcard would take years.
        ("StringLike", "*a" * 20 + "*b", "a" * 2_000, False),
        ("StringNotLike", "TENANT#*", "TENANT#7", False),
        ("NumericEquals", "5", "5.0", True),
        ("NumericNotEquals", "5", "6", True),
        ("NumericLessThan", 10, "9", True),
        ("NumericLessThanEquals", "10", "10", True),
        ("NumericGreaterThan", "10", "10", False),
        ("NumericGreaterThanEquals", "10", "nonsense", False),
        ("DateLessThan", "2026-01-01T00:00:00Z", "2025-12-31T23:59:59Z", True),
        ("DateGreaterThan", "2026-01-01", "2025-12-31T23:59:59Z", False),
        ("DateEquals", "1767225600", "2026-01-01T00:00:00Z", True),
        ("Bool", "true", "True", True),
        ("Bool", False, "true", False),
        ("BinaryEquals", "QUJD", "QUJD", True),
        ("IpAddress", "203.0.113.0/24", "203.0.113.9", True),
        ("IpAddress", ["203.0.113.0/24", "2001:DB8::/32"], "2001:db8::1", True),
        ("NotIpAddress", "203.0.113.0/24", "203.0.113.9", False),
        ("ArnLike", "arn:aws:iam::*:user/*", "arn:aws:iam::1:user/a", True),
        # The example in AWS's page of operators: a wildcard reaches over no colon.
        (
            "ArnEquals",
            "arn:aws:someservice:*:111122223333:finance/*",
            "arn:aws:someservice:us-east-2:999999999999:store/abc:111122223333:finance/document.txt",
            False,
        ),
        (
            "StringLike",
            "arn:aws:someservice:*:111122223333:finance/*",
            "arn:aws:someservice:us-east-2:999999999999:store/abc:111122223333:finance/document.txt",
            True,
        ),
        ("ArnNotLike", "arn:aws:iam::*:user/*", "arn:aws:iam::1:role/a", True),
        ("Null", "true", "a", False),
        ("Null", "false", "a", True),
    ],
)
def test_operators(operator: str, wanted: Any, given: str, holds: bool) -> None:
    condition = {operator: {"test:Key": wanted}}
    assert is_allowed(request(test__key=given), statement(Condition=condition)) is holds


@pytest.mark.parametrize(
    ("operator", "holds"),
    [
        ("StringEquals", False),
        ("StringNotEquals", True),
        ("StringEqualsIfExists", True),
        ("ForAllValues:StringEquals", True),
        ("ForAllValues:StringNotLike", True),
        ("ForAnyValue:StringEquals", False),
        ("ForAnyValue:StringNotEquals", False),
        ("ForAnyValue:StringEqualsIfExists", True),
    ],
)
def test_a_key_that_the_request_lacks(operator: str, holds: bool) -> None:
    assert is_allowed(request(), statement(Condition={operator: {"test:Key": "a"}})) is holds
    assert is_allowed(request(), statement(Condition={"Null": {"test:Key": "true"}}))


@pytest.mark.parametrize(
    ("operator", "given", "holds"),
    [
        ("ForAllValues:StringEquals", ("a", "b"), True),
        ("ForAllValues:StringEquals", ("a", "x"), False),
        ("ForAllValues:StringNotEquals", ("x", "y"), True),
        ("ForAllValues:StringNotEquals", ("x", "a"), False),
        ("ForAnyValue:StringEquals", ("x", "a"), True),
        ("ForAnyValue:StringEquals", ("x", "y"), False),
        ("ForAnyValue:StringNotEquals", ("x", "a"), True),
    ],
)
def test_set_operators(operator: str, given: tuple[str, ...], holds: bool) -> None:
    condition = {operator: {"test:key": ["a", "b"]}}
    assert is_allowed(request(test__key=given), statement(Condition=condition)) is holds


def test_without_a_set_operator_several_values_are_read_so_that_less_is_let_through() -> None:
    condition = {"StringEquals": {"dynamodb:LeadingKeys": "mine"}}
    both = request(dynamodb__LeadingKeys=("mine", "yours"))
    assert not is_allowed(both, statement(Condition=condition))
    assert not is_allowed(both, statement(), statement("Deny", Condition=condition))


def test_all_conditions_must_hold() -> None:
    condition = {
        "StringEquals": {"test:a": "1", "test:b": "2"},
        "NumericLessThan": {"test:c": "3"},
    }
    granted = statement(Condition=condition)
    assert is_allowed(request(test__a="1", test__b="2", test__c="2"), granted)
    assert not is_allowed(request(test__a="1", test__b="x", test__c="2"), granted)
    assert not is_allowed(request(test__a="1", test__b="2", test__c="3"), granted)


# --- Variables ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "key", "holds"),
    [
        ("${aws:username}", "alice", True),
        ("${AWS:UserName}", "alice", True),
        ("USER#${aws:username}", "USER#alice", True),
        ("${aws:PrincipalTag/team}", "shop", True),
        ("${aws:PrincipalTag/none}", "", False),
        ("${aws:PrincipalTag/none, 'guest'}", "guest", True),
        ("${aws:username, 'guest'}", "alice", True),
    ],
)
def test_variables(value: str, key: str, holds: bool) -> None:
    condition = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": value}}
    asked = request(dynamodb__LeadingKeys=key)
    assert is_allowed(asked, statement(Condition=condition)) is holds
    old = policy(statement(Condition=condition), version="2008-10-17")
    assert not decide(asked, old).allowed


def test_what_a_variable_holds_is_no_pattern() -> None:
    star = Principal.user("a=*", [])
    condition = {"StringLike": {"dynamodb:LeadingKeys": "${aws:username}"}}
    for key, holds in (("a=*", True), ("a=b", False)):
        asked = request(principal=star, dynamodb__LeadingKeys=key)
        assert is_allowed(asked, statement(Condition=condition)) is holds
    literal = {"StringLike": {"dynamodb:LeadingKeys": "a${*}"}}
    assert is_allowed(request(dynamodb__LeadingKeys="a*"), statement(Condition=literal))
    assert not is_allowed(request(dynamodb__LeadingKeys="ab"), statement(Condition=literal))


def test_variables_in_resources() -> None:
    own = statement(Resource="arn:aws:dynamodb:*:*:table/${aws:username}-*")
    assert is_allowed(request(resource=TABLE.replace("GameScores", "alice-1")), own)
    assert not is_allowed(request(resource=TABLE.replace("GameScores", "bob-1")), own)
    # A role has no user name, so the statement says nothing.
    theirs = request(principal=ROLE, resource=TABLE.replace("GameScores", "alice-1"))
    assert not is_allowed(theirs, own)


# --- Resource policies --------------------------------------------------------------------------


def resource_policy(effect: str = "Allow", **elements: Any) -> dict[str, Any]:
    return policy(statement(effect, **elements))


@pytest.mark.parametrize(
    ("principal", "allowed"),
    [
        ("*", True),
        ({"AWS": "*"}, True),
        ({"AWS": "arn:aws:iam::123456789012:user/alice"}, True),
        ({"AWS": ["arn:aws:iam::123456789012:user/bob"]}, False),
        # An account lets its own policies decide.
        ({"AWS": "123456789012"}, False),
        ({"AWS": "arn:aws:iam::123456789012:root"}, False),
        ({"Service": "backup.amazonaws.com"}, False),
    ],
)
def test_a_resource_policy_allows_what_no_policy_of_the_user_does(
    principal: Any, allowed: bool
) -> None:
    assert decide(request(), resource=resource_policy(Principal=principal)).allowed is allowed


def test_a_resource_policy_may_name_a_role_or_its_session() -> None:
    for arn in (
        "arn:aws:iam::123456789012:role/checkout",
        "arn:aws:sts::123456789012:assumed-role/checkout/bigtime",
    ):
        granted = resource_policy(Principal={"AWS": arn})
        assert decide(request(principal=ROLE), resource=granted).allowed
        assert not decide(request(), resource=granted).allowed


def test_a_resource_policy_denies_an_account_to_all_of_its_users() -> None:
    denied = resource_policy("Deny", Principal={"AWS": ACCOUNT})
    decision = decide(request(), policy(statement()), resource=denied)
    assert decision.reason.endswith("with an explicit deny in a resource-based policy")


def test_not_principal_denies_all_others() -> None:
    denied = resource_policy("Deny", NotPrincipal={"AWS": "arn:aws:iam::123456789012:user/alice"})
    assert decide(request(), policy(statement()), resource=denied).allowed
    assert not decide(request(principal=ROLE), policy(statement()), resource=denied).allowed


def test_roles_are_named_by_their_session() -> None:
    assert decide(request(principal=ROLE)).reason.startswith(
        "User: arn:aws:sts::123456789012:assumed-role/checkout/bigtime is not authorized"
    )
    by_role = {"ArnEquals": {"aws:PrincipalArn": "arn:aws:iam::123456789012:role/checkout"}}
    assert is_allowed(request(principal=ROLE), statement(Condition=by_role))


@pytest.mark.parametrize(
    ("principal", "condition", "holds"),
    [
        (ALICE, {"Bool": {"aws:ViaAWSService": "false"}}, True),
        (ALICE, {"Bool": {"aws:PrincipalIsAWSService": "false"}}, True),
        # Known of temporary credentials alone.
        (ALICE, {"Bool": {"aws:MultiFactorAuthPresent": "false"}}, False),
        (ROLE, {"Bool": {"aws:MultiFactorAuthPresent": "false"}}, True),
    ],
)
def test_what_a_request_tells_of_its_caller(
    principal: Principal, condition: Any, holds: bool
) -> None:
    """AWS: "AWS global condition context keys", of the availability of each."""
    asked = request(principal=principal)
    assert is_allowed(asked, statement(Condition=condition)) is holds


# --- Documents that are wrong -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ([], "a policy is an object with Version and Statement"),
        ({"Statement": []}, "Statement: a policy needs one statement at least"),
        ({"Statment": []}, "Statment: there is no such element: use Id, Statement, Version"),
        (policy(statement(), version="2020-01-01"), "Version: it is 2008-10-17 or 2012-10-17"),
        (policy(statement("allow")), "Statement[0].Effect: it is Allow or Deny"),
        ({"Statement": statement("No")}, "Statement.Effect: it is Allow or Deny"),
        (
            policy(statement(), statement(Action="GetItem")),
            "Statement[1].Action: 'GetItem' lacks its service: write 'dynamodb:GetItem'",
        ),
        (policy(statement(Action=[])), "Statement[0].Action: it is a text, or a list of texts"),
        (
            policy(statement("Deny", Resource=[TABLE, "table/Orders"])),
            "Statement[0].Resource: 'table/Orders' is no ARN: write it whole, or '*'",
        ),
        (
            policy(statement(Action="a:b", NotAction="c:d")),
            "Statement[0]: a statement needs either Action or NotAction",
        ),
        (
            policy({"Effect": "Deny", "Action": "*"}),
            "Statement[0]: a statement needs either Resource or NotResource",
        ),
        (
            policy(statement(Principal="*")),
            "Statement[0].Principal: only the policy of a resource names principals: leave it out",
        ),
        (
            policy(statement(Condition=[])),
            "Statement[0].Condition: it is an object of operators, each an object of keys and "
            "values",
        ),
        (
            policy(statement(Condition={"NumericEquals": {"a:b": "x"}})),
            "Statement[0].Condition.NumericEquals.a:b: 'x' is nothing that this operator compares",
        ),
        (
            policy(statement(Condition={"DateEquals": {"a:b": "9" * 20}})),
            f"Statement[0].Condition.DateEquals.a:b: '{'9' * 20}' is nothing that this operator "
            "compares",
        ),
        (
            policy(statement(Condition={"StringEquals": {"a:b": []}})),
            "Statement[0].Condition.StringEquals.a:b: it is a text, or a list of texts",
        ),
    ],
)
def test_what_is_wrong_with_a_document(document: Any, problem: str) -> None:
    with pytest.raises(PolicyError) as caught:
        read_policy(document)
    assert str(caught.value) == problem


@pytest.mark.parametrize("operator", ["StringEqual", "ForSome:StringEquals", "NullIfExists", ""])
def test_an_unknown_operator_is_refused(operator: str) -> None:
    with pytest.raises(PolicyError, match="there is no such operator: use Null, ArnEquals"):
        read_policy(policy(statement("Deny", Condition={operator: {"a:b": "c"}})))


def test_a_resource_policy_needs_principals() -> None:
    with pytest.raises(PolicyError, match="either Principal or NotPrincipal"):
        read_policy(policy(statement()), of_resource=True)
