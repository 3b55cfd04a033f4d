"""Whatever is in a source, it is imported, or refused with a place; nothing else is raised."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest

from bigtime.advisor import CannotImport, import_schema, import_workbench
from tests.advisor.imports.imported import CART, SCHEMA, import_model, load, table, templates

ODD: list[Any] = [
    *(None, 1, 1.5, True, "", "x", "a#b", "{x}", "{", "#", "N", [], {}, [1], ["a"], {"a": 1}),
    *({"S": "x"}, {"S": 1}, [{}], [[]], -1, "\u2028", "main", "é"),
]
EACH = 40


def places_in(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for step, member in inner:
        yield (*place, step)
        if isinstance(member, dict | list):
            yield from places_in(member, (*place, step))


def spoil(source: Any, random: Random) -> Any:
    """The source with a few members removed, doubled or replaced by something odd."""
    spoilt = deepcopy(source)
    for _ in range(random.randint(1, 3)):
        *path, last = random.choice(list(places_in(spoilt)))
        inner = spoilt
        for step in path:
            inner = inner[step]
        kind = random.random()
        if kind < 0.3:
            del inner[last]
        elif kind < 0.4 and isinstance(inner, list):
            inner.append(deepcopy(inner[last]))
        else:
            inner[last] = deepcopy(random.choice(ODD))
    return spoilt


@pytest.mark.parametrize(("source", "read"), [(CART, import_workbench), (SCHEMA, import_schema)])
def test_a_spoilt_source_is_imported_or_refused(source: Path, read: Any, tmp_path: Path) -> None:
    whole, path = json.loads(source.read_text()), tmp_path / source.name
    refusals: list[str] = []
    for seed in range(EACH):
        path.write_text(json.dumps(spoil(whole, Random(seed))))
        try:
            compile(read(path).text, source.name, "exec")
        except CannotImport as error:
            refusals.append(str(error))
    assert 0 < len(refusals) < EACH
    assert all(each.startswith(str(path)) and "; " in each for each in refusals)


def test_keys_that_begin_with_values_are_one_kind(tmp_path: Path) -> None:
    names = ("ann", "bob", "cy", "dan", "eve", "fay", "guy", "hal", "ian", "jo", "kim")
    rows = [{"PK": f"{name}#{number}", "SK": "v"} for number, name in enumerate(names)]
    system = load(import_model(tmp_path, table(rows=rows)), tmp_path).SYSTEM
    assert templates(system) == {("Shop", "main"): ("{pk_part}#{pk_part_2}", "v")}


def test_two_kinds_of_one_name_are_told_apart_by_both_halves(tmp_path: Path) -> None:
    rows = [{"PK": "USER#1", "SK": "ORDER#1"}, {"PK": "SHOP#1", "SK": "ORDER#1"}]
    system = load(import_model(tmp_path, table(rows=rows)), tmp_path).SYSTEM
    assert [entity.__name__ for entity in system.entities] == ["Order", "ShopOrder"]
