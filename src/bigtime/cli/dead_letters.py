"""`bigtime dead-letters`: the stream records that a system's reactions could not handle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table

from bigtime.cli.consume import chosen_reactions, progress, say
from bigtime.cli.systems import SystemName, system_named
from bigtime.cli.tables import StoreSetting, open_database

if TYPE_CHECKING:
    from bigtime.model import Reaction, System
    from bigtime.store import DeadLetter, Store

dead_letters = typer.Typer(
    name="dead-letters",
    help="Stream records that a system's reactions could not handle.",
    no_args_is_help=True,
)


@dead_letters.command("list")
def list_letters(system: SystemName, store: StoreSetting = None) -> None:
    """Show the records that were set aside, and the error of the last attempt."""
    wanted = system_named(system)
    with open_database(store) as database:
        found = list(letters_of(database, wanted))
    if not found:
        say(f"{wanted.name} has no dead letters.", error=False)
        return
    table = Table("reaction", "record", "keys", "failed at", "error")
    for reaction, letter in found:
        keys = letter.record["dynamodb"].get("Keys", {})
        table.add_row(reaction.name, letter.sequence, str(keys), letter.failed_at, letter.error)
    Console(highlight=False, markup=False).print(table)


@dead_letters.command()
def retry(system: SystemName, store: StoreSetting = None) -> None:
    """Handle the records that were set aside again; exit code 1 if some fail again."""
    wanted = system_named(system)
    failed = 0
    with open_database(store) as database, progress() as bar:
        for reaction, letter in list(letters_of(database, wanted)):
            task = bar.add_task(f"{reaction.name} {letter.sequence}", records=0, lag=0.0)
            handled = retry_letter(database, reaction, letter)
            bar.update(task, records=int(handled))
            failed += not handled
    if failed:
        say(f"{failed} records could not be handled, and stay where they are.")
        raise typer.Exit(1)


def letters_of(database: Store, system: System) -> Iterator[tuple[Reaction, DeadLetter]]:
    from bigtime.store import DeadLetters
    from bigtime.wire import ResourceNotFoundException

    for reaction in chosen_reactions(system, []):
        try:
            found = database.run(DeadLetters().of(f"{system.name}.{reaction.name}"))
        except ResourceNotFoundException:  # no consumer has run yet
            return
        yield from ((reaction, letter) for letter in found)


def retry_letter(database: Store, reaction: Reaction, letter: DeadLetter) -> bool:
    """Whether the record could be handled; then it is no longer a dead letter."""
    from bigtime.store import DeadLetters, concerns_the_store

    try:
        database.run(reaction.handle(letter.record))
    except Exception as error:
        if concerns_the_store(error):
            raise
        say(f"{reaction.name} cannot handle record {letter.sequence}: {error}")
        return False
    database.run(DeadLetters().remove(letter))
    return True
