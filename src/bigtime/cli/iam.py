"""`bigtime iam`: the least-privilege policy of a system's patterns."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from bigtime.cli.engine import refuse
from bigtime.cli.systems import SystemName, system_named


def iam(
    system: SystemName,
    pattern: Annotated[
        list[str] | None, typer.Option("--pattern", help="A pattern to allow; may be repeated.")
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option("--role", help="A role of the system to allow; may be repeated."),
    ] = None,
    region: Annotated[str, typer.Option("--region", help="The region of the tables.")] = "*",
    account: Annotated[str, typer.Option("--account", help="The account of the tables.")] = "*",
) -> None:
    """Print the IAM policy that a system's patterns need, as JSON; all of them, if none is named.

    Each pattern is run dry on sample arguments, and the policy allows the requests that it makes.
    """
    from bigtime.advisor import iam_policy
    from bigtime.model import DesignError
    from bigtime.store import SettingError

    found = system_named(system)
    try:
        made = iam_policy(
            found, patterns=pattern or (), roles=role or (), region=region, account=account
        )
    except (DesignError, SettingError) as error:
        refuse(f"{error}.", code=2)
    typer.echo(json.dumps(made, indent=2))
