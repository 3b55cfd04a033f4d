"""Expression trees from a seed: conditions, updates and projections over a design's attributes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from tests.reference import trees as t
from tests.reference import universe
from tests.reference.designs import ATTRIBUTE_TYPES, Design, Index
from tests.reference.universe import FAVOURED, FREE_NAMES, MEMBER_NAMES

COMPARATORS = ("=", "=", "<>", "<", "<=", ">", ">=")
LEAVES = (
    "compare", "compare", "compare", "size", "between", "one_of", "exists", "missing", "is_of_type",
    "begins_with", "contains",
)  # fmt: skip


@dataclass
class Conditions:
    dice: Random
    design: Design
    size: int
    readable: tuple[str, ...] | None = None
    """The attributes that may be named; all, when not said."""

    def within(self, index: Index | None, *, without_keys: bool = False) -> Conditions:
        """Only what an index projects; without the keys of what is queried."""
        names = self.names()
        if index is not None and index.projection != "ALL":
            shown = {*self.design.keys, *index.keys, *index.included}
            names = tuple(name for name in names if name in shown)
        if without_keys:
            keys = self.design.keys if index is None else index.keys
            names = tuple(name for name in names if name not in keys)
        return replace(self, readable=names)

    def names(self) -> tuple[str, ...]:
        if self.readable is not None:
            return self.readable
        return (*FREE_NAMES, *self.design.keys, *self.design.index_keys)

    def chance(self, probability: float) -> bool:
        return self.dice.random() < probability

    def path(self, names: tuple[str, ...] | None = None) -> t.Path:
        """Key attributes are scalars: a path below one would be refused."""
        root = self.dice.choice(self.names() if names is None else names)
        steps: list[str | int] = [root]
        while root in FREE_NAMES and len(steps) <= self.size and self.goes_on(steps):
            steps.append(self.step(FAVOURED[root] if len(steps) == 1 else None))
        return t.Path(tuple(steps))

    def goes_on(self, steps: list[str | int]) -> bool:
        """Deeper mostly where there is a depth."""
        may_have_members = len(steps) == 1 and FAVOURED[str(steps[0])] in ("L", "M")
        return self.chance(0.4 if may_have_members else 0.08)

    def step(self, kind: str | None) -> str | int:
        positions: tuple[str | int, ...] = (0, 0, 1, 1, 2, 7)
        if kind in ("L", "M") and self.chance(0.8):
            return self.dice.choice(positions if kind == "L" else MEMBER_NAMES)
        return self.dice.choice((*positions, *MEMBER_NAMES))

    def literal(self, *kinds: str) -> t.Literal:
        if not kinds:
            return t.Literal(universe.value(self.dice, self.size))
        return t.Literal(universe.value_of(self.dice, self.dice.choice(kinds), self.size))

    def scalar(self) -> t.Operand:
        """What an ordered comparison takes; now and then what it refuses."""
        if self.chance(0.15):
            return self.path()
        return self.literal() if self.chance(0.05) else self.literal("S", "N", "N", "B")

    def condition(self, depth: int | None = None) -> t.Condition:
        depth = self.size if depth is None else depth
        if depth == 0 or self.chance(0.5):
            return self.leaf()
        kind = self.dice.choice(("and", "or", "not"))
        if kind == "not":
            return t.Not(self.condition(depth - 1))
        joined = t.And if kind == "and" else t.Or
        return joined(self.condition(depth - 1), self.condition(depth - 1))

    def leaf(self) -> t.Condition:
        kind = self.dice.choice(LEAVES)
        match kind:
            case "compare":
                return self.comparison()
            case "size":
                number = t.Literal({"N": self.dice.choice(("0", "1", "2", "3.0"))})
                return t.Compare(self.dice.choice(COMPARATORS), t.SizeOf(self.path()), number)
            case "between":
                return t.Between(self.path(), self.scalar(), self.scalar())
            case "one_of":
                options = [self.operand() for _ in range(self.dice.randint(1, 3))]
                return t.OneOf(self.path(), tuple(options))
            case _:
                return self.function(kind)

    def operand(self) -> t.Operand:
        return self.path() if self.chance(0.2) else self.literal()

    def comparison(self) -> t.Compare:
        operator = self.dice.choice(COMPARATORS)
        left = self.path()
        right = self.operand() if operator in ("=", "<>") else self.scalar()
        if len(left.steps) == 1 and self.chance(0.5):
            right = self.like(left.root)
        if self.chance(0.1):
            return t.Compare(operator, right, left)
        return t.Compare(operator, left, right)

    def like(self, name: str) -> t.Literal:
        """A value that this attribute may well have."""
        if name in FAVOURED:
            kind = FAVOURED[name]
            return self.literal(kind if kind in ("S", "N") else "B")
        return t.Literal(universe.key_value(self.dice, self.design, name))

    def function(self, kind: str) -> t.Condition:
        path = self.path()
        match kind:
            case "exists":
                return t.Exists(path)
            case "missing":
                return t.Missing(path)
            case "is_of_type":
                return t.IsOfType(path, self.dice.choice(universe.TYPES))
            case "begins_with":
                return t.BeginsWith(path, self.literal("S", "B"))
            case _:
                member = self.literal("S", "N", "B", "BOOL", "NULL")
                return t.Contains(path, self.path() if self.chance(0.2) else member)

    def projection(self) -> t.Projection:
        return tuple(self.path() for _ in range(self.dice.randint(1, 3)))

    def actions(self) -> t.Update:
        count = 1 + self.dice.choice((0, 0, 1, 2)[: self.size + 1])
        made = [self.indexed_action() if self.chance(0.25) else self.free() for _ in range(count)]
        if self.size > 1 and self.chance(0.25):
            made = self.surgery()
        return tuple(sorted(made, key=lambda action: type(action).__name__))

    def surgery(self) -> list[t.Action]:
        """Several actions on the elements of one list, whose positions must not shift."""
        name = self.dice.choice(("b", "f-1"))
        positions = self.dice.sample((0, 1, 2, 3, 7), self.dice.randint(2, 3))
        makes = (t.Remove, t.Remove, lambda path: t.Set(path, self.literal()))
        return [self.dice.choice(makes)(t.Path((name, position))) for position in positions]

    def indexed_action(self) -> t.Action:
        """An action on a key of an index, of the right type as far as can be seen."""
        if not self.design.index_keys:
            return self.free()
        name = self.dice.choice(self.design.index_keys)
        path = t.Path((name,))
        match self.dice.choice(("set", "set", "set", "copy", "remove", "add")):
            case "set":
                return t.Set(path, t.Literal(universe.key_value(self.dice, self.design, name)))
            case "copy":
                return t.Set(path, self.path())
            case "add" if ATTRIBUTE_TYPES[name] == "N":
                return t.Add(path, t.Literal({"N": self.dice.choice(("1", "-1.5", "0"))}))
            case _:
                return t.Remove(path)

    def free(self) -> t.Action:
        match self.dice.choice(("set", "set", "set", "remove", "add", "delete")):
            case "set":
                return t.Set(self.path(FREE_NAMES), self.assigned_value())
            case "remove":
                return t.Remove(self.path(FREE_NAMES))
            case "add":
                path = self.path(self.fitting("N", "NS"))
                return t.Add(path, self.fit(path, "N", "NS", "SS"))
            case _:
                path = self.path(self.fitting("NS"))
                return t.DeleteFrom(path, self.fit(path, "NS", "SS", "BS"))

    def fitting(self, *kinds: str) -> tuple[str, ...]:
        """Mostly the attributes that are mostly of these types."""
        names = tuple(name for name in FREE_NAMES if FAVOURED[name] in kinds)
        return names if self.chance(0.7) else FREE_NAMES

    def fit(self, path: t.Path, *kinds: str) -> t.Literal:
        """A literal for ADD or DELETE: of the type that the attribute mostly has, or another."""
        favoured = FAVOURED[path.root]
        if favoured in kinds and self.chance(0.8):
            return self.literal(favoured)
        return self.literal() if self.chance(0.1) else self.literal(*kinds)

    def assigned_value(self) -> t.Assigned:
        match self.dice.choice(("literal", "literal", "term", "sum", "sum", "append")):
            case "literal":
                return self.literal()
            case "sum":
                operator = self.dice.choice(("+", "-"))
                return t.Arithmetic(operator, self.term("N"), self.term("N"))
            case "append":
                return t.Append(self.term("L"), self.term("L"))
            case _:
                return self.term(self.dice.choice(universe.TYPES))

    def term(self, kind: str) -> t.Term:
        """Something that is, or may be, of this type."""
        match self.dice.choice(("literal", "literal", "path", "if missing", "if missing")):
            case "literal":
                return self.literal() if self.chance(0.03) else self.literal(kind)
            case "path":
                return self.path(self.fitting(kind) or None)
            case _:
                return t.IfMissing(self.path(self.fitting(kind) or None), self.literal(kind))
