"""`bigtime archive`: copies of records that were deleted long ago, to a folder or to S3."""

from __future__ import annotations

from typing import Annotated

import typer

from bigtime.cli.packages import formats, ops
from bigtime.cli.results import failures_as_sentences
from bigtime.cli.screen import refuse
from bigtime.cli.systems import EnvironmentName, SystemName, in_environment, system_named
from bigtime.cli.tables import StoreSetting, open_database


def archive(
    system: SystemName,
    out: Annotated[
        str, typer.Option("--out", metavar="DIR", help="Its folder, or s3://BUCKET/FOLDER.")
    ],
    older_than: Annotated[
        str,
        typer.Option(
            "--older-than", metavar="AGE", help="The time since their last change: 7y, 90d."
        ),
    ] = "7y",
    anonymise: Annotated[
        str | None,
        typer.Option(
            "--anonymise",
            metavar="REASON",
            help="Also anonymise what is archived, permanently; the reason for the audit log.",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="ADDRESS", help="Who anonymises: an e-mail address."),
    ] = None,
    store: StoreSetting = None,
    environment: EnvironmentName = None,
) -> None:
    """Copy records that were deleted long ago, with all that belongs to them, to a folder.

    The records stay where they are, unless they are to be anonymised. Run it again to go on after
    an interruption, or to add what has grown old since; nothing is archived twice.
    """
    found = system_named(system)
    in_environment(found, environment, store)
    if (anonymise is None) != (by is None):
        refuse("--anonymise and --by belong together: a reason, and who does it.", code=2)
    with open_database(store, makes=False) as database, failures_as_sentences(system, store):
        try:
            before = ops.moment_before(older_than, database.clock())
            ops.retention_of(found)
            kept = ops.open_archive(out, found)
            added = ops.archive_records(database, found, kept, before)
            typer.echo(
                f"{added:,} records were archived in {out}; it holds {len(kept.records):,},"
                f" in {len(kept.files):,} files."
            )
            if anonymise is not None and by is not None:
                done, left = ops.anonymise_archived(database, found, kept, anonymise, by)
                typer.echo(f"{done:,} were anonymised; {left:,} have changed since, and were not.")
        except ops.CannotArchive as error:
            refuse(f"{error}.", code=2)
        except formats.PlaceFault as error:
            refuse(str(error))
        except OSError as error:
            refuse(f"{error.filename or out} cannot be written: {error.strerror}.")
