"""Paths into a field: `addresses.home`, `lines[0].count`, `("addresses", name)`.

A text is split at its dots and brackets. A tuple is taken as it is, so that the key of a map that
came from outside cannot lead anywhere else. Names are the Python names of models' fields, and the
keys of maps; the stored forms on the way tell which, and what they are called in the table.
"""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

from bigtime.model.errors import DesignError
from bigtime.model.schema.stored import ANY, Stored

Step: TypeAlias = str | int
Path: TypeAlias = str | tuple[Step, ...]

TEXT = re.compile(r"[^.\[\]]+(\.[^.\[\]]+|\[\d+\])*")
STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


class Place(NamedTuple):
    """Where a path leads in the stored item, and how values there are stored."""

    steps: tuple[Step, ...]
    form: Stored


def split(path: Path) -> tuple[Step, ...]:
    """The steps of a path; the first is a field."""
    if isinstance(path, tuple):
        if not path or not isinstance(path[0], str):
            raise DesignError(f"{path!r} is no path; it begins with the name of a field")
        return path
    if not TEXT.fullmatch(path):
        raise DesignError(f"{path!r} is no path; write it as in addresses.home or lines[0].count")
    return tuple(name or int(place) for name, place in STEP.findall(path))


def follow(form: Stored, step: Step) -> tuple[Step, Stored]:
    """One step into a value: what it is called there, and the form of what it leads to."""
    if form.members is not None:
        if step in form.members:
            return form.members[str(step)]
        raise DesignError(f"there is no {step!r}; there are {', '.join(form.members)}")
    if form.tag == "":
        return step, ANY
    wanted = {"M": str, "L": int}.get(form.tag)
    if wanted is None or not isinstance(step, wanted) or form.element is None:
        raise DesignError(f"{step!r} leads nowhere: what it should lead into is of type {form.tag}")
    return step, form.element
