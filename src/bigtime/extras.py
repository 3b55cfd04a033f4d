"""Packages that only a part of Bigtime needs, and the error if one is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class MissingExtra(ImportError):
    """A package of an extra is not installed; the message has the command that installs it."""


@contextmanager
def extra(name: str) -> Iterator[None]:
    """For importing packages of that extra: `with extra("aws"): import boto3`."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package == __package__:  # a bug in Bigtime itself, which no extra would fix
            raise
        sentence = (
            f'{package} is not installed; install the extra [{name}]: pip install "bigtime[{name}]"'
        )
        raise MissingExtra(sentence, name=error.name) from error
