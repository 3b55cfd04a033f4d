"""The access patterns of a NoSQL Workbench model, 3.20 and later, as functions of the kit.

AWS documents what an access pattern contains, but not how the file spells it: a name, a
description, a type (Scan, Query, GetItem, PutItem, UpdateItem, DeleteItem), the table or index,
and, for validation, the operation's parameters. So member names are matched by their letters only
(`TableName`, `table_name` and `Table` are the same), and parameters are read as in DynamoDB's API:
`Key`, `KeyConditionExpression` with its names and values, or the older `KeyConditions`.

1. The facet names the entity. Without it, entities whose templates cannot produce the pattern's
   keys are ruled out; if one is left, it is the pattern's. Several that share a partition, with
   no condition on the sort key, are a collection.
2. A sample value begins where its template's literals end: `begins_with(SK, "ORDER#")` is
   every Order, `SK >= "ORDER#2026"` compares the first field.
3. Anything ambiguous is not guessed: the pattern stays a comment, with what is missing.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/workbench.Modeler.AccessPatterns.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from bigtime import model as bt
from bigtime.advisor.imports import names
from bigtime.advisor.imports.draft import Draft, EntityDraft, FieldDraft, PatternDraft, TableDraft
from bigtime.advisor.imports.schema_patterns import (
    PatternReader,
    Undecided,
    add_pattern,
    key_fields,
    template_fields,
)
from bigtime.advisor.imports.source import Members, keep_unknown, objects

PATTERNS: Final = "AccessPatterns"
MEMBERS: Final = {
    "name": ("name", "accesspatternname", "patternname"),
    "description": ("description",),
    "type": ("type", "operation", "operationtype", "accesspatterntype"),
    "table": ("table", "tablename"),
    "index": ("index", "indexname", "gsi", "globalsecondaryindex", "globalsecondaryindexname"),
    "facet": ("facet", "facetname", "entity"),
    "key": ("key", "keys"),
    "item": ("item",),
    "expression": ("keyconditionexpression", "keycondition"),
    "conditions": ("keyconditions",),
    "names": ("expressionattributenames",),
    "values": ("expressionattributevalues",),
    "update": ("updateexpression",),
    "filter": ("filterexpression", "filter", "filters"),
    "consistent": ("consistentread",),
    "forward": ("scanindexforward",),
    "id": ("id", "accesspatternid"),
}
ROLES: Final = {spelling: role for role, known in MEMBERS.items() for spelling in known}
OPERATIONS: Final = ("GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan")
COMPARISONS: Final = {
    "EQ": "=",
    "LE": "<=",
    "LT": "<",
    "GE": ">=",
    "GT": ">",
    "BEGINS_WITH": "begins_with",
    "BETWEEN": "between",
}

NAME: Final = r"#?[A-Za-z_][\w.\-]*"
VALUE: Final = r":\w+|'[^']*'|\"[^\"]*\"|-?\d[\d.]*"
TERM: Final = re.compile(
    rf"\(?\s*(?:begins_with\s*\(\s*(?P<begun>{NAME})\s*,\s*(?P<beginning>{VALUE})\s*\)"
    rf"|(?P<between>{NAME})\s+between\s+(?P<low>{VALUE})\s+and\s+(?P<high>{VALUE})"
    rf"|(?P<compared>{NAME})\s*(?P<operator>=|<=|>=|<|>)\s*(?P<value>{VALUE}))\s*\)?"
    r"(?:\s+and\s+|$)",
    re.IGNORECASE,
)
CHANGE: Final = re.compile(rf"(?P<name>{NAME})\s*=\s*:\w+")
OPEN_PART: Final = re.compile(r"[{<$].*", re.DOTALL)
FIELD: Final = re.compile(r"\{(\w+)(?::[^{}]*)?\}")


def add_patterns(draft: Draft, model: Members, source: str) -> None:
    """Adds the access patterns of the model and of its tables."""
    design = WorkbenchDesign(draft)
    for place, table in objects(model, "DataModel", source):
        for where, pattern in patterns_in(draft, table, place):
            AccessPattern(design, pattern, where, table.get("TableName")).add()
    for where, pattern in patterns_in(draft, model, source):
        AccessPattern(design, pattern, where, None).add()


def patterns_in(draft: Draft, members: Members, place: str) -> Iterator[tuple[str, Members]]:
    """The access patterns in a list, each with its location; any other shape is kept unchanged."""
    found = members.get(PATTERNS)
    if isinstance(found, list) and all(isinstance(each, Mapping) for each in found):
        yield from objects(members, PATTERNS, place)
    elif found is not None:
        keep_unknown(draft, {PATTERNS: found}, (), place)


@dataclass(slots=True)
class WorkbenchDesign:
    """The entities of a draft by their names, for the reader of patterns."""

    draft: Draft
    classes: dict[str, EntityDraft] = field(init=False)
    table_of: dict[str, TableDraft] = field(init=False)
    taken: set[str] = field(init=False)

    def __post_init__(self) -> None:
        pairs = [(each, table) for table in self.draft.tables for each in table.entities]
        self.classes = {entity.name: entity for entity, _ in pairs}
        self.table_of = {entity.name: table for entity, table in pairs}
        self.taken = set(self.classes)

    def type_of(self, known: Members, where: str) -> str:
        """The type of a parameter, already that of its field."""
        return str(known["type"])


@dataclass(frozen=True, slots=True)
class Sample:
    """A value of a key, as far as known: complete, or only its prefix."""

    text: str
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison on a key attribute."""

    operator: str
    values: tuple[Sample, ...]


@dataclass(slots=True)
class AccessPattern:
    """One access pattern; `owner` is the table that lists it, if any."""

    design: WorkbenchDesign
    pattern: Members
    place: str
    owner: str | None
    found: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.found = {
            ROLES[letters(name)]: value
            for name, value in self.pattern.items()
            if letters(name) in ROLES and value not in (None, "", {}, [])
        }

    def add(self) -> None:
        name = str(self.found.get("name") or "access pattern")
        known = [each for each in self.pattern if letters(each) in ROLES]
        keep_unknown(self.design.draft, self.pattern, known, self.place)
        add_pattern(self.design.draft, name, self.place, self.pattern, self.read_pattern)

    def read_pattern(self) -> PatternDraft:
        if "filter" in self.found:
            raise Undecided("its filter is not written by the import")
        operation = self.operation()
        table = self.table()
        index = self.index(table)
        if operation == "Scan" and index.name != bt.MAIN:
            raise Undecided("a scan of an index is not written by the import")
        if operation not in ("Query", "Scan") and index.name != bt.MAIN:
            raise Undecided(f"{operation} is of a table, not of the index {index.name}")
        conditions = self.conditions(table, index)
        entities = self.candidates(table, index, conditions)
        if not entities:
            raise Undecided(f"no entity of {table.table.name} has such keys in {index.name}")
        mixed = operation == "Query" and len(entities) > 1 and len(conditions) < 2
        if len(entities) > 1 and not (mixed and shares_partition(entities, index.name)):
            kinds = ", ".join(entity.name for entity in entities)
            raise Undecided(f"it may be of {kinds}; name its facet")
        entity = entities[0]
        translated: dict[str, Any] = {
            "name": str(self.found.get("name") or "access pattern"),
            "description": str(self.found.get("description") or ""),
            "operation": operation,
            "consistent_read": self.found.get("consistent") is True,
            "newest_first": self.found.get("forward") is False,
            "return_type": "mixed_data" if mixed else "entity_list",
        }
        if index.name != bt.MAIN:
            translated["index_name"] = index.name
        translated |= self.parameters(operation, entity, index, conditions)
        made = PatternReader(self.design, entity.name, translated, self.place).read()
        made.title = " ".join(translated["name"].split())
        return made

    # The table, index and entity

    def operation(self) -> str:
        wanted = letters(str(self.found.get("type", "")))
        for operation in OPERATIONS:
            if wanted in (operation.lower(), operation.removesuffix("Item").lower()):
                return operation
        if not wanted:
            raise Undecided("it has no type")
        raise Undecided(f"its type is {self.found['type']!r}, not one of {', '.join(OPERATIONS)}")

    def table(self) -> TableDraft:
        tables = self.design.draft.tables
        wanted = self.found.get("table", self.owner)
        for table in tables:
            if wanted == table.table.name or (wanted is None and len(tables) == 1):
                return table
        raise Undecided(f"there is no table {wanted!r}" if wanted else "it names no table")

    def index(self, table: TableDraft) -> bt.Index:
        wanted = self.found.get("index", bt.MAIN)
        if wanted in (bt.MAIN, table.table.name):
            return table.table.main
        for index in table.table.indexes:
            if index.name == wanted:
                return index
        raise Undecided(f"{table.table.name} has no index {wanted!r}")

    def candidates(
        self, table: TableDraft, index: bt.Index, conditions: Mapping[str, Condition]
    ) -> list[EntityDraft]:
        """The entities in the index whose templates can produce the values in the conditions."""
        entities = [each for each in table.accepted_entities if index.name in each.keys]
        if "facet" in self.found:
            wanted = names.class_name(str(self.found["facet"]))
            entities = [entity for entity in entities if entity.name == wanted]
            if not entities:
                raise Undecided(f"{index.name} has no items of the facet {self.found['facet']!r}")
        return [
            entity
            for entity in entities
            if all(
                may_make(template, value)
                for attribute, template in entity.templates_in(index).items()
                if attribute in conditions
                for value in conditions[attribute].values
            )
        ]

    # Conditions

    def conditions(self, table: TableDraft, index: bt.Index) -> dict[str, Condition]:
        """The comparisons on the key attributes of the index."""
        known = [attribute.name for attribute in index.attributes]
        of_item = {
            name: value
            for name, value in mapping(self.found.get("item"), "item").items()
            if name in table.table.key_names
        }
        found = {
            name: Condition("=", (sample(value),))
            for name, value in {**of_item, **mapping(self.found.get("key"), "key")}.items()
        }
        found |= self.expression_conditions() | self.legacy_conditions()
        for name, condition in found.items():
            if name not in known:
                raise Undecided(f"{name} is no key attribute of {index.name}")
            if name == known[0] and condition.operator != "=":
                raise Undecided(f"{name} is a partition key, which is equal to one value")
        return found

    def expression_conditions(self) -> dict[str, Condition]:
        text = str(self.found.get("expression", "")).strip()
        attributes = mapping(self.found.get("names"), "names")
        values = mapping(self.found.get("values"), "values")
        found: dict[str, Condition] = {}
        while text:
            term = TERM.match(text)
            if term is None:
                raise Undecided(f"its key condition cannot be read at {text!r}")
            text = text[term.end() :]
            name = term["begun"] or term["between"] or term["compared"]
            operator = "begins_with" if term["begun"] else term["operator"] or "between"
            given = [term[role] for role in ("beginning", "low", "high", "value") if term[role]]
            found[str(attributes.get(name, name))] = Condition(
                operator, tuple(operand(each, values) for each in given)
            )
        return found

    def legacy_conditions(self) -> dict[str, Condition]:
        found: dict[str, Condition] = {}
        for name, comparison in mapping(self.found.get("conditions"), "conditions").items():
            members = mapping(comparison, name)
            operator = COMPARISONS.get(str(members.get("ComparisonOperator")))
            values = members.get("AttributeValueList") or [""]
            if operator is None or not isinstance(values, list):
                raise Undecided(f"the condition on {name} has no comparison of a key")
            found[name] = Condition(operator, tuple(map(sample, values)))
        return found

    # Parameters

    def parameters(
        self,
        operation: str,
        entity: EntityDraft,
        index: bt.Index,
        conditions: Mapping[str, Condition],
    ) -> dict[str, Any]:
        if operation == "Query":
            return self.query_parameters(entity, index, conditions)
        if operation == "PutItem":
            return {"parameters": [{"name": entity.name, "type": entity.name}]}
        if operation == "Scan":
            return {"parameters": []}
        given = [entity.fields[name] for name in key_fields(entity, bt.MAIN)]
        if operation == "UpdateItem":
            given += [each for each in self.fields_set(entity) if each not in given]
        return {"parameters": [{"name": each.stored, "type": each.type} for each in given]}

    def fields_set(self, entity: EntityDraft) -> Iterator[FieldDraft]:
        """The fields that an update sets."""
        text = str(self.found.get("update", "")).strip()
        attributes = mapping(self.found.get("names"), "names")
        if not text[:4].upper() == "SET " or not all(
            CHANGE.fullmatch(change.strip()) for change in text[4:].split(",")
        ):
            raise Undecided("nothing says which attributes it sets")
        for change in text[4:].split(","):
            name = change.partition("=")[0].strip()
            stored = attributes.get(name, name)
            known = next((each for each in entity.fields.values() if each.stored == stored), None)
            if known is None:
                raise Undecided(f"{entity.name} has no attribute {stored}")
            yield known

    def query_parameters(
        self, entity: EntityDraft, index: bt.Index, conditions: Mapping[str, Condition]
    ) -> dict[str, Any]:
        partition = template_fields(entity.keys[index.name][0])
        given = [entity.fields[name] for name in dict.fromkeys(partition)]
        made: dict[str, Any] = {
            "parameters": [{"name": each.stored, "type": each.type} for each in given]
        }
        condition = conditions.get(index.range[0].name) if index.range else None
        if condition is None:
            return made
        template = entity.keys[index.name][1][0]
        whole, compared = compared_fields(template, condition)
        for name in (name for name in whole if name not in partition):
            known = entity.fields[name]
            made["parameters"].append({"name": known.stored, "type": known.type})
        if compared is None:
            return made
        known = entity.fields[compared]
        if compared in partition:
            raise Undecided(f"it compares {compared}, which its partition key has already")
        ends = ("_from", "_to") if condition.operator == "between" else ("",)
        made["parameters"] += [{"name": f"{known.stored}{end}", "type": known.type} for end in ends]
        return {**made, "range_condition": condition.operator}


def letters(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


def mapping(value: object, what: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise Undecided(f"{what} is no object")
    return value


# Sample values


def operand(text: str, values: Mapping[str, Any]) -> Sample:
    """An operand of an expression: a value by its placeholder, or a literal."""
    if not text.startswith(":"):
        return sample(text.strip("'\""))
    return sample(values[text]) if text in values else Sample("", is_whole=False)


def sample(value: object) -> Sample:
    """A value in DynamoDB JSON or plain; anything from `{`, `<` or `$` on is unknown."""
    if isinstance(value, Mapping):
        value = next(iter(value.values()), "")
    text = str(value)
    begun = OPEN_PART.sub("", text)
    return Sample(begun, is_whole=begun == text != "")


def may_make(template: str, value: Sample) -> bool:
    """Whether a key made by the template can be the value, or begin with or continue it."""
    head, *rest = FIELD.split(template)[::2]
    if not rest:
        return head.startswith(value.text) or (not value.is_whole and value.text == "")
    return value.text.startswith(head) or head.startswith(value.text)


def shares_partition(entities: Sequence[EntityDraft], index: str) -> bool:
    return len({entity.keys[index][0] for entity in entities}) == 1


def compared_fields(template: str, condition: Condition) -> tuple[list[str], str | None]:
    """The sort key fields that are given completely, and the one that is compared."""
    parts = FIELD.split(template)
    fields, literals = parts[1::2], parts[::2]
    if condition.operator == "=":
        return fields, None
    value = min((each.text for each in condition.values), key=len)
    if condition.operator == "begins_with" and not value and literals[0]:
        raise Undecided("nothing says what its sort key begins with")
    if len(value) < len(literals[0]):
        if condition.operator == "begins_with":
            return [], None
        if value:
            raise Undecided(f"it compares a part of {literals[0]!r}")
    left, number = value[len(literals[0]) :], 0
    # A field is complete if the literal after it is present too.
    while number < len(fields) - 1 and literals[number + 1] and literals[number + 1] in left:
        left = left.partition(literals[number + 1])[2]
        number += 1
    if condition.operator == "begins_with" and not left:
        return fields[:number], fields[0] if not literals[0] and not value else None
    if number >= len(fields):
        raise Undecided(f"the sort key {template!r} has no field to compare")
    return fields[:number], fields[number]
