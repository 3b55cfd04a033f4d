"""A Cognito user pool as accounts, on botocore's stub, which checks each call against its model."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from bigtime.engine import Engine
from bigtime.model import DomainError
from bigtime.site.cognito import CognitoAccounts, InvalidToken, identity_of_claims
from bigtime.store import Store
from bigtime.systems import accounts
from bigtime.systems.accounts import Accounts, Identity, Role
from bigtime.wire import Steps

POOL, CLIENT, LOGIN = "eu-west-1_Example", "client", "ada@example.com"
NOW = datetime(2026, 11, 16, tzinfo=UTC)


class Pool:
    """A client whose calls are expected in their order."""

    def __init__(self) -> None:
        client = boto3.client(
            "cognito-idp",
            region_name="eu-west-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )
        self.stub = Stubber(client)
        self.stub.activate()
        self.accounts: Accounts = CognitoAccounts(client, POOL, CLIENT)

    def expect(self, method: str, response: dict[str, Any], **params: Any) -> None:
        self.stub.add_response(method, response, {"UserPoolId": POOL, **params})

    def fail(self, method: str, code: str) -> None:
        self.stub.add_client_error(method, code)

    def expect_identity(self, *roles: Role, **attributes: str) -> None:
        named = {"email": LOGIN, "preferred_username": "ada", **attributes}
        listed = [{"Name": name, "Value": value} for name, value in named.items()]
        self.expect("admin_get_user", {"Username": LOGIN, "UserAttributes": listed}, Username=LOGIN)
        groups = [{"GroupName": role} for role in (*roles, "other-group")]
        self.expect("admin_list_groups_for_user", {"Groups": groups}, Username=LOGIN)

    def expect_sign_in(self) -> None:
        self.expect(
            "admin_initiate_auth",
            {"AuthenticationResult": {}},
            ClientId=CLIENT,
            AuthFlow="ADMIN_USER_PASSWORD_AUTH",
            AuthParameters={"USERNAME": LOGIN, "PASSWORD": "correct horse"},
        )


@pytest.fixture
def pool() -> Iterator[Pool]:
    pool = Pool()
    yield pool
    pool.stub.assert_no_pending_responses()


@pytest.fixture
def store() -> Iterator[Store]:
    with Engine.memory(housekeeping=False) as engine:
        yield Store(engine)


def test_a_user_signs_up_with_roles_and_a_tenant(pool: Pool, store: Store) -> None:
    named = {
        "email": LOGIN,
        "preferred_username": "ada",
        "custom:tenant_id": "T1",
        "custom:password_version": "0",
    }
    pool.expect(
        "admin_create_user",
        {},
        Username=LOGIN,
        MessageAction="SUPPRESS",
        UserAttributes=[{"Name": name, "Value": value} for name, value in named.items()],
    )
    pool.expect(
        "admin_set_user_password", {}, Username=LOGIN, Password="correct horse", Permanent=True
    )
    for role in (Role.ADMIN, Role.SHOPPER):
        pool.expect("admin_add_user_to_group", {}, Username=LOGIN, GroupName=role)
    pool.expect_identity(Role.ADMIN, Role.SHOPPER, **{"custom:tenant_id": "T1"})
    roles = {Role.SHOPPER, Role.ADMIN}
    made = store.run(
        pool.accounts.sign_up(
            "Ada@Example.com", "correct horse", "ada", roles=roles, tenant_id="T1"
        )
    )
    assert made == Identity(LOGIN, "ada", "T1", frozenset(roles))


def test_a_password_is_verified(pool: Pool, store: Store) -> None:
    pool.expect_sign_in()
    pool.expect_identity(email_verified="true", **{"custom:password_version": "3"})
    found = store.run(pool.accounts.verify_password(LOGIN, "correct horse"))
    assert (found.password_version, found.is_confirmed) == (3, True)


@pytest.mark.parametrize("code", ["NotAuthorizedException", "UserNotFoundException"])
def test_a_wrong_password_and_an_unknown_login_are_the_same(
    pool: Pool, store: Store, code: str
) -> None:
    pool.fail("admin_initiate_auth", code)
    with pytest.raises(accounts.WrongCredentials):
        store.run(pool.accounts.verify_password(LOGIN, "wrong"))


def test_a_login_that_cannot_be_one_is_not_asked_for(pool: Pool, store: Store) -> None:
    with pytest.raises(accounts.WrongCredentials):
        store.run(pool.accounts.verify_password("a#b", "wrong"))


def test_a_password_is_changed_and_its_version_with_it(pool: Pool, store: Store) -> None:
    pool.expect_sign_in()
    pool.expect_identity(**{"custom:password_version": "3"})
    pool.expect(
        "admin_set_user_password", {}, Username=LOGIN, Password="battery staple", Permanent=True
    )
    version = [{"Name": "custom:password_version", "Value": "4"}]
    pool.expect("admin_update_user_attributes", {}, Username=LOGIN, UserAttributes=version)
    pool.expect_identity(**{"custom:password_version": "4"})
    changed = store.run(pool.accounts.change_password(LOGIN, "correct horse", "battery staple"))
    assert changed.password_version == 4


def test_a_login_is_confirmed(pool: Pool, store: Store) -> None:
    verified = [{"Name": "email_verified", "Value": "true"}]
    pool.expect("admin_update_user_attributes", {}, Username=LOGIN, UserAttributes=verified)
    pool.expect_identity(email_verified="true")
    assert store.run(pool.accounts.confirm_login(LOGIN)).is_confirmed


def test_a_role_is_a_group(pool: Pool, store: Store) -> None:
    pool.expect("admin_add_user_to_group", {}, Username=LOGIN, GroupName="editor")
    pool.expect_identity(Role.EDITOR)
    assert store.run(pool.accounts.grant_role(LOGIN, Role.EDITOR)).roles == {Role.EDITOR}
    pool.expect("admin_remove_user_from_group", {}, Username=LOGIN, GroupName="editor")
    pool.expect_identity()
    assert store.run(pool.accounts.revoke_role(LOGIN, Role.EDITOR)).roles == frozenset()


@pytest.mark.parametrize("others", [[], ["bea@example.com"]])
def test_the_last_admin_stays_one(pool: Pool, store: Store, others: list[str]) -> None:
    pool.expect_identity(Role.ADMIN)
    users = [
        {"Username": email, "Attributes": [{"Name": "email", "Value": email}]}
        for email in (LOGIN, *others)
    ]
    pool.expect("list_users_in_group", {"Users": users}, GroupName="admin", Limit=2)
    steps = pool.accounts.revoke_role(LOGIN, Role.ADMIN)
    if not others:
        with pytest.raises(accounts.LastAdmin):
            store.run(steps)
        return
    pool.expect("admin_remove_user_from_group", {}, Username=LOGIN, GroupName="admin")
    pool.expect_identity()
    assert store.run(steps).roles == frozenset()


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("UserNotFoundException", accounts.UnknownLogin),
        ("TooManyRequestsException", DomainError),
    ],
)
def test_the_pool_s_errors_are_those_of_accounts(
    pool: Pool, store: Store, code: str, error: type[DomainError]
) -> None:
    pool.fail("admin_get_user", code)
    with pytest.raises(error):
        store.run(pool.accounts.view_account(LOGIN))


def test_another_error_is_not_hidden(pool: Pool, store: Store) -> None:
    pool.fail("admin_get_user", "AccessDeniedException")
    steps: Steps[Identity] = pool.accounts.view_account(LOGIN)
    with pytest.raises(Exception, match="AccessDeniedException"):
        store.run(steps)


CLAIMS = {
    "iss": f"https://cognito-idp.eu-west-1.amazonaws.com/{POOL}",
    "aud": CLIENT,
    "token_use": "id",
    "exp": (NOW + timedelta(hours=1)).timestamp(),
    "email": "Ada@Example.com",
    "email_verified": True,
    "preferred_username": "ada",
    "custom:tenant_id": "T1",
    "cognito:groups": ["admin", "unknown"],
}


def identity_in(**claims: Any) -> Identity:
    issuer = f"https://cognito-idp.eu-west-1.amazonaws.com/{POOL}"
    return identity_of_claims({**CLAIMS, **claims}, issuer=issuer, client_id=CLIENT, moment=NOW)


def test_the_tenant_is_the_token_s() -> None:
    found = identity_in()
    assert found == Identity(LOGIN, "ada", "T1", frozenset({Role.ADMIN}), 0, is_confirmed=True)
    assert identity_in(**{"cognito:groups": "editor,shopper"}).roles == {Role.EDITOR, Role.SHOPPER}
    assert identity_in(**{"custom:tenant_id": None}).tenant_id is None


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://elsewhere"},
        {"aud": "another"},
        {"token_use": "access"},
        {"exp": NOW.timestamp()},
        {"exp": None},
    ],
)
def test_another_s_token_is_refused(claims: dict[str, Any]) -> None:
    with pytest.raises(InvalidToken):
        identity_in(**claims)
