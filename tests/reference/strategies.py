"""Operations from a seed, and runs of them from Hypothesis.

Hypothesis chooses a list of `Seed`s; a seed makes its operation with an ordinary `Random`. One
choice per operation keeps thousands of operations a minute possible, and still shrinks well: runs
lose operations, and operations lose parts as their `size` goes down.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from random import Random
from typing import Any, TypeAlias, TypeVar

from hypothesis import strategies as st

from bigtime.wire import Item
from tests.reference import operations as o
from tests.reference import statements as s
from tests.reference import trees as t
from tests.reference import universe
from tests.reference.conditions import Conditions
from tests.reference.designs import ATTRIBUTE_TYPES, DESIGNS, Design, Index
from tests.reference.expression_faults import expression_faults, value_faults
from tests.reference.key_faults import key_faults, other_faults
from tests.reference.printing import Style
from tests.reference.read_faults import read_faults
from tests.reference.values import decode_item

FAULTS = (*key_faults(), *other_faults(), *value_faults(), *expression_faults(), *read_faults())
FAULTY = 0.15
WEIGHTS = {
    "put": 6,
    "update": 7,
    "delete": 2,
    "get": 2,
    "query": 5,
    "scan": 2,
    "batch_get": 1,
    "batch_write": 2,
    "transact_get": 1,
    "transact_write": 3,
    "replay": 1,
    "statement": 6,
    "batch_statement": 2,
    "transact_statement": 2,
}
STATEMENTS = ("statement", "batch_statement", "transact_statement")
KINDS = tuple(kind for kind, weight in WEIGHTS.items() for _ in range(weight))
SORT_OPERATORS = ("=", "<", "<=", ">", ">=", "BETWEEN", "begins_with")

CallT = TypeVar("CallT", bound=o.Call)
Step: TypeAlias = o.Operation | o.Replay | s.Spoken


@dataclass(frozen=True)
class Seed:
    kind: str
    size: int
    number: int

    def operation(self, designs: tuple[Design, ...]) -> Step:
        maker = Maker(Random(f"{self.kind}{self.number}"), designs, self.size)
        make: Callable[[], Step] = getattr(maker, self.kind)
        return make()


@dataclass(frozen=True)
class Plan:
    """One run: two tables, and what is done to them."""

    designs: tuple[Design, ...]
    seeds: tuple[Seed, ...]

    def operations(self) -> list[Step]:
        return [seed.operation(self.designs) for seed in self.seeds]


def plans(
    designs: tuple[Design, ...] = DESIGNS, kinds: tuple[str, ...] = KINDS, longest: int = 100
) -> st.SearchStrategy[Plan]:
    sizes, numbers = st.integers(0, 3), st.integers(0, 2**32 - 1)
    stock = st.lists(st.builds(Seed, st.just("stock"), sizes, numbers), max_size=2)
    seed = st.builds(Seed, st.sampled_from(kinds), sizes, numbers)
    seeds = st.integers(1, longest).flatmap(lambda n: st.lists(seed, min_size=n, max_size=n))
    pairs = st.sampled_from(tuple(combinations(designs, 2)))
    return st.builds(lambda pair, first, rest: Plan(pair, (*first, *rest)), pairs, stock, seeds)


@dataclass
class Maker:
    dice: Random
    designs: tuple[Design, ...]
    size: int

    def design(self) -> Design:
        return self.dice.choice(self.designs)

    def chance(self, probability: float) -> bool:
        return self.dice.random() < probability

    def style(self) -> Style:
        choose = self.dice.choice
        placeholders, lower_case = choose((True, False)), choose((True, False))
        return Style(placeholders, lower_case, choose((" ", "", "\n\t")), self.chance(0.2))

    def conditions(self, design: Design) -> Conditions:
        return Conditions(self.dice, design, self.size)

    def spoil_at_times(self, call: CallT) -> CallT:
        """Now and then, one mistake."""
        if not self.chance(FAULTY):
            return call
        plain = replace(call, style=replace(call.style, legacy=False))
        name, params, design = call.name(), plain.params(), call.main_design()
        fitting = [f for f in FAULTS if name in f.operations and f.fits(params, design)]
        names = sorted({fault.name for fault in fitting})
        if not names:
            return call
        chosen = self.dice.choice(names)
        fault = next(fault for fault in fitting if fault.name == chosen)
        return replace(call, fault=fault, style=replace(call.style, legacy=False))

    def put(self) -> o.Put:
        return self.spoil_at_times(self.put_of(self.design(), ("NONE", "ALL_OLD", None)))

    def put_of(self, design: Design, returns: tuple[str | None, ...]) -> o.Put:
        item = universe.item(self.dice, design, self.size)
        return o.Put(item=item, **self.write_options(design, returns))

    def delete(self) -> o.Delete:
        return self.spoil_at_times(self.delete_of(self.design(), ("NONE", "ALL_OLD", None)))

    def delete_of(self, design: Design, returns: tuple[str | None, ...]) -> o.Delete:
        return o.Delete(key=universe.key(self.dice, design), **self.write_options(design, returns))

    def update(self) -> o.Update:
        kinds = (None, "NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW")
        made = self.update_of(self.design(), kinds)
        return self.spoil_at_times(replace(made, actions=()) if self.chance(0.05) else made)

    def update_of(self, design: Design, returns: tuple[str | None, ...]) -> o.Update:
        actions = self.conditions(design).actions()
        key = universe.key(self.dice, design)
        return o.Update(key=key, actions=actions, **self.write_options(design, returns))

    def check_of(self, design: Design) -> o.Check:
        condition = self.conditions(design).condition()
        given = self.write_options(design, (None,)) | {"condition": condition}
        return o.Check(key=universe.key(self.dice, design), **given)

    def write_options(self, design: Design, returns: tuple[str | None, ...]) -> dict[str, Any]:
        return {
            "design": design,
            "style": self.style(),
            "condition": self.conditions(design).condition() if self.chance(0.3) else None,
            "returns": self.dice.choice(returns),
            "returns_on_failure": self.dice.choice((None, "NONE", "ALL_OLD")),
        }

    def get(self) -> o.Get:
        return self.spoil_at_times(
            self.get_of(self.design(), self.dice.choice((None, True, False)))
        )

    def get_of(self, design: Design, consistent: bool | None) -> o.Get:
        return o.Get(
            design=design,
            style=self.style(),
            key=universe.key(self.dice, design),
            projection=self.conditions(design).projection() if self.chance(0.4) else (),
            consistent=consistent,
        )

    def query(self) -> o.Query:
        design = self.design()
        index = self.dice.choice((None, *design.indexes))
        keys = self.key_condition(design, index)
        read = self.read(design, index, in_query=True)
        start = universe.key(self.dice, design) if index is None and len(keys) == 1 else None
        if start is not None:
            start[design.partition] = keys[0].values[0]
        return self.spoil_at_times(
            o.Query(
                keys=keys,
                forward=self.dice.choice((None, True, False)),
                start=start if design.sort and self.chance(0.2) else None,
                **read,
            )
        )

    def scan(self) -> o.Scan:
        design = self.design()
        index = self.dice.choice((None, *design.indexes))
        segments = self.dice.choice((None, None, 1, 2, 4))
        return self.spoil_at_times(
            o.Scan(segments=segments, **self.read(design, index, in_query=False))
        )

    def read(self, design: Design, index: Index | None, *, in_query: bool) -> dict[str, Any]:
        makes = self.conditions(design).within(index, without_keys=in_query)
        shows = self.conditions(design).within(index if index and index.is_global else None)
        projection = shows.projection() if self.chance(0.3) else ()
        strong = index is None or not index.is_global
        return {
            "design": design,
            "style": self.style(),
            "index": index and index.name,
            "filter": makes.condition() if makes.names() and self.chance(0.35) else None,
            "projection": projection,
            "select": self.dice.choice(selections(index, bool(projection))),
            "limit": self.dice.choice((None, None, 1, 2, 3, 5)),
            "consistent": self.dice.choice((None, True, False)) if strong else None,
        }

    def key_condition(self, design: Design, index: Index | None) -> tuple[t.KeyTest, ...]:
        """Each partition attribute by `=`; sort attributes from the left, the last by anything."""
        partition = index.partition if index else (design.partition,)
        sort = index.sort if index else design.keys[1:]
        tests = [self.key_test(design, name, "=") for name in partition]
        used = self.dice.randint(0, len(sort))
        for place, name in enumerate(sort[:used]):
            last = place == used - 1
            tests.append(self.key_test(design, name, self.sort_operator(name) if last else "="))
        self.dice.shuffle(tests)
        return tuple(tests)

    def sort_operator(self, name: str) -> str:
        usable = SORT_OPERATORS[:-1] if ATTRIBUTE_TYPES[name] == "N" else SORT_OPERATORS
        return self.dice.choice(usable)

    def key_test(self, design: Design, name: str, operator: str) -> t.KeyTest:
        count = 2 if operator == "BETWEEN" else 1
        values = [universe.key_value(self.dice, design, name) for _ in range(count)]
        return t.KeyTest(name, operator, tuple(values))

    def batch_get(self) -> o.BatchGet:
        gets = [self.get_of(self.design(), None) for _ in range(self.dice.randint(1, 5))]
        return self.spoil_at_times(o.BatchGet(gets=tuple(distinct(gets))))

    def batch_write(self) -> o.BatchWrite:
        writes: list[o.Put | o.Delete] = []
        for _ in range(self.dice.randint(1, 6)):
            design = self.design()
            made = self.put_of if self.chance(0.75) else self.delete_of
            writes.append(made(design, (None,)))
        plain = [replace(write, condition=None) for write in distinct(writes)]
        return self.spoil_at_times(o.BatchWrite(writes=tuple(plain)))

    def stock(self) -> o.BatchWrite:
        """A shelf full of items for the operations that follow."""
        puts = [self.put_of(self.design(), (None,)) for _ in range(20)]
        return o.BatchWrite(writes=tuple(replace(put, condition=None) for put in distinct(puts)))

    def transact_get(self) -> o.TransactGet:
        gets = [self.get_of(self.design(), None) for _ in range(self.dice.randint(1, 4))]
        modern = [replace(get, style=replace(get.style, legacy=False)) for get in distinct(gets)]
        return self.spoil_at_times(o.TransactGet(gets=tuple(modern)))

    def transact_write(self) -> o.TransactWrite:
        made = [self.action(self.design()) for _ in range(self.dice.randint(1, 4))]
        writes = [replace(write, style=replace(write.style, legacy=False)) for write in made]
        token = f"token-{self.dice.randrange(10**9)}" if self.chance(0.5) else None
        return self.spoil_at_times(o.TransactWrite(writes=tuple(distinct(writes)), token=token))

    def action(self, design: Design) -> o.Write:
        match self.dice.choice(("put", "put", "update", "update", "delete", "check")):
            case "put":
                return self.put_of(design, (None,))
            case "update":
                return self.update_of(design, (None,))
            case "delete":
                return self.delete_of(design, (None,))
            case _:
                return self.check_of(design)

    def replay(self) -> o.Replay:
        return o.Replay(changed=self.chance(0.4))

    # --- PartiQL ----------------------------------------------------------------------------

    def statement(self) -> s.Statement:
        kind = self.dice.choice(("get", "query", "scan", "in", "insert", "update", "delete"))
        if kind in ("query", "scan", "in"):
            return s.Statement(call=self.select(kind))
        if kind == "get":
            return s.Statement(call=self.select_of(self.design(), self.dice.choice((None, True))))
        return s.Statement(call=self.statement_write(kind, self.design(), returns=True))

    def batch_statement(self) -> s.BatchStatement:
        return s.BatchStatement(statements=self.several(("insert", "update", "delete")))

    def transact_statement(self) -> s.TransactStatement:
        kinds = ("insert", "update", "delete", "check")
        token = f"spoken-{self.dice.randrange(10**9)}" if self.chance(0.5) else None
        return s.TransactStatement(statements=self.several(kinds), token=token)

    def several(self, kinds: tuple[str, ...]) -> tuple[s.Statement, ...]:
        """Statements that all read or all write, each of an item of its own."""
        calls: list[o.OnItem] = []
        reads = self.chance(0.3)
        for _ in range(self.dice.randint(1, 4)):
            design = self.design()
            kind = self.dice.choice(kinds)
            made = self.select_of(design) if reads else self.statement_write(kind, design)
            calls.append(made)
        return tuple(s.Statement(call=call) for call in distinct(calls))  # type: ignore[arg-type]

    def select_of(self, design: Design, consistent: bool | None = None) -> o.Get:
        get = self.get_of(design, consistent)
        return replace(get, projection=self.columns(design, None))

    def columns(self, design: Design, index: Index | None) -> t.Projection:
        """Whole attributes: what a part of one is called in the result is not documented."""
        names = self.conditions(design).within(index).names()
        chosen = self.dice.sample(names, min(len(names), self.dice.randint(0, 3)))
        return tuple(t.Path((name,)) for name in chosen)

    def select(self, kind: str) -> o.Query | o.Scan:
        design = self.design()
        index = self.dice.choice((None, *design.indexes))
        keys = {*design.keys, *(index.keys if index else ())}
        makes = self.conditions(design).within(index)
        makes = replace(makes, readable=tuple(name for name in makes.names() if name not in keys))
        read = self.read(design, index, in_query=True) | {
            "filter": makes.condition() if makes.names() and self.chance(0.4) else None,
            "projection": self.columns(design, index if index and index.is_global else None),
            "select": None,
        }
        if kind == "query":
            forward = self.dice.choice((None, True, False))
            return o.Query(keys=self.key_condition(design, index), forward=forward, **read)
        if kind == "in":
            read["filter"] = self.choices(design, index, read["filter"])
        return o.Scan(**read)

    def choices(
        self, design: Design, index: Index | None, asked: t.Condition | None
    ) -> t.Condition:
        """Some partitions, by IN or by OR."""
        name = index.partition[0] if index else design.partition
        values = [universe.key_value(self.dice, design, name) for _ in range(3)]
        options = tuple(t.Literal(value) for value in values[: self.dice.randint(1, 3)])
        chosen: t.Condition = t.OneOf(t.Path((name,)), options)
        if self.chance(0.3):
            first, *others = (t.Compare("=", t.Path((name,)), option) for option in options)
            chosen = first
            for other in others:
                chosen = t.Or(chosen, other)
        return t.And(chosen, asked) if asked else chosen

    def statement_write(
        self, kind: str, design: Design, *, returns: bool = False
    ) -> o.Put | o.Update | o.Delete | o.Check:
        shown = (None, "ALL_OLD") if returns else (None,)
        if kind == "insert":
            return replace(self.put_of(design, (None,)), condition=None, returns_on_failure=None)
        makes = self.conditions(design)
        makes = replace(makes, readable=tuple(n for n in makes.names() if n not in design.keys))
        if kind == "update":
            more = (*shown, "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW") if returns else shown
            update = self.update_of(design, more)
            made: o.Update | o.Delete = replace(update, actions=speakable(update.actions))
        else:
            made = self.delete_of(design, shown)
        asked = makes.condition() if kind == "check" or self.chance(0.4) else None
        made = replace(made, condition=asked)
        if kind != "check":
            return made
        return o.Check(
            design=design,
            style=made.style,
            key=made.key,
            condition=asked,
            returns_on_failure=made.returns_on_failure,
        )


def speakable(actions: t.Update) -> t.Update:
    """Without what PartiQL has no word for: if_not_exists, and ADD of a number."""

    def has_words(action: t.Action) -> bool:
        match action:
            case t.Set(_, value):
                return not any(isinstance(p, t.IfMissing) for p in vars(value).values()) and (
                    not isinstance(value, t.IfMissing)
                )
            case t.Add(_, literal):
                return "N" not in literal.value
            case _:
                return True

    found = tuple(action for action in actions if has_words(action))
    return found or (t.Remove(t.Path(("a",))),)


def selections(index: Index | None, has_projection: bool) -> tuple[str | None, ...]:
    if has_projection:
        return (None, "SPECIFIC_ATTRIBUTES")
    everything = index is None or not index.is_global or index.projection == "ALL"
    allowed = [None, "COUNT", *(["ALL_ATTRIBUTES"] if everything else [])]
    return (*allowed, *(["ALL_PROJECTED_ATTRIBUTES"] if index else []))


ItemCall = TypeVar("ItemCall", bound=o.OnItem)


def distinct(calls: list[ItemCall]) -> list[ItemCall]:
    """No item twice: batches and transactions refuse that."""
    first: dict[object, ItemCall] = {}
    for call in calls:
        first.setdefault((call.design.name, key_of(call.design, call.names())), call)
    return list(first.values())


def key_of(design: Design, names: Item) -> tuple[object, ...]:
    values = decode_item({name: names[name] for name in design.keys})
    return tuple(values.values())
