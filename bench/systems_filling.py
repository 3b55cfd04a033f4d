"""Tables of a system, filled with entities as they are generated, without keeping any in memory."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import TypeVar

from rich.console import Console
from rich.progress import track

from bench.figure import NotHere
from bigtime.model import Entity, Scale, System, load_many, setup
from bigtime.store import Store

CHUNK = 100

E = TypeVar("E", bound=Entity)


def demo_of(system: System, entity: type[E], count: int) -> Iterator[E]:
    """The first `count` of an entity in the system's large demo data."""
    assert system.demo is not None
    made = system.demo.entities(Scale.LARGE, Random(1))
    return islice((each for each in made if isinstance(each, entity)), count)


def check_room(folder: Path, entities: int, bytes_each: int) -> None:
    need, free = entities * bytes_each, shutil.disk_usage(folder).free
    if free < 2 * need:
        raise NotHere(f"the files want {2 * need >> 20:,} MB of disk and there are {free >> 20:,}")


def fill(
    store: Store, system: System, entities: Iterable[Entity], count: int, screen: Console
) -> None:
    """Creates the system's tables and writes so many entities."""
    store.run(setup(system))
    chunks = track(
        in_chunks(entities),
        f"writing {count:,} items",
        total=-(-count // CHUNK),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
    )
    for chunk in chunks:
        store.run(load_many(chunk))


def in_chunks(entities: Iterable[Entity]) -> Iterator[list[Entity]]:
    following = iter(entities)
    while chunk := list(islice(following, CHUNK)):
        yield chunk
