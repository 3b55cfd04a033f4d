"""`bigtime remind`: reminders to tenants who have not validated their addresses."""

from __future__ import annotations

from typing import Annotated

import typer

from bigtime.cli.packages import bt, site, stores
from bigtime.cli.results import failures_as_sentences
from bigtime.cli.screen import refuse
from bigtime.cli.tables import StoreSetting, open_database


def remind(
    url: Annotated[
        str,
        typer.Option(
            "--url", envvar="BIGTIME_PUBLIC_URL", help="The site's address, for the links in it."
        ),
    ],
    by: Annotated[
        str, typer.Option("--by", metavar="ADDRESS", help="Who sends them, for the record.")
    ] = "system@example.com",
    store: StoreSetting = None,
) -> None:
    """Remind the portal's tenants of the last day who have not validated their addresses.

    Each is reminded once a day at most, however often this is run. The mails are sent by the
    site's worker.
    """
    if not url.startswith(("https://", "http://")):
        refuse(f"{url!r} is no address of a site; it begins with https://.", code=2)
    with (
        open_database(store, site.SITE, makes=False) as database,
        failures_as_sentences("site", store),
    ):
        waiting, sent = remind_all(database, url.rstrip("/"), by)
    typer.echo(f"{sent:,} tenants were reminded; {waiting - sent:,} had been reminded today.")


def remind_all(store: stores.Store, url: str, by: str) -> tuple[int, int]:
    """Returns how many are waiting for a reminder, and how many were reminded now."""
    waiting = sent = 0
    position: bt.Position | None = None
    while True:
        rows, position = store.run(site.view_tenants_to_remind(after=position))
        waiting += len(rows)
        ids = [row.tenant.id for row in rows if row.reminder is None]
        sent += store.run(site.remind_tenants(ids, by=by, base_url=url))
        if position is None:
            return waiting, sent
