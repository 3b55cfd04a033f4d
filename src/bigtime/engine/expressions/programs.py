"""Compiled expressions, kept for the next request with the same text.

Texts repeat and values change. A text is parsed once; its tree, with its names, is checked and
compiled once for each combination of types that its values have; what is left for each request
is to bind its values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from bigtime.engine.expressions.check import check_condition, check_update, depends_on_contents
from bigtime.engine.expressions.condition import ConditionProgram, Values, compile_condition
from bigtime.engine.expressions.key_condition import KeyProgram, compile_key_condition
from bigtime.engine.expressions.parser import LONGEST_CACHED_TEXT, Parsed
from bigtime.engine.expressions.paths import Names, check_overlaps, resolve
from bigtime.engine.expressions.projection import Projection, projection
from bigtime.engine.expressions.tree import Action, Condition, Path
from bigtime.engine.expressions.update import UpdateProgram, compile_update

Program = TypeVar("Program")
Tree = TypeVar("Tree")

CACHED_PROGRAMS = 1024


@dataclass(slots=True)
class Programs(Generic[Tree, Program]):
    """One kind of expression, by text, names and types of values: all that a check depends on.

    A few checks look into the values too; where a tree needs one, every request is checked.
    """

    check: Callable[[Tree, Names, Values], None]
    build: Callable[[Tree, Names], Program]
    depends_on_contents: Callable[[Tree], bool]
    cache: dict[object, tuple[Program, bool]] = field(default_factory=dict)

    def program(
        self,
        text: str,
        parsed: Parsed[Tree],
        names: Names,
        values: Values,
    ) -> Program:
        key = (
            text,
            tuple([names.get(alias, "") for alias in parsed.aliases]),
            tuple([next(iter(values.get(name, ())), None) for name in parsed.values]),
        )
        found = self.cache.get(key)
        if found is None:
            found = self.compiled(parsed.tree, names, values)
            self.remember(key, found)
        elif found[1]:
            self.check(parsed.tree, names, values)
        return found[0]

    def compiled(self, tree: Tree, names: Names, values: Values) -> tuple[Program, bool]:
        self.check(tree, names, values)
        return self.build(tree, names), self.depends_on_contents(tree)

    def remember(
        self, key: tuple[str, tuple[str, ...], object], found: tuple[Program, bool]
    ) -> None:
        text, names, _ = key
        if len(text) + sum(map(len, names)) > LONGEST_CACHED_TEXT:
            return
        if len(self.cache) >= CACHED_PROGRAMS:
            self.cache.clear()
        self.cache[key] = found


def check_projection(paths: tuple[Path, ...], names: Names, values: object) -> None:
    check_overlaps([resolve(path, names) for path in paths])


def build_projection(paths: tuple[Path, ...], names: Names) -> Projection:
    return projection([resolve(path, names) for path in paths])


def never(tree: object) -> bool:
    return False


CONDITIONS: Programs[Condition, ConditionProgram] = Programs(
    check_condition, compile_condition, depends_on_contents
)
KEY_CONDITIONS: Programs[Condition, KeyProgram] = Programs(
    check_condition, compile_key_condition, depends_on_contents
)
UPDATES: Programs[tuple[Action, ...], UpdateProgram] = Programs(check_update, compile_update, never)
PROJECTIONS: Programs[tuple[Path, ...], Projection] = Programs(
    check_projection, build_projection, never
)
