"""`bigtime dead-letters`: the stream records that a system's consumers could not handle.

The consumers of a system are its reactions, its search indexes, and the lake of its tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import typer
from rich.table import Table

from bigtime.cli.analytics import LakeSetting, lake_faults_as_sentences, lake_place
from bigtime.cli.consume import progress
from bigtime.cli.packages import bt, lakes, searches, stores
from bigtime.cli.screen import plain_screen, say
from bigtime.cli.search import SearchSetting, backend_of, search_as_sentences
from bigtime.cli.systems import SystemName, system_named
from bigtime.cli.tables import StoreSetting, open_database

dead_letters = typer.Typer(
    name="dead-letters",
    help="Stream records that a system's reactions, search indexes or lake could not handle.",
)


@dead_letters.command("list")
def list_letters(system: SystemName, store: StoreSetting = None) -> None:
    """List the dead letters, with the error of the last attempt."""
    wanted = system_named(system)
    with open_database(store, wanted) as database:
        found = [
            (shown, letter)
            for shown, consumer in consumers_of(wanted)
            for letter in letters_of(database, consumer)
        ]
    if not found:
        say(f"{wanted.name} has no dead letters.")
        return
    table = Table("consumer", "record", "keys", "failed at", "error")
    for shown, letter in found:
        keys = letter.record["dynamodb"].get("Keys", {})
        table.add_row(shown, letter.sequence, str(keys), letter.failed_at, letter.error)
    plain_screen().print(table)


@dead_letters.command()
def retry(
    system: SystemName,
    store: StoreSetting = None,
    search: SearchSetting = None,
    lake: LakeSetting = None,
) -> None:
    """Handle the dead letters again; exit code 1 if some fail again."""
    wanted = system_named(system)
    with open_database(store, wanted) as database:
        failed = sum(retry_reaction(database, wanted, each) for each in wanted.reactions.values())
        for index in wanted.searches:
            failed += retry_search(database, index, partial(backend_of, index, store, search))
        failed += retry_lake(database, wanted, lake)
    if failed:
        say(f"{failed} records could not be handled, and stay where they are.", error=True)
        raise typer.Exit(1)


def consumers_of(system: bt.System) -> Iterator[tuple[str, str]]:
    """The label of each consumer here, and its name."""
    yield from ((name, f"{system.name}.{name}") for name in system.reactions)
    names = [f"search.{index.name}" for index in system.searches]
    names += [f"lake.{table}" for table in lake_tables(system)]
    yield from ((name, name) for name in names)


def lake_tables(system: bt.System) -> list[str]:
    return list(dict.fromkeys(lake.table for lake in system.lakes))


def letters_of(database: stores.Store, consumer: str) -> list[stores.DeadLetter]:
    return database.run(stores.DeadLetters().of(consumer))


# Retrying: each function returns how many records failed again


def retry_reaction(database: stores.Store, system: bt.System, reaction: bt.Reaction) -> int:
    letters = letters_of(database, f"{system.name}.{reaction.name}")
    if not letters:
        return 0
    failed = 0
    with progress() as bar:
        for letter in letters:
            task = bar.add_task(f"{reaction.name} {letter.sequence}", records=0, lag=0.0)
            is_handled = retry_letter(database, reaction, letter)
            bar.update(task, records=int(is_handled))
            failed += not is_handled
    return failed


def retry_letter(database: stores.Store, reaction: bt.Reaction, letter: stores.DeadLetter) -> bool:
    """Returns whether the record could be handled; if so, it is no longer a dead letter."""
    try:
        database.run(reaction.handle(letter.record))
    except Exception as error:
        if stores.concerns_the_store(error):
            raise
        say(f"{reaction.name} cannot handle record {letter.sequence}: {error}", error=True)
        return False
    database.run(stores.DeadLetters().remove(letter))
    return True


def retry_search(
    database: stores.Store, index: bt.SearchIndex, open_backend: partial[searches.Backend]
) -> int:
    """Rebuilds the index, including the items whose records had failed."""
    name = f"search.{index.name}"
    if not letters_of(database, name):
        return 0
    with search_as_sentences():
        retried = searches.retry_dead_letters(database, open_backend())
    return tell_failures(name, retried.failures)


def retry_lake(database: stores.Store, system: bt.System, setting: str | None) -> int:
    """Writes the changes to the lake; a running worker is asked to do it instead."""
    if not any(letters_of(database, f"lake.{table}") for table in lake_tables(system)):
        return 0
    with lake_faults_as_sentences():
        place = lake_place(setting)
        with lakes.ownership(place) as is_owner:
            if not is_owner:
                place.write(lakes.RETRY, b"{}")
                say("The worker writes this lake: it retries its records in a moment.")
                return 0
            with lakes.LakeWriter(database, system.lakes, place) as writer:
                retried = writer.retry_dead_letters()
    return sum(tell_failures(name, found.failures) for name, found in retried.items())


def tell_failures(consumer: str, failures: tuple[str, ...]) -> int:
    for failure in failures:
        say(f"{consumer} cannot handle {failure}", error=True)
    return len(failures)
