"""Whether a store is where an environment says its tables are."""

from __future__ import annotations

from typing import Any

from bigtime.model import Environment
from bigtime.store import SettingError, describe_choice, read_setting


def check_store(environment: Environment, setting: str | None) -> None:
    """Refuses a store on AWS in another region or account than the environment's.

    A file, an engine in memory and an endpoint have no account, and pass.
    """
    kind, place = read_setting(describe_choice(setting))
    if kind != "dynamodb":
        return
    if place not in environment.regions:
        raise SettingError(
            f"dynamodb:{place} is not where {environment.name} is: its tables are in"
            f" {' and '.join(environment.regions)}. Name one of these, or another environment."
        )
    if environment.account is None:
        return
    found = caller_account(place)
    if found != environment.account:
        raise SettingError(
            f"The credentials are for account {found}, and {environment.name} is account"
            f" {environment.account}: choose the profile or role of {environment.name}."
        )


def caller_account(region: str) -> str:
    """The account that the credentials belong to, as STS tells it."""
    from botocore.exceptions import BotoCoreError, ClientError
    from botocore.session import get_session

    try:
        client: Any = get_session().create_client("sts", region_name=region)
        account: str = client.get_caller_identity()["Account"]
    except (BotoCoreError, ClientError) as error:
        raise SettingError(f"AWS does not tell whose credentials these are: {error}") from error
    return account
