"""What verbs print: lines, sentences that end the program, bars, and screens for tables."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

WIDE = 2_000


def plain_screen(*, error: bool = False) -> Console:
    """A console that prints texts as they are; `error` is for all that is not the result."""
    return Console(stderr=error, highlight=False, markup=False)


def say(sentence: str, *, error: bool = False, style: str | None = None) -> None:
    plain_screen(error=error).print(sentence, style=style, soft_wrap=True)


def tell(lines: Iterable[str]) -> None:
    """Prints each line as it comes."""
    screen = plain_screen()
    for line in lines:
        screen.print(line, soft_wrap=True)


def refuse(sentence: str, *, code: int = 1) -> NoReturn:
    """Ends the program with a sentence for the person who typed."""
    say(sentence, error=True, style="red")
    raise typer.Exit(code)


@contextmanager
def refuse_on(*errors: type[Exception], code: int = 1, then: str = "") -> Iterator[None]:
    """Ends the program with the message of such an error; `then` is appended to it."""
    try:
        yield
    except errors as error:
        refuse(f"{error}{then}", code=code)


@contextmanager
def refuse_file_errors(what: str) -> Iterator[None]:
    """Ends the program with a sentence if a file cannot be used; `what` stands for its name."""
    try:
        yield
    except OSError as error:
        refuse(f"{error.filename or what} cannot be used: {error.strerror}.")


def screen_for_tables() -> Console:
    """A console as wide as the terminal; in a pipe, wide enough to keep a row on one line."""
    is_free = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return Console(highlight=False, markup=False, width=WIDE if is_free else None)


class RateColumn(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed or 0:,.0f}/s")


def progress() -> Progress:
    """The progress bar of a long job; disabled where nobody sees it."""
    screen = Console(highlight=False)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        RateColumn(),
        TimeRemainingColumn(),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
    )
