"""A system with a pattern that raises an error of its own."""

from __future__ import annotations

import sys

from bigtime.model import Entity, Keys, Steps, System, Table, get, pattern

TABLE = Table("Broken", "PK")


class Thing(Entity, table=TABLE):
    keys = Keys(main="THING#{name}")
    name: str


@pattern("Divide", index="Main table")
def divide(name: str) -> Steps[float]:
    yield from get(Thing.key(name))
    return 1 / 0


SYSTEM = System("broken", (TABLE,), (sys.modules[__name__],))
