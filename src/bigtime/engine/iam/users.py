"""Users and roles with their policies, and the file that lists them with their access keys.

    {
      "Users": [
        {
          "UserName": "alice",
          "AccessKeys": [{"AccessKeyId": "AKIDALICE", "SecretAccessKey": "..."}],
          "Policies": [{"Version": "2012-10-17", "Statement": [...]}],
          "Tags": {"team": "shop"}
        }
      ],
      "Roles": [{"RoleName": "checkout", "AccessKeys": [...], "Policies": [...]}]
    }

There is no STS here: a role is used with an access key of its own, and no request has a session
token.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

import orjson

from bigtime.engine.iam.conditions import PolicyError
from bigtime.engine.iam.evaluation import Caller
from bigtime.engine.iam.policy import Policy, check_members, join, read_policy

SESSION: Final = "bigtime"
"""The session name of a role, which AWS's AssumeRole requires."""

# AWS: "CreateUser", "AccessKey"
# https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateUser.html
NAME: Final = re.compile(r"[\w+=,.@-]{1,64}")
KEY_ID: Final = re.compile(r"\w{3,128}")


@dataclass(frozen=True, slots=True)
class Principal:
    """A user, or an assumed role, with its policies."""

    name: str
    policies: tuple[Policy, ...]
    is_role: bool = False
    tags: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def user(
        cls, name: str, policies: Iterable[object], *, tags: Mapping[str, str] | None = None
    ) -> Self:
        """A user with these policy documents."""
        return cls(name, read_policies(policies), False, tags or {})

    @classmethod
    def role(
        cls, name: str, policies: Iterable[object], *, tags: Mapping[str, str] | None = None
    ) -> Self:
        """A role with these policy documents."""
        return cls(name, read_policies(policies), True, tags or {})

    def caller(self, account: str) -> Caller:
        if not self.is_role:
            arn = f"arn:aws:iam::{account}:user/{self.name}"
            return Caller(arn, account, (arn,))
        session = f"arn:aws:sts::{account}:assumed-role/{self.name}/{SESSION}"
        role = f"arn:aws:iam::{account}:role/{self.name}"
        return Caller(session, account, (session, role))

    def keys(self, account: str) -> dict[str, tuple[str, ...]]:
        """The condition keys about the caller, who makes the requests and is no AWS service.

        AWS: "AWS global condition context keys". Whether MFA was used is known of temporary
        credentials alone, as a role's are.
        https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html
        """
        caller = self.caller(account)
        keys: dict[str, tuple[str, ...]] = {
            "aws:principalarn": (caller.arns[-1],),
            "aws:principalaccount": (account,),
            "aws:principaltype": ("AssumedRole" if self.is_role else "User",),
            "aws:principalisawsservice": ("false",),
            "aws:viaawsservice": ("false",),
            "aws:userid": (f"AROA{self.name}:{SESSION}" if self.is_role else f"AIDA{self.name}",),
        }
        if self.is_role:
            keys["aws:multifactorauthpresent"] = ("false",)
        else:
            keys["aws:username"] = (self.name,)
        keys.update(
            (f"aws:principaltag/{name.lower()}", (value,)) for name, value in self.tags.items()
        )
        return keys


@dataclass(frozen=True, slots=True)
class AccessKey:
    secret: str = field(repr=False)
    principal: Principal


AccessKeys = Mapping[str, AccessKey]


class UsersFileError(ValueError):
    """What is wrong with a file of users: where, and what would be right."""


def read_policies(documents: Iterable[object], place: str = "Policies") -> tuple[Policy, ...]:
    return tuple(
        read_policy(document, place=f"{place}[{number}]")
        for number, document in enumerate(documents)
    )


def read_users(path: Path) -> AccessKeys:
    """The access keys in a file; raises `UsersFileError` with an explanation for its author."""
    try:
        content = orjson.loads(path.read_bytes())
    except OSError as error:
        raise UsersFileError(f"{path} cannot be read: {error.strerror}.") from None
    except orjson.JSONDecodeError as error:
        raise UsersFileError(f"{path}, line {error.lineno}: it is no JSON: {error.msg}.") from None
    try:
        return read_access_keys(content)
    except PolicyError as error:
        raise UsersFileError(f"{path}: {error}.") from None


def read_access_keys(content: object) -> AccessKeys:
    if not isinstance(content, dict):
        raise PolicyError("", "the file is an object with Users, Roles or both")
    check_members(content, frozenset({"Users", "Roles"}), "")
    found: dict[str, AccessKey] = {}
    for kind, name_member in (("Users", "UserName"), ("Roles", "RoleName")):
        names = set()
        for number, entry in enumerate(list_in(content, kind, "")):
            place = f"{kind}[{number}]"
            principal = read_principal(entry, name_member, place)
            if principal.name in names:
                raise PolicyError(place, f"{principal.name!r} is there twice: leave one out")
            names.add(principal.name)
            add_keys(found, entry, principal, place)
    if not found:
        raise PolicyError("", "nobody has an access key: give a user AccessKeys")
    return found


def read_principal(entry: object, name_member: str, place: str) -> Principal:
    if not isinstance(entry, dict):
        raise PolicyError(place, f"it is an object with {name_member}, AccessKeys and Policies")
    known = {name_member, "AccessKeys", "Policies", "Tags"}
    check_members(entry, frozenset(known), place)
    name = entry.get(name_member)
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise PolicyError(
            join(place, name_member), "it is up to 64 letters, digits and the characters +=,.@_-"
        )
    tags = entry.get("Tags", {})
    if not isinstance(tags, dict) or not all(isinstance(value, str) for value in tags.values()):
        raise PolicyError(join(place, "Tags"), 'it is an object of texts, as {"team": "shop"}')
    policies = read_policies(list_in(entry, "Policies", place), join(place, "Policies"))
    return Principal(name, policies, name_member == "RoleName", tags)


def add_keys(
    found: dict[str, AccessKey], entry: Mapping[str, Any], principal: Principal, place: str
) -> None:
    for number, key in enumerate(list_in(entry, "AccessKeys", place)):
        where = f"{place}.AccessKeys[{number}]"
        if not isinstance(key, dict):
            raise PolicyError(where, "it is an object with AccessKeyId and SecretAccessKey")
        check_members(key, frozenset({"AccessKeyId", "SecretAccessKey"}), where)
        name, secret = key.get("AccessKeyId"), key.get("SecretAccessKey")
        if not isinstance(name, str) or not KEY_ID.fullmatch(name):
            raise PolicyError(join(where, "AccessKeyId"), "it is 3 to 128 letters and digits")
        if not isinstance(secret, str) or not secret:
            raise PolicyError(join(where, "SecretAccessKey"), "it is a text that is not empty")
        if name in found:
            raise PolicyError(join(where, "AccessKeyId"), f"{name} is there twice: change one")
        found[name] = AccessKey(secret, principal)


def list_in(entry: Mapping[str, Any], name: str, place: str) -> list[Any]:
    value = entry.get(name, [])
    if not isinstance(value, list):
        raise PolicyError(join(place, name), "it is a list")
    return value
