"""What AWS refuses about the key conditions of a SELECT.

AWS decomposes a WHERE into reads. Where an OR or an IN names an attribute of the key, each of its
parts or values is a read of its own, with the conditions that AND joins to it:

1. A key condition must have a value of the attribute's type, unless it is under NOT.
2. If every read has one partition, there are 50 at most, and no two of them overlap.
3. If every read of an index has one partition, and every one filters by an attribute that the index
   does not project, AWS names the attributes of the last partition. (A Scan finds nothing instead.)

How the items are read is told in `compiler`. A key of several attributes is held to the first rule
alone: what AWS does about the others is not known.

(Seen on AWS: https://github.com/floci-io/floci/pull/3798, its DynamoDbPartiQLKeyPlan.java)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from bigtime.engine import expressions
from bigtime.engine.expressions import Condition, UnboundTerm
from bigtime.engine.partiql.programs import Values
from bigtime.engine.storage import Index, KeyAttribute, KeyCodec, SortRange
from bigtime.wire import ValidationException

MAX_READS = 50
MAX_BRANCHES = 1000
KEY_TYPES = frozenset("SNB")
OVERLAP = "Overlapping conditions with range keys are not supported in where clause"
TOO_MANY = "Too many decomposed read operations for a given query."


def key_term(part: Condition) -> UnboundTerm | None:
    if isinstance(part, expressions.And | expressions.Or | expressions.Not):
        return None
    try:
        return expressions.unbound_term(part, {})
    except ValidationException:
        return None


# --- Branches -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Branch:
    """The conditions of one read: those on the key, and the others."""

    terms: tuple[UnboundTerm, ...] = ()
    filters: tuple[Condition, ...] = ()

    def join(self, other: Branch) -> Branch:
        return Branch(self.terms + other.terms, self.filters + other.filters)


Branches: TypeAlias = tuple[Branch, ...]


class TooManyBranches(Exception):
    """There are more than `MAX_BRANCHES`."""


@dataclass(slots=True)
class Decomposition:
    """Decomposes a WHERE; `terms` are all its key conditions."""

    hash_names: frozenset[str]
    range_names: frozenset[str]
    terms: list[UnboundTerm] = field(default_factory=list)

    def branches(self, condition: Condition) -> Branches:
        found = self.key_terms(condition)
        if found:
            self.terms.extend(found)
            return tuple(Branch((term,)) for term in found)
        match condition:
            case expressions.And(parts):
                return self.product([self.branches(part) for part in parts])
            case expressions.Or(parts) if self.names_key(condition):
                each = [self.branches(part) for part in parts]
                return take_branches(
                    sum(map(len, each)), (branch for part in each for branch in part)
                )
            case _:
                return (Branch(filters=(condition,)),)

    def product(self, parts: list[Branches]) -> Branches:
        single = [part[0] for part in parts if len(part) == 1]
        joined: Branches = (
            Branch(
                tuple(term for branch in single for term in branch.terms),
                tuple(each for branch in single for each in branch.filters),
            ),
        )
        for part in parts:
            if len(part) == 1:
                continue
            pairs = (left.join(right) for left in joined for right in part)
            joined = take_branches(len(joined) * len(part), pairs)
        return joined

    def key_terms(self, condition: Condition) -> list[UnboundTerm]:
        """The terms of a single condition on the key, one for each value; [] if it is none."""
        match condition:
            case expressions.In(expressions.Path((str(name),)), choices):
                names = [each.name for each in choices if isinstance(each, expressions.Value)]
                terms = [UnboundTerm(name, "=", (value,)) for value in names]
                return terms if len(terms) == len(choices) and self.is_key(terms[0]) else []
        term = key_term(condition)
        return [term] if term is not None and self.is_key(term) else []

    def is_key(self, term: UnboundTerm) -> bool:
        if term.attribute in self.hash_names:
            return term.operator == "="
        return term.attribute in self.range_names

    def names_key(self, condition: Condition) -> bool:
        match condition:
            case expressions.And(parts) | expressions.Or(parts):
                return any(map(self.names_key, parts))
            case _:
                return bool(self.key_terms(condition))


def take_branches(count: int, branches: Iterable[Branch]) -> Branches:
    if count > MAX_BRANCHES:
        raise TooManyBranches
    return tuple(branches)


def has_partitions(condition: Condition, hash_name: str) -> bool:
    """Whether each read of a WHERE has a partition, however many reads there are."""
    match condition:
        case expressions.And(parts):
            return any(has_partitions(part, hash_name) for part in parts)
        case expressions.Or(parts):
            return all(has_partitions(part, hash_name) for part in parts)
        case expressions.In(expressions.Path((name,))):
            return name == hash_name
        case _:
            term = key_term(condition)
            return term is not None and term.attribute == hash_name and term.operator == "="


# --- Checks ---------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class KeyConditions:
    """The key conditions of a WHERE, whose values are checked for each request.

    `branches` are empty where neither their overlaps nor their filters can be wrong.
    """

    codec: KeyCodec
    index: Index | None
    terms: tuple[tuple[KeyAttribute, UnboundTerm], ...]
    branches: Branches

    def partitions(self) -> tuple[tuple[UnboundTerm, ...], ...]:
        """The term of each read's partition, if there are several reads and every one has it."""
        found = []
        for branch in self.branches:
            terms = [term for term in branch.terms if self.is_partition(term)]
            if not terms:
                return ()
            found.append((terms[0],))
        return tuple(found) if len(found) > 1 else ()

    def ranges(self, values: Values) -> list[tuple[UnboundTerm, SortRange]] | None:
        """The partition and the range of each read that can find something.

        None if a read has two partitions: then the others may overlap.
        """
        if any(self.partition(branch, values) is None for branch in self.branches):
            return None
        found = []
        for branch in self.branches:
            bounds = self.sort_range(branch, values)
            if not is_empty(*bounds):
                term = next(term for term in branch.terms if self.is_partition(term))
                found.append((term, bounds))
        return found

    def is_partition(self, term: UnboundTerm) -> bool:
        return term.attribute == self.codec.hash_key[0].name

    def check(self, values: Values) -> None:
        self.check_types(values)
        if not self.branches:
            return
        partitions = [self.partition(branch, values) for branch in self.branches]
        reads = [
            (partition, branch)
            for partition, branch in zip(partitions, self.branches, strict=True)
            if partition is not None
        ]
        if len(reads) == len(self.branches):
            self.check_overlaps(reads, values)
            self.check_projected(reads)

    def check_types(self, values: Values) -> None:
        for attribute, term in self.terms:
            for name in term.value_names:
                (tag,) = values[name]
                if tag not in KEY_TYPES:
                    raise ValidationException(
                        "Key value must be of type S, N, or B. "
                        f"Key name: {attribute.name}, Key type: {tag}"
                    )
                if tag != attribute.type:
                    raise ValidationException(
                        "Key attribute's data type should match its data type in table's schema: "
                        f"Key {attribute.name}"
                    )

    def partition(self, branch: Branch, values: Values) -> bytes | None:
        """The partition that a branch reads, if it is one."""
        (attribute,) = self.codec.hash_key
        found = {
            self.codec.partition({attribute.name: values[term.value_names[0]]})
            for term in branch.terms
            if self.is_partition(term)
        }
        return found.pop() if len(found) == 1 else None

    def check_overlaps(self, reads: list[tuple[bytes, Branch]], values: Values) -> None:
        ranges = [(partition, *self.sort_range(branch, values)) for partition, branch in reads]
        ranges = [each for each in ranges if not is_empty(each[1], each[2])]
        ranges.sort(key=lambda each: (each[0], each[1] or b""))
        reach: tuple[bytes, bytes | None] | None = None
        for partition, low, high in ranges:
            if reach is None or reach[0] != partition:
                reach = partition, high
                continue
            if reach[1] is None or (low or b"") < reach[1]:
                raise ValidationException(OVERLAP)
            reach = partition, high

    def sort_range(self, branch: Branch, values: Values) -> SortRange:
        low: bytes | None = None
        high: bytes | None = None
        for term in branch.terms:
            if self.is_partition(term):
                continue
            operands = tuple(values[name] for name in term.value_names)
            bounds = self.codec.sort_range(((term.operator, operands),))
            low = max(low or b"", bounds.low or b"")
            highs = [each for each in (high, bounds.high) if each is not None]
            high = min(highs, default=None)
        return SortRange(low, high)

    def check_projected(self, reads: list[tuple[bytes, Branch]]) -> None:
        if self.index is None or self.index.projected is None:
            return
        projected = self.index.projected
        missing: list[str] = []
        # A partition's blob begins with a hash of its value.
        for _, branch in sorted(reads, key=lambda read: read[0][4:]):
            paths = [path for part in branch.filters for path in expressions.condition_paths(part)]
            names = dict.fromkeys(str(expressions.resolve(path, {})[0]) for path in paths)
            missing = [name for name in names if name not in projected]
            if not missing:
                return
        raise ValidationException(
            "One or more parameter values were invalid: "
            f"Secondary index {self.index.name} does not project one or more filter attributes: "
            f"[{', '.join(in_java_order(missing))}]"
        )


def is_empty(low: bytes | None, high: bytes | None) -> bool:
    return high is not None and (low or b"") >= high


def in_java_order(names: list[str]) -> list[str]:
    """Names as Java's HashSet has them, in whose order AWS names attributes."""
    buckets = 16
    while len(names) > buckets * 3 // 4:
        buckets *= 2
    return sorted(names, key=lambda name: java_hash(name) % buckets)


def java_hash(text: str) -> int:
    """String.hashCode, as HashMap spreads it."""
    units = text.encode("utf-16-be", "surrogatepass")
    found = 0
    for place in range(0, len(units), 2):
        found = (31 * found + int.from_bytes(units[place : place + 2], "big")) & 0xFFFFFFFF
    return found ^ found >> 16


def find_key_conditions(
    where: Condition | None, codec: KeyCodec, index: Index | None
) -> KeyConditions:
    key = {attribute.name: attribute for attribute in codec.hash_key + codec.range_key}
    hash_names = frozenset(attribute.name for attribute in codec.hash_key)
    decomposition = Decomposition(hash_names, frozenset(key) - hash_names)
    branches: Branches = ()
    has_simple_key = len(codec.hash_key) == 1 and len(codec.range_key) <= 1
    try:
        branches = decomposition.branches(where) if where is not None else ()
        is_too_much = len(branches) > MAX_READS
    except TooManyBranches:
        is_too_much = True
    if is_too_much and where is not None and has_simple_key:
        (hash_name,) = hash_names
        if has_partitions(where, hash_name):
            raise ValidationException(TOO_MANY)
    can_overlap = len(branches) > 1
    can_miss = index is not None and index.projected is not None
    kept = branches if has_simple_key and (can_overlap or can_miss) else ()
    terms = tuple((key[term.attribute], term) for term in decomposition.terms)
    return KeyConditions(codec, index, terms, kept)
