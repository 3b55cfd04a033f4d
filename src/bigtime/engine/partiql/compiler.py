"""From a statement's tree to a plan on one table.

A statement says what it wants; a plan says how DynamoDB gets it. The difference is the key:

1. The conditions of a WHERE that are joined by AND are searched for the key of the table, or of the
   index that is read.
2. With `=` on the partition key they make a Query, with `IN`, or an OR whose every part has a
   partition, one Query for each partition, and with neither a Scan. A condition on the sort key
   narrows the Query if a key condition allows it. `=` on a table's whole key, and nothing else,
   makes a GetItem.
3. UPDATE, DELETE and EXISTS name one item, by `=` on its whole key. An UPDATE and an EXISTS want
   the item to be there; a DELETE of nothing succeeds whatever its other conditions. An EXISTS must
   have other conditions.
4. What is left of the conditions is the filter of a read, or the condition of a write.

So nothing is evaluated here: filters, conditions and updates become expression trees, which are
compiled and bound as in any other request, and run by the existing operations.

A plan is made once per text and table object, which is replaced whenever the table changes.

AWS: "PartiQL select statements for DynamoDB", "update", "delete", "EXISTS function"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.select.html
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from bigtime.engine import expressions
from bigtime.engine.operations import find_index
from bigtime.engine.partiql import programs, statements
from bigtime.engine.partiql.key_conditions import KeyConditions, find_key_conditions, key_term
from bigtime.engine.partiql.parser import parse_statement
from bigtime.engine.storage import Index, KeyAttribute, Table
from bigtime.wire import Item, ValidationException

MOST_PLANS = 256
"""Few, because a plan keeps its table object alive, even after the table is deleted."""
# AWS: "PartiQL arithmetic, comparison, and logical operators for DynamoDB", IN
# https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-operators.html
# (50 values of a partition key are the most reads: see `key_conditions`.)
MAX_CHOICES = 100
KEY_WANTED = "Where clause does not contain a mandatory equality on all key attributes"
# Both were seen on AWS: https://github.com/floci-io/floci/pull/3798
SEVERAL_KEYS = "Multiple conditions on same key "
EXISTS_WANTED = "EXISTS() must contain a single item read with additional condition"


# --- The key in a WHERE ---------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class KeySearch:
    """The conditions joined by AND; those usable as key conditions are taken out of it."""

    parts: list[expressions.Condition]

    def take_equality(self, attribute: KeyAttribute) -> expressions.UnboundTerm | None:
        return self.take_term(attribute, lambda term: term.operator == "=")

    def take_term(
        self,
        attribute: KeyAttribute,
        wanted: Callable[[expressions.UnboundTerm], bool] = lambda term: True,
    ) -> expressions.UnboundTerm | None:
        for part in self.parts:
            term = key_term(part)
            if term is not None and term.attribute == attribute.name and wanted(term):
                self.parts.remove(part)
                return term
        return None

    def take_repeated(
        self, attributes: tuple[KeyAttribute, ...]
    ) -> tuple[expressions.UnboundTerm, ...]:
        """The equalities that are left on any of the attributes."""
        taken = []
        for attribute in attributes:
            while term := self.take_equality(attribute):
                taken.append(term)
        return tuple(taken)

    def take_choices(self, attribute: KeyAttribute) -> tuple[str, ...] | None:
        """The placeholders of the values that IN or OR allows for the attribute."""
        for part in self.parts:
            choices = choices_of(part, attribute.name)
            if choices is not None:
                self.parts.remove(part)
                return choices
        return None


def conjuncts(condition: expressions.Condition | None) -> list[expressions.Condition]:
    if condition is None:
        return []
    if isinstance(condition, expressions.And):
        return [part for inner in condition.parts for part in conjuncts(inner)]
    return [condition]


def as_equality(part: expressions.Condition) -> expressions.Condition:
    """IN with one value is `=`, so that it can name the one item of a SELECT.

    (Seen on AWS: https://github.com/floci-io/floci/pull/3798)
    """
    match part:
        case expressions.In(operand, (choice,)):
            return expressions.Comparison("=", operand, choice)
        case _:
            return part


def choices_of(part: expressions.Condition, attribute: str) -> tuple[str, ...] | None:
    match part:
        case expressions.In(expressions.Path((name,)), choices) if name == attribute:
            names = [each.name for each in choices if isinstance(each, expressions.Value)]
            return tuple(names) if len(names) == len(choices) else None
        case expressions.Or(parts):
            found = [choices_of(each, attribute) for each in parts]
            names = [name for choices in found if choices for name in choices]
            return tuple(names) if all(found) else None
    term = key_term(part)
    if term is None or term.attribute != attribute or term.operator != "=":
        return None
    return term.value_names


# --- SELECT ---------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class SelectPlan:
    """How a SELECT is read.

    `partitions` are the key terms of each partition; a Scan has none. `decomposed` says that they
    are those of an OR, of which `keys` know the reads. `key` are the literals of the whole key if a
    GetItem can answer. `exact` says that there is at most one item.
    """

    statement: statements.Statement
    table: Table
    index: Index | None
    keys: KeyConditions
    partitions: tuple[tuple[expressions.UnboundTerm, ...], ...]
    decomposed: bool
    filter: programs.CheckedProgram[expressions.Filter] | None
    projection: expressions.Projection | None
    forward: bool
    exact: bool
    ordered_partitions: bool | None
    key: tuple[tuple[str, statements.Constant | statements.Parameter], ...] | None = None

    @property
    def by_key_alone(self) -> bool:
        """Whether it reads one item whatever is in it: batches and transactions take no other."""
        return self.exact and self.filter is None


@lru_cache(MOST_PLANS)
def select_plan(text: str, table: Table) -> SelectPlan:
    statement = parse_statement(text)
    body = statement.body
    assert isinstance(body, statements.Select)
    index = None if body.index is None else find_source(table, body.index)
    codec = index.codec if index else table.codec
    search = KeySearch([as_equality(part) for part in conjuncts(body.where)])
    check_choices(search.parts)
    check_columns(body, index)
    keys = find_key_conditions(body.where, codec, index)
    partitions = partition_terms(search, codec.hash_key)
    sorts = sort_terms(search, codec.range_key) if partitions else ()
    whole = len(sorts) == len(codec.range_key) and all(term.operator == "=" for term in sorts)
    exact = index is None and len(partitions) == 1 and whole
    forward, ordered = directions(body, codec.hash_key, codec.range_key, partitions)
    check_order(body, codec.range_key, sorts)
    plan = SelectPlan(
        statement,
        table,
        index,
        keys,
        tuple((*terms, *sorts) for terms in partitions) or keys.partitions(),
        not partitions,
        programs.checked_condition(search.parts),
        projection_of(body.paths),
        forward,
        exact,
        ordered,
    )
    if exact and plan.filter is None and plan.projection is None:
        plan.key = key_literals(statement, plan.partitions[0])
    return plan


def find_source(table: Table, name: str) -> Index | None:
    """The index to read; AWS's error for a missing one is shorter than a Query's.

    (Seen on AWS: https://github.com/nubo-db/dynoxide/issues/179)
    """
    if name not in table.by_name and not table.definition.vector_index(name):
        raise ValidationException("The table does not have the specified index")
    return find_index(table, {"IndexName": name})


def check_choices(parts: list[expressions.Condition]) -> None:
    """Checks the limit of every IN, including those within OR or NOT."""
    for simple in expressions.simple_conditions(expressions.And(tuple(parts))):
        if isinstance(simple, expressions.In) and len(simple.choices) > MAX_CHOICES:
            # Seen on AWS: https://github.com/floci-io/floci/pull/3798
            raise ValidationException(
                "The IN operator is provided with too many operands; "
                f"number of operands: {len(simple.choices)}"
            )


def check_columns(body: statements.Select, index: Index | None) -> None:
    """A global index has no other attributes; AWS names them in the order of the statement.

    (Seen on AWS: https://github.com/floci-io/floci/pull/2953)
    """
    if index is None or not index.is_global or index.projected is None:
        return
    names = dict.fromkeys(str(path.elements[0]) for path in body.paths or ())
    missing = [name for name in names if name not in index.projected]
    if missing:
        raise ValidationException(
            "One or more parameter values were invalid: "
            f"Global secondary index {index.name} does not project [{', '.join(missing)}]"
        )


def partition_terms(
    search: KeySearch, hash_key: tuple[KeyAttribute, ...]
) -> tuple[tuple[expressions.UnboundTerm, ...], ...]:
    kept = list(search.parts)
    terms = [search.take_equality(attribute) for attribute in hash_key]
    found = tuple(term for term in terms if term is not None)
    if len(found) == len(hash_key):
        return (found,)
    search.parts[:] = kept
    if len(hash_key) > 1:
        return ()
    choices = search.take_choices(hash_key[0]) or ()
    return tuple((expressions.UnboundTerm(hash_key[0].name, "=", (name,)),) for name in choices)


def sort_terms(
    search: KeySearch, range_key: tuple[KeyAttribute, ...]
) -> tuple[expressions.UnboundTerm, ...]:
    """The sort key's equality terms from the left, then at most one term of any kind."""
    terms: list[expressions.UnboundTerm] = []
    for attribute in range_key:
        term = search.take_equality(attribute)
        if term is None:
            last = search.take_term(attribute)
            return (*terms, last) if last else tuple(terms)
        terms.append(term)
    return tuple(terms)


def directions(
    body: statements.Select,
    hash_key: tuple[KeyAttribute, ...],
    range_key: tuple[KeyAttribute, ...],
    partitions: tuple[tuple[expressions.UnboundTerm, ...], ...],
) -> tuple[bool, bool | None]:
    """Whether sort keys ascend, and whether partitions do; None keeps the order as given.

    An ORDER BY without the sort key has it descend, also where the partition key ascends. (Seen on
    AWS, as the errors: https://github.com/floci-io/floci/pull/3798)
    """
    if not body.order:
        return True, None
    if body.where is None:
        raise ValidationException(
            "Must have WHERE clause in the statement when using ORDER BY clause."
        )
    hash_names = {attribute.name for attribute in hash_key}
    range_names = {attribute.name for attribute in range_key}
    for order in body.order:
        if order.attribute not in hash_names | range_names:
            raise ValidationException(
                f"Attribute {order.attribute} in ORDER BY clause must be part of the primary key"
            )
    if not partitions:
        raise ValidationException(
            "Must have at least one non-optional hash key condition in WHERE clause when using "
            "ORDER BY clause."
        )
    by_hash = {order.ascending for order in body.order if order.attribute in hash_names}
    by_range = {order.ascending for order in body.order if order.attribute in range_names}
    if len(by_hash) > 1 or len(by_range) > 1:
        # AWS's message is not known.
        raise ValidationException("ORDER BY cannot have two directions for one key")
    if len(partitions) > 1 and not by_hash:
        raise ValidationException(
            "Must have hash key in ORDER BY clause when more than one hash key condition "
            "specified in WHERE clause."
        )
    return True in by_range, next(iter(by_hash), None)


def check_order(
    body: statements.Select,
    range_key: tuple[KeyAttribute, ...],
    sorts: tuple[expressions.UnboundTerm, ...],
) -> None:
    """Rejects any order of the sort key's attributes but the key's, without those that are fixed.

    AWS's message is not known.
    """
    fixed = {term.attribute for term in sorts if term.operator == "="}
    given = [attribute.name for attribute in range_key if attribute.name not in fixed]
    named = dict.fromkeys(order.attribute for order in body.order)
    wanted = [name for name in named if name in given]
    if wanted != given[: len(wanted)]:
        raise ValidationException(
            f"ORDER BY must name the attributes of the key in their order: {', '.join(given)}"
        )


def key_literals(
    statement: statements.Statement, terms: tuple[expressions.UnboundTerm, ...]
) -> tuple[tuple[str, statements.Constant | statements.Parameter], ...] | None:
    """The literals of a key; None if one is a list, a map or a set."""
    key: list[tuple[str, statements.Constant | statements.Parameter]] = []
    for term in terms:
        literal = statement.literals[term.value_names[0]]
        if not isinstance(literal, statements.Constant | statements.Parameter):
            return None
        key.append((term.attribute, literal))
    return tuple(key)


def projection_of(paths: tuple[expressions.Path, ...] | None) -> expressions.Projection | None:
    if paths is None:
        return None
    resolved = [expressions.resolve(path, {}) for path in paths]
    getters = [(statements.shown_name(path), expressions.getter(path)) for path in resolved]

    def project(item: Item) -> Item:
        found = [(name, get(item)) for name, get in getters]
        return {name: value for name, value in found if value is not None}

    return expressions.Projection(
        project,
        frozenset(str(path[0]) for path in resolved),
        frozenset(str(path[0]) for path in resolved if len(path) > 1),
    )


# --- UPDATE, DELETE, EXISTS -----------------------------------------------------------------


@dataclass(slots=True, eq=False)
class WritePlan:
    """The one item that a statement names, with its condition and its update.

    `repeated` are the other equalities on attributes of the key.
    """

    key: tuple[expressions.UnboundTerm, ...]
    repeated: tuple[expressions.UnboundTerm, ...]
    condition: programs.CheckedProgram[expressions.Filter] | None
    update: programs.CheckedProgram[expressions.Update] | None

    def key_of(self, values: programs.Values) -> Item:
        key = {term.attribute: values[term.value_names[0]] for term in self.key}
        for term in self.repeated:
            if values[term.value_names[0]] != key[term.attribute]:
                raise ValidationException(
                    f"{SEVERAL_KEYS}{term.attribute}. "
                    "Only single item Update/Insert/Delete are supported"
                )
        return key


@lru_cache(MOST_PLANS)
def write_plan(text: str, table: Table) -> WritePlan:
    body = parse_statement(text).body
    is_exists = isinstance(body, statements.Exists)
    if isinstance(body, statements.Exists):
        body = body.select
    assert not isinstance(body, statements.Insert)
    search = KeySearch(conjuncts(body.where))
    check_choices(search.parts)
    terms = [search.take_equality(attribute) for attribute in table.definition.key_attributes]
    key = tuple(term for term in terms if term is not None)
    if is_exists and (len(key) < len(terms) or not search.parts):
        raise ValidationException(EXISTS_WANTED)
    if len(key) < len(terms):
        raise ValidationException(KEY_WANTED)
    repeated = () if is_exists else search.take_repeated(table.definition.key_attributes)
    present = expressions.Path((table.hash_key.name,))
    if not isinstance(body, statements.Delete):
        search.parts.insert(0, expressions.Function("attribute_exists", (present,)))
    elif search.parts:
        absent = expressions.Function("attribute_not_exists", (present,))
        search.parts[:] = [expressions.Or((absent, expressions.And(tuple(search.parts))))]
    update = programs.checked_update(body.actions) if isinstance(body, statements.Update) else None
    return WritePlan(key, repeated, programs.checked_condition(search.parts), update)
