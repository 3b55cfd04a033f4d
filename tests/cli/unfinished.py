"""The small system of orders, with demo data that never comes to an end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from itertools import islice
from random import Random
from threading import Event

from bigtime.model import UNTIL, Demo, Entity, Scale
from tests.cli import orders


def entities(scale: Scale, random: Random, until: datetime = UNTIL) -> Iterator[Entity]:
    """A tenth of what is promised; for the rest one waits until a signal comes."""
    yield from islice(orders.entities(scale, random, until), orders.COUNTS[scale] // 10)
    Event().wait()


SYSTEM = replace(orders.SYSTEM, demo=Demo(entities, lambda scale: orders.COUNTS[scale]))
