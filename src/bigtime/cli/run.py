"""`bigtime run`: one access pattern, on a store."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from bigtime.cli.systems import PatternName, pattern_named, system_of
from bigtime.cli.tables import StoreSetting, open_database

if TYPE_CHECKING:
    from bigtime.model import Pattern

TYPED = {"allow_extra_args": True, "ignore_unknown_options": True}
"""A pattern's parameters are options that only the pattern knows."""


def run(
    context: typer.Context,
    pattern: PatternName,
    store: StoreSetting = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON, for another program.")
    ] = False,
) -> None:
    """Run an access pattern and print its result; its parameters are typed as options."""
    from bigtime.cli.failures import failures_as_sentences
    from bigtime.cli.parameters import check_complete, cursor_option, parse_arguments
    from bigtime.cli.results import show, show_json

    _, meant = pattern_named(pattern)
    with failures_as_sentences(system_of(pattern)):
        arguments = parse_arguments(meant, context.args)
        check_complete(meant, arguments)
    with open_database(store) as database, failures_as_sentences(system_of(pattern), store):
        result = database.run(meant(**arguments))
    if as_json:
        show_json(result)
    elif result is None and returns_nothing(meant):
        typer.echo("done")
    else:
        show(result, after=cursor_option(meant))


def returns_nothing(pattern: Pattern[..., Any]) -> bool:
    steps = inspect.signature(pattern.function, eval_str=True).return_annotation
    return get_args(steps)[-1:] == (type(None),)
