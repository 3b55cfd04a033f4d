"""`bigtime search`: searches the indexes of a system, rebuilds them, and shows their state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import unescape
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column, Table

from bigtime.cli.packages import bt, searches, stores
from bigtime.cli.results import show_json
from bigtime.cli.screen import plain_screen, refuse, refuse_on, say
from bigtime.cli.systems import SystemName, system_named
from bigtime.cli.tables import StoreSetting, open_database

search = typer.Typer(name="search", help="Search and rebuild the search indexes of a system.")

SearchSetting = Annotated[
    str | None,
    typer.Option(
        "--search",
        metavar="SETTING",
        envvar="BIGTIME_SEARCH",
        help="Where the indexes are: folder:PATH or the address of OpenSearch."
        "  \\[default: beside the store's file]",
    ),
]
IndexName = Annotated[
    str | None,
    typer.Option("--index", metavar="NAME", help="Which index, if the system has several."),
]


@search.command()
def find(
    system: SystemName,
    words: Annotated[list[str], typer.Argument(metavar="WORDS...", help="What to find.")],
    filters: Annotated[
        list[str] | None,
        typer.Option("--filter", metavar="FACET=VALUE", help="Only these; may be repeated."),
    ] = None,
    sort: Annotated[
        str | None,
        typer.Option(
            "--sort",
            metavar="FIELD",
            help="A field to sort by, with - before it for the highest first."
            "  \\[default: relevance]",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=1_000, help="The maximum number of results.")
    ] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
    index: IndexName = None,
    store: StoreSetting = None,
    place: SearchSetting = None,
) -> None:
    """Show what matches all the words, with counts by facet."""
    declared = declared_index(system, index)
    query = searches.Query(
        " ".join(words), chosen_filters(declared, filters or []), sort=sort, limit=limit
    )
    if sort is not None and sort.removeprefix("-") not in declared.sort:
        refuse(f"{declared.name} is sorted by {', '.join(declared.sort)}, not by {sort}.", code=2)
    with search_as_sentences():
        page = backend_of(declared, store, place).reader().find(query)
    if as_json:
        show_json(page_fields(page))
        return
    show_page(declared, page)


@search.command()
def rebuild(
    system: SystemName,
    index: IndexName = None,
    store: StoreSetting = None,
    place: SearchSetting = None,
) -> None:
    """Rebuild an index from its table; searches use the old one meanwhile."""
    declared = declared_index(system, index)
    with (
        open_database(store, system_named(system)) as database,
        search_as_sentences(),
        progress() as bar,
    ):
        task = bar.add_task(declared.name, total=None)

        def show(progress: searches.BuildProgress) -> None:
            bar.update(task, completed=progress.done, total=progress.total)

        count = searches.rebuild(database, backend_of(declared, store, place), note=show)
    say(f"{declared.name}: {count:,} documents")


@search.command()
def status(system: SystemName, store: StoreSetting = None, place: SearchSetting = None) -> None:
    """Show each index: how many documents it has, and how far behind its table it is.

    The exit code is 1 if one is missing.
    """
    table = Table("index", "state", "documents", "size", "built at", "followed up to", "behind")
    states = []
    with open_database(store, system_named(system)) as database, search_as_sentences():
        for declared in indexes_of(system):
            found = backend_of(declared, store, place).reader().status()
            states.append(found.state)
            table.add_row(declared.name, *status_cells(found, database))
    plain_screen().print(table)
    if "missing" in states:
        say("The worker of `bigtime serve` builds what is missing, or `bigtime search rebuild`.")
        raise typer.Exit(1)


def status_cells(found: searches.IndexStatus, database: stores.Store) -> list[str]:
    state = found.state
    if found.building:
        state += f", rebuilding: {found.building.done:,} of {found.building.total:,}"
    behind = ""
    if found.followed_at is not None:
        behind = f"{max(0.0, (database.clock() - found.followed_at).total_seconds()):.0f} s"
    return [
        state,
        f"{found.documents:,}",
        f"{found.bytes / 1e6:.1f} MB" if found.bytes else "",
        f"{found.built_at:%Y-%m-%d %H:%M:%S}" if found.built_at else "",
        f"{found.followed_at:%Y-%m-%d %H:%M:%S}" if found.followed_at else "",
        behind,
    ]


# Arguments


def indexes_of(system: str) -> Sequence[bt.SearchIndex]:
    found = system_named(system).searches
    if not found:
        refuse(f"{system} declares no search; give its System(searches=(...)) one.", code=2)
    return found


def declared_index(system: str, name: str | None) -> bt.SearchIndex:
    found = indexes_of(system)
    if name is None and len(found) == 1:
        return found[0]
    named = {index.name: index for index in found}
    if name not in named:
        refuse(f"Choose one of the indexes of {system} with --index: {', '.join(named)}.", code=2)
    return named[name]


def backend_of(index: bt.SearchIndex, store: str | None, place: str | None) -> searches.Backend:
    try:
        return searches.open_backend(
            place or searches.default_place(stores.describe_choice(store)), index
        )
    except ValueError as error:
        refuse(f"{str(error).rstrip('.')}.", code=2)


def chosen_filters(index: bt.SearchIndex, given: list[str]) -> dict[str, list[str]]:
    filters: dict[str, list[str]] = {}
    for each in given:
        name, is_there, value = each.partition("=")
        if not is_there or name not in index.facets:
            known = ", ".join(index.facets) or "nothing"
            refuse(f"{each!r} is no filter; {index.name} is filtered by {known}.", code=2)
        filters.setdefault(name, []).append(value)
    return filters


@contextmanager
def search_as_sentences() -> Iterator[None]:
    with refuse_on(searches.SearchUnavailable, then=" `bigtime search status` says more."):
        yield


def progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("items"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
    )


# Output


def show_page(index: bt.SearchIndex, page: searches.SearchPage) -> None:
    for word, instead in page.corrections.items():
        say(f"No {word}; showing {instead}.")
    table = Table(Column("key", no_wrap=True), *index.text)
    for hit in page.hits:
        table.add_row(hit.key, *(plain(hit.highlights.get(name, "")) for name in index.text))
    plain_screen().print(table)
    say(f"{page.total:,} found, {len(page.hits):,} shown")
    for name, counts in page.facets.items():
        if counts:
            say(f"{name}: {', '.join(f'{value} {hits:,}' for value, hits in counts)}")


def plain(html: str) -> str:
    """A highlight for a terminal, from HTML."""
    return unescape(html.replace("<mark>", "*").replace("</mark>", "*"))


def page_fields(page: searches.SearchPage) -> dict[str, Any]:
    return {
        "total": page.total,
        "items": [{"key": hit.key, "highlights": dict(hit.highlights)} for hit in page.hits],
        "facets": {name: dict(counts) for name, counts in page.facets.items()},
        "corrections": dict(page.corrections),
    }
