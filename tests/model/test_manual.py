"""The manual of the kit explains every name of the kit and the store that a program may need."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import bigtime.model
import bigtime.store

ROOT = Path(__file__).parents[2]
MANUAL = (ROOT / "docs" / "model.md").read_text()
CODE = re.compile(r"^```python\n.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def needed_elsewhere(package: ModuleType) -> Iterator[str]:
    """What another package of Bigtime takes from this one: it is shown for their sake."""
    for module, nodes in naming_nodes().items():
        if not module.is_relative_to(Path(package.__path__[0])):
            yield from imported_names(nodes, package)
            yield from qualified_names(nodes, package)


@cache
def naming_nodes() -> dict[Path, list[ast.AST]]:
    """The imports and the names after a dot of each module."""
    return {
        module: [
            node
            for node in ast.walk(ast.parse(module.read_text()))
            if isinstance(node, (ast.ImportFrom, ast.Attribute))
        ]
        for module in (ROOT / "src" / "bigtime").glob("*/**/*.py")
    }


def imported_names(nodes: list[ast.AST], package: ModuleType) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == package.__name__:
            yield from (alias.name for alias in node.names)


def qualified_names(nodes: list[ast.AST], package: ModuleType) -> Iterator[str]:
    """As in `from bigtime import model as bt` and `bt.get`."""
    parent, _, leaf = package.__name__.rpartition(".")
    called = {
        alias.asname or alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module == parent
        for alias in node.names
        if alias.name == leaf
    }
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id in called:
                yield node.attr


@pytest.mark.parametrize("package", [bigtime.model, bigtime.store], ids=["model", "store"])
def test_every_name_that_a_program_may_need_is_explained(package: ModuleType) -> None:
    code = " ".join(CODE.findall(MANUAL))
    unexplained = {name for name in package.__all__ if not re.search(rf"\b{name}\b", code)}
    assert unexplained - set(needed_elsewhere(package)) == set()


def test_the_manual_begins_with_one_import_of_bigtime() -> None:
    assert re.findall(r"^(?:import|from) bigtime.*", MANUAL, re.MULTILINE)[:1] == [
        "import bigtime as bt"
    ]
