"""An Amazon Cognito user pool as an application's accounts: implements `accounts.Accounts`.

    pool = CognitoAccounts(boto3.client("cognito-idp"), pool_id="eu-west-1_x", client_id="y")
    identity = store.run(pool.verify_password("alex@example.com", "correct horse"))

The user's name in the pool is the login. The attributes are `preferred_username` for the username,
`custom:tenant_id` and `custom:password_version`, which the pool has to declare, and
`email_verified`. A role is a group of the pool with the role's name, which has to exist. The app
client needs the flow ADMIN_USER_PASSWORD_AUTH.

What differs from the table: the pool has its own rules for passwords, and a call to it cannot be
part of a transaction. So two admins who demote each other at the same moment can leave the pool
without an admin. The site's own pages sign users up in one transaction with other tables and keep
to the table; this is for an application that already has a pool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Any, Final, ParamSpec, Protocol, TypeVar

from bigtime import model as bt
from bigtime.extras import extra
from bigtime.systems import accounts
from bigtime.systems.accounts import Identity, Role
from bigtime.wire import Steps

P = ParamSpec("P")
T = TypeVar("T")

USERNAME: Final = "preferred_username"
TENANT: Final = "custom:tenant_id"
VERSION: Final = "custom:password_version"
VERIFIED: Final = "email_verified"
GROUPS: Final = "cognito:groups"
SHOPPER: Final = frozenset({Role.SHOPPER})


class InvalidToken(bt.NotSignedIn):
    """This token belongs to another pool or application, or has expired; sign in again."""


class CognitoClient(Protocol):
    """The methods used of boto3's `cognito-idp` client."""

    def admin_create_user(self, **params: Any) -> Mapping[str, Any]: ...

    def admin_set_user_password(self, **params: Any) -> Mapping[str, Any]: ...

    def admin_initiate_auth(self, **params: Any) -> Mapping[str, Any]: ...

    def admin_get_user(self, **params: Any) -> Mapping[str, Any]: ...

    def admin_update_user_attributes(self, **params: Any) -> Mapping[str, Any]: ...

    def admin_list_groups_for_user(self, **params: Any) -> Mapping[str, Any]: ...

    def admin_add_user_to_group(self, **params: Any) -> Mapping[str, Any]: ...

    def admin_remove_user_from_group(self, **params: Any) -> Mapping[str, Any]: ...

    def list_users_in_group(self, **params: Any) -> Mapping[str, Any]: ...


ERRORS: Final[Mapping[str, type[bt.DomainError]]] = {
    "UsernameExistsException": accounts.LoginTaken,
    "UserNotFoundException": accounts.UnknownLogin,
    "InvalidPasswordException": accounts.PasswordTooWeak,
    "NotAuthorizedException": accounts.WrongCredentials,
    "PasswordHistoryPolicyViolationException": accounts.PasswordTooWeak,
    "InvalidParameterException": accounts.InvalidLogin,
    "TooManyRequestsException": bt.Unavailable,
    "TooManyFailedAttemptsException": bt.Unavailable,
}


@contextmanager
def cognito_errors() -> Iterator[None]:
    """Raises the pool's errors as those of `accounts`."""
    with extra("aws"):
        from botocore.exceptions import ClientError
    try:
        yield
    except ClientError as error:
        kind = ERRORS.get(error.response["Error"]["Code"])
        if kind is None:
            raise
        raise kind from error


def as_steps(method: Callable[P, T]) -> Callable[P, Steps[T]]:
    """Turns a method into steps that make no request to a store: any driver runs them."""

    @wraps(method)
    def run(*args: P.args, **named: P.kwargs) -> Steps[T]:
        with cognito_errors():
            return method(*args, **named)
        yield

    return run


@dataclass(frozen=True, slots=True)
class CognitoAccounts:
    """The accounts of a user pool. The steps call the pool, and make no request to a store."""

    client: CognitoClient
    pool_id: str
    client_id: str

    @as_steps
    def sign_up(
        self,
        login: str,
        password: str,
        username: str,
        *,
        roles: AbstractSet[Role] = SHOPPER,
        tenant_id: str | None = None,
    ) -> Identity:
        """Creates a user with a permanent password; the pool sends no invitation."""
        name = accounts.LOGIN(login)
        self.client.admin_create_user(
            **self.user(name),
            MessageAction="SUPPRESS",
            UserAttributes=attributes(
                {"email": name, USERNAME: username, TENANT: tenant_id, VERSION: "0"}
            ),
        )
        self.set_password(name, password)
        for role in sorted(roles):
            self.client.admin_add_user_to_group(**self.user(name), GroupName=role)
        return self.identity(name)

    @as_steps
    def verify_password(self, login: str, password: str) -> Identity:
        """A login that does not exist raises the same error."""
        try:
            with cognito_errors():
                return self.check_password(login, password)
        except (accounts.UnknownLogin, accounts.InvalidLogin):
            raise accounts.WrongCredentials from None

    @as_steps
    def change_password(self, login: str, password: str, new_password: str) -> Identity:
        """Needs the current password; the version tells which sessions began with the old one."""
        before = self.check_password(login, password)
        self.set_password(before.login, new_password)
        self.update(before.login, {VERSION: str(before.password_version + 1)})
        return self.identity(before.login)

    @as_steps
    def view_account(self, login: str) -> Identity:
        return self.identity(accounts.LOGIN(login))

    @as_steps
    def confirm_login(self, login: str) -> Identity:
        """Marks the login as verified: its owner has shown that it is their e-mail address."""
        self.update(accounts.LOGIN(login), {VERIFIED: "true"})
        return self.identity(accounts.LOGIN(login))

    @as_steps
    def grant_role(self, login: str, role: Role) -> Identity:
        """Once is as good as twice."""
        user = self.user(accounts.LOGIN(login))
        self.client.admin_add_user_to_group(**user, GroupName=role)
        return self.identity(accounts.LOGIN(login))

    @as_steps
    def revoke_role(self, login: str, role: Role) -> Identity:
        """Once is as good as twice; the last admin stays one."""
        name = accounts.LOGIN(login)
        if role is Role.ADMIN and role in self.identity(name).roles:
            self.check_other_admin(name)
        self.client.admin_remove_user_from_group(**self.user(name), GroupName=role)
        return self.identity(name)

    # The pool

    def user(self, login: str) -> dict[str, str]:
        return {"UserPoolId": self.pool_id, "Username": login}

    def check_password(self, login: str, password: str) -> Identity:
        """Signs in and discards the tokens; raises WrongCredentials."""
        name = accounts.LOGIN(login)
        self.client.admin_initiate_auth(
            UserPoolId=self.pool_id,
            ClientId=self.client_id,
            AuthFlow="ADMIN_USER_PASSWORD_AUTH",
            AuthParameters={"USERNAME": name, "PASSWORD": password},
        )
        return self.identity(name)

    def set_password(self, login: str, password: str) -> None:
        self.client.admin_set_user_password(**self.user(login), Password=password, Permanent=True)

    def update(self, login: str, changed: Mapping[str, str | None]) -> None:
        self.client.admin_update_user_attributes(
            **self.user(login), UserAttributes=attributes(changed)
        )

    def identity(self, login: str) -> Identity:
        found = self.client.admin_get_user(**self.user(login))["UserAttributes"]
        named = {attribute["Name"]: attribute["Value"] for attribute in found}
        groups = self.client.admin_list_groups_for_user(**self.user(login))["Groups"]
        return identity_of(login, named, [group["GroupName"] for group in groups])

    def check_other_admin(self, login: str) -> None:
        """Raises LastAdmin. A page of the group has up to 60 users: two are enough."""
        found = self.client.list_users_in_group(
            UserPoolId=self.pool_id, GroupName=Role.ADMIN, Limit=2
        )["Users"]
        logins = {attribute["Value"] for user in found for attribute in emails_of(user)}
        if not logins - {login}:
            raise accounts.LastAdmin


def attributes(values: Mapping[str, str | None]) -> list[dict[str, str]]:
    return [{"Name": name, "Value": value} for name, value in values.items() if value is not None]


def emails_of(user: Mapping[str, Any]) -> list[Mapping[str, str]]:
    return [attribute for attribute in user["Attributes"] if attribute["Name"] == "email"]


def identity_of(login: str, named: Mapping[str, Any], groups: list[str]) -> Identity:
    return Identity(
        login,
        str(named.get(USERNAME) or login),
        named.get(TENANT) or None,
        frozenset(Role(name) for name in groups if name in [*Role]),
        int(named.get(VERSION) or 0),
        str(named.get(VERIFIED)).lower() == "true",
    )


# Tokens


def identity_of_claims(
    claims: Mapping[str, Any], *, issuer: str, client_id: str, moment: datetime
) -> Identity:
    """The user of an ID token, whose signature an API Gateway authorizer has verified.

    The tenant is the token's: no field of a request says whose data is read.
    """
    is_ours = claims.get("iss") == issuer and claims.get("aud") == client_id
    expires_at = float(claims.get("exp") or 0)
    if not is_ours or claims.get("token_use") != "id" or expires_at <= moment.timestamp():
        raise InvalidToken
    groups = claims.get(GROUPS) or []
    names = groups.split(",") if isinstance(groups, str) else list(groups)
    return identity_of(accounts.LOGIN(str(claims.get("email", ""))), claims, names)
