"""Packages that only a part of Bigtime needs, and the sentence where one is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class MissingExtra(ImportError):
    """A package of an extra is not installed; the message has the line that installs it."""


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Imports packages of that extra: `with extra("aws"): import boto3`."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package == __package__:  # a mistake of Bigtime's own, which no extra would mend
            raise
        sentence = (
            f'{package} is not installed; install the extra [{name}]: pip install "bigtime[{name}]"'
        )
        raise MissingExtra(sentence, name=error.name) from error
