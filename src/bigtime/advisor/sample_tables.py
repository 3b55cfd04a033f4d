"""The tables of a dry run: an in-memory engine that holds the items the requests expect.

Without given items, a sample table holds what each request needs to succeed:

1. An item that is read by key exists, as a sample of the entity that the key belongs to.
2. A query finds as many items as its limit, or `FOUND` of them if it has none.
3. Conditions hold, and filters let everything pass. The item of a put does not exist, unless the
   put's condition requires it; the item of any other write exists, unless its condition forbids it.
4. A sample is put once; from then on the item is as the steps leave it. So steps that delete until
   a query finds nothing terminate.

With given items, the tables hold exactly these, and conditions and filters are evaluated.

If the size of an entity's items is given, its samples have that size: the texts of a larger sample
are shortened, and a smaller one is padded with an undeclared attribute. Items that the steps put
are padded too, but never shortened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Self, TypedDict, Unpack

from bigtime.advisor import request_actions
from bigtime.advisor.matching_items import matching_items
from bigtime.advisor.sample import entity_of, sample_item
from bigtime.engine import Engine, Update, read_expressions
from bigtime.model import MAIN, Entity, Table, create_table_request
from bigtime.wire import Identity, Item, Params, Request, Response, ValidationException, item_size

FOUND = 10
MOST_MISSES = 50
PADDING = "~"
PAGED = ("Query", "Scan")
KEY_CONDITION = "KeyConditionExpression"
STRETCH = ("TableName", "IndexName", KEY_CONDITION)
PAGE = (*STRETCH, "Limit", "ExclusiveStartKey", "ScanIndexForward", "Segment", "TotalSegments")


class Assumptions(TypedDict, total=False):
    """What the tables of a dry run hold."""

    sizes: Mapping[type[Entity], int] | None
    """The bytes of each entity's items."""
    holding: Iterable[Entity] | None
    """The tables hold exactly these entities."""
    found: int | None
    """How many items a query finds."""


class SampleTables:
    """Tables in an engine, for the duration of the context; `table_named` finds their designs."""

    def __init__(
        self, engine: Engine, table_named: Callable[[str], Table], **assumed: Unpack[Assumptions]
    ) -> None:
        holding = assumed.get("holding")
        self.engine = engine
        self.table_named = table_named
        self.sizes = assumed.get("sizes") or {}
        self.found = assumed.get("found")
        self.makes_samples = holding is None
        self.created: dict[str, Table] = {}
        self.known: set[Identity] = set()
        self.queried: set[str] = set()
        for entity in holding or ():
            table, item = entity.layout.table, entity.layout.to_item(entity)
            self.create(table)
            self.put(table, self.pad(table, item))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for name in self.created:
            self.ask("DeleteTable", TableName=name)

    # Requests

    def __call__(self, request: Request) -> Response:
        """Answers a request, with the capacity that it consumed by table and index."""
        if request.operation in PAGED:
            params = dict(request.params)
            if self.makes_samples:
                params = request_actions.always_true(params, "FilterExpression")
        else:
            params = request_actions.replace_actions(request, self.action_params)
        # Every dry run has the same random numbers, so its tokens would repeat those of others.
        params.pop("ClientRequestToken", None)
        return self.ask(request.operation, **{**params, "ReturnConsumedCapacity": "INDEXES"})

    def action_params(self, action: request_actions.Action) -> Params:
        params = action.params
        if self.makes_samples:
            params = request_actions.always_true(params, "ConditionExpression")
        if action.kind == "Put":
            params = {**params, "Item": self.pad(self.table(action.table), params["Item"])}
        return params

    def prepare(self, request: Request) -> None:
        """Creates the tables that a request names, and the items that it expects to find."""
        for name in request_actions.tables_in(request):
            self.table(name)
        if not self.makes_samples:
            return
        if request.operation in PAGED:
            self.prepare_page(request.params)
        for action in request_actions.actions_of(request):
            self.prepare_item(action)

    def item(self, table: Table, key: Item) -> Item | None:
        """The current item with that key, if any."""
        return self.ask("GetItem", TableName=table.name, Key=key_in(table, key)).get("Item")

    def items_on_page(self, params: Params) -> list[Item]:
        """The items that a query or scan examines before its filter, as its index projects them."""
        operation = "Query" if KEY_CONDITION in params else "Scan"
        items: list[Item] = self.ask(operation, **request_actions.select_params(params, *PAGE))[
            "Items"
        ]
        return items

    def table(self, name: str) -> Table:
        if name not in self.created:
            self.create(self.table_named(name))
        return self.created[name]

    def create(self, table: Table) -> None:
        if table.name in self.created:
            return
        self.created[table.name] = table
        request = create_table_request(table)
        unused = ("StreamSpecification", "Tags", "DeletionProtectionEnabled", "SSESpecification")
        params = {name: value for name, value in request.params.items() if name not in unused}
        self.ask(request.operation, **params)

    def ask(self, operation: str, **params: object) -> Response:
        return self.engine(Request(operation, params))

    # Samples

    def prepare_item(self, action: request_actions.Action) -> None:
        """Puts the item that an action expects, or deletes it if it expects none, by rule 3."""
        table, key = self.table(action.table), action.key
        there = wanted = self.item(table, key)
        identity = table.identity(key)
        expressions = read_expressions(action.params)
        if identity not in self.known and action.kind != "Put":
            wanted = self.sample(table, key, expressions.update)
        condition = expressions.condition
        if condition and not condition(wanted or {}):
            if wanted is None:
                wanted = self.sample(table, key, expressions.update)
            elif condition({}):
                wanted = None
        self.known.add(identity)
        if wanted is None and there is not None:
            self.ask("DeleteItem", TableName=table.name, Key=key_in(table, key))
        elif wanted is not None and wanted is not there:
            self.put(table, wanted)

    def prepare_page(self, params: Params) -> None:
        """Puts the missing items that a query or a scan expects, by rules 2 and 4."""
        stretch = request_actions.select_params(params, *STRETCH)
        if repr(stretch) in self.queried:
            return
        self.queried.add(repr(stretch))
        wanted = params.get("Limit", FOUND) if self.found is None else self.found
        operation = "Query" if KEY_CONDITION in params else "Scan"
        missing = wanted - self.ask(operation, **stretch, Select="COUNT")["Count"]
        table = self.table(params["TableName"])
        for item in islice(self.unknown_items(table, stretch), max(missing, 0)):
            self.put(table, item)

    def unknown_items(self, table: Table, stretch: Params) -> Iterator[Item]:
        """Samples that match a query and that no request has named yet."""
        index = table.index(stretch.get("IndexName", MAIN))
        terms = read_expressions(stretch).key_condition or ()
        matches = matcher(stretch)

        def accepts(item: Item) -> bool:
            return matches(item) and table.identity(item) not in self.known

        most_misses = MOST_MISSES + len(self.known)
        for item in matching_items(table, index, terms, accepts, most_misses=most_misses):
            yield self.resize(table, item)

    def sample(self, table: Table, key: Item, update: Update | None) -> Item:
        """A sample of the item with this key, to which the update, if any, can be applied."""
        found = entity_of(table, key)
        if found is None:
            return self.resize(table, key_in(table, key))
        entity, fields = found
        item = sample_item(entity, fields)
        if update is not None and not is_applicable(update, item):
            stored = entity.layout.names.items()
            present = [field for field, name in stored if name in update.attributes]
            item = sample_item(entity, fields, present=present)
        return self.resize(table, item)

    def put(self, table: Table, item: Item) -> None:
        self.known.add(table.identity(item))
        self.ask("PutItem", TableName=table.name, Item=item)

    # Sizes

    def resize(self, table: Table, item: Item) -> Item:
        """The sample, brought to the size that was given for its entity."""
        return self.pad(table, self.shorten(table, item))

    def pad(self, table: Table, item: Item) -> Item:
        missing = self.given_size(table, item) - item_size(item)
        return {**item, PADDING: {"S": "x" * (missing - len(PADDING))}} if missing > 0 else item

    def shorten(self, table: Table, item: Item) -> Item:
        """The item with its longest texts cut, as far as its entity allows."""
        excess = item_size(item) - self.given_size(table, item)
        found = entity_of(table, item)
        keys = table.indexed_names
        texts = [name for name, value in item.items() if "S" in value and name not in keys]
        for name in sorted(texts, key=lambda name: -len(item[name]["S"])):
            if excess <= 0 or found is None:
                break
            text = item[name]["S"]
            shorter = {**item, name: {"S": text[: max(1, len(text) - excess)]}}
            if is_valid(found[0], shorter):
                excess -= item_size(item) - item_size(shorter)
                item = shorter
        return item

    def given_size(self, table: Table, item: Item) -> int:
        found = entity_of(table, item) if self.sizes else None
        size = self.sizes.get(found[0]) if found else None
        return item_size(item) if size is None else size


def key_in(table: Table, item: Item) -> Item:
    """The main key of an item; the engine refuses one that is incomplete."""
    return {name: item[name] for name in table.key_names if name in item}


def is_applicable(update: Update, item: Item) -> bool:
    try:
        update.apply(item)
    except ValidationException:
        return False
    return True


def is_valid(entity: type[Entity], item: Item) -> bool:
    try:
        entity.layout.from_item(item)
    except Exception:  # whatever an entity's own validators may raise
        return False
    return True


def matcher(stretch: Params) -> Callable[[Item], bool]:
    """A function that says whether an item meets the key conditions."""
    if KEY_CONDITION not in stretch:
        return lambda item: True
    params = {name: value for name, value in stretch.items() if name != KEY_CONDITION}
    matches = read_expressions({**params, "FilterExpression": stretch[KEY_CONDITION]}).filter
    assert matches is not None
    return matches
