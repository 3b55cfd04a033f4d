"""Runs on a table with vector indexes: every search beside distances worked out one by one.

From developerguide/VectorSearchWorkingWith.html: an item is in an index if it has the vector and,
where the search schema has a HASH attribute, that attribute; a search gives the TopK nearest of
those that its condition leaves, as the index projects them and without their vectors. Coordinates
are such as 32 bits hold exactly, so that only a division or a root rounds. AWS does not say which
of equally near items comes first: any order of them will do.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.wire import AttributeValue, DynamoDBError, Item, Params, Request, Response, Transport

TABLE = "vectors"
IDS, GROUPS, COLOURS = "abcdefghijkl", "xy", ("1", "2", "3")
COORDINATES = ("-2", "-1", "-0.5", "0", "0.25", "1", "1.5", "3")
MOST_STEPS = 40
Vector = tuple[float, ...]


@dataclass(frozen=True)
class Index:
    name: str
    attribute: str
    dimensions: int
    function: str
    hash_key: str | None
    filters: tuple[str, ...]
    projected: frozenset[str] | None
    """The attributes that it shows; None for all."""

    def description(self) -> Params:
        roles = {self.hash_key: "HASH"} if self.hash_key else {}
        roles |= dict.fromkeys(self.filters, "INLINE_FILTER")
        schema = [
            {"AttributeName": a, "SearchSchemaElementType": role} for a, role in roles.items()
        ]
        kind = (
            "ALL" if self.projected is None else "INCLUDE" if "note" in self.projected else "KEYS"
        )
        projection: Params = {"ProjectionType": "KEYS_ONLY" if kind == "KEYS" else kind}
        if kind == "INCLUDE":
            projection = {**projection, "NonKeyAttributes": ["note"]}
        return {
            "IndexName": self.name,
            "VectorAttribute": {"AttributeName": self.attribute},
            "Dimensions": self.dimensions,
            "DistanceFunction": self.function,
            "Projection": projection,
            **({"SearchSchema": schema} if schema else {}),
        }

    def refuses(self, item: Item) -> bool:
        return self.attribute in item and self.vector(item) is None

    def vector(self, item: Item) -> Vector | None:
        elements = item.get(self.attribute, {}).get("L", ())
        if len(elements) != self.dimensions or not all("N" in each for each in elements):
            return None
        return tuple(float(each["N"]) for each in elements)

    def shows(self, item: Item) -> Item:
        shown = (
            item
            if self.projected is None
            else {name: value for name, value in item.items() if name in self.projected}
        )
        return {name: value for name, value in shown.items() if name != self.attribute}


INDEXES = (
    Index("cosine", "v", 3, "COSINE", None, ("colour",), None),
    Index(
        "euclidean", "v", 3, "EUCLIDEAN", "group", ("colour",), frozenset({"id", "group", "colour"})
    ),
    Index("product", "w", 2, "DOT_PRODUCT", None, (), frozenset({"id", "note"})),
)


def score(function: str, one: Vector, other: Vector) -> float:
    product = math.fsum(a * b for a, b in zip(one, other, strict=True))
    if function == "DOT_PRODUCT":
        return product
    if function == "EUCLIDEAN":
        return math.dist(one, other)
    lengths = math.hypot(*one) * math.hypot(*other)
    return 1.0 - product / lengths if lengths else 1.0


@dataclass
class VectorRun:
    """The items of the model, and the engine that is compared with them."""

    transport: Transport
    items: dict[str, Item] = field(default_factory=dict)
    history: list[Request] = field(default_factory=list)
    performed: int = 0
    excused: Counter[str] = field(default_factory=Counter)

    def call(self, operation: str, **params: object) -> Response:
        request = Request(operation, {"TableName": TABLE, **params})
        self.history.append(request)
        self.performed += 1
        return self.transport(request)

    def create(self) -> None:
        types = {"id": "S", "group": "S", "colour": "N"}
        self.call(
            "CreateTable",
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": kind} for name, kind in types.items()
            ],
            VectorIndexes=[index.description() for index in INDEXES],
        )

    def put(self, dice: Random) -> None:
        item = random_item(dice)
        self.write("PutItem", item["id"]["S"], item, Item=item)

    def update(self, dice: Random) -> None:
        """Sets or removes one attribute of an item, which may not be there yet."""
        key = {"id": {"S": dice.choice(IDS)}}
        name, value = dice.choice([*random_item(dice).items()][1:] or [("note", {"S": "new"})])
        new = {**self.items.get(key["id"]["S"], key)}
        expression, values = "SET #a = :v", {"ExpressionAttributeValues": {":v": value}}
        new[name] = value
        if dice.random() < 0.3:
            expression, values = "REMOVE #a", {}
            del new[name]
            if key["id"]["S"] not in self.items:
                return
        self.write(
            "UpdateItem",
            key["id"]["S"],
            new,
            Key=key,
            UpdateExpression=expression,
            ExpressionAttributeNames={"#a": name},
            **values,
        )

    def write(self, operation: str, id: str, new: Item, **params: object) -> None:
        refusing = [index.name for index in INDEXES if index.refuses(new)]
        try:
            self.call(operation, **params)
        except DynamoDBError as error:
            if not refusing or error.code != "ValidationException":
                self.fail("refused", error)
        else:
            if refusing:
                self.fail("took a vector that does not fit", refusing)
            self.items[id] = new

    def delete(self, dice: Random) -> None:
        id = dice.choice(IDS)
        self.call("DeleteItem", Key={"id": {"S": id}})
        self.items.pop(id, None)

    def make_index_anew(self, dice: Random) -> None:
        """Deletes an index and adds it again, filled with what is there."""
        index = dice.choice(INDEXES)
        self.call("UpdateTable", VectorIndexUpdates=[{"Delete": {"IndexName": index.name}}])
        definitions = [
            {"AttributeName": "group", "AttributeType": "S"},
            {"AttributeName": "colour", "AttributeType": "N"},
        ]
        asked = {*index.filters, index.hash_key}
        self.call(
            "UpdateTable",
            AttributeDefinitions=[each for each in definitions if each["AttributeName"] in asked],
            VectorIndexUpdates=[{"Create": index.description()}],
        )

    def search(self, dice: Random) -> None:
        index = dice.choice(INDEXES)
        target = random_vector(dice, index.dimensions)
        most = dice.choice((1, 3, 100))
        asked: dict[str, AttributeValue] = {}
        if index.hash_key:
            asked[index.hash_key] = {"S": dice.choice(GROUPS)}
        if index.filters and dice.random() < 0.4:
            asked["colour"] = {"N": dice.choice(COLOURS)}
        answer = self.call(
            "SearchVectors",
            IndexName=index.name,
            SearchVector=target["L"],
            TopK=most,
            **condition(asked),
        )
        self.compare(index, target, asked, most, answer["SearchResults"])

    def compare(
        self,
        index: Index,
        target: AttributeValue,
        asked: dict[str, AttributeValue],
        most: int,
        seen: list[Response],
    ) -> None:
        scores = self.scores(index, tuple(float(each["N"]) for each in target["L"]), asked)
        nearest = sorted(scores.values(), reverse=index.function == "DOT_PRODUCT")[:most]
        if len(seen) != len(nearest) or not all(
            math.isclose(found["Score"], score, rel_tol=1e-6, abs_tol=1e-6)
            for found, score in zip(seen, nearest, strict=True)
        ):
            self.fail(f"{index.name}: other scores than {nearest}", seen)
        ids = [found["Item"]["id"]["S"] for found in seen]
        if len(set(ids)) < len(ids):
            self.fail(f"{index.name}: an item twice", seen)
        for id, found in zip(ids, seen, strict=True):
            own = scores.get(id)
            if own is None or not math.isclose(own, found["Score"], rel_tol=1e-6, abs_tol=1e-6):
                self.fail(f"{index.name}: the score of {id} is {own}", found)
            if found["Item"] != index.shows(self.items[id]):
                self.fail(f"{index.name}: shows other attributes", found)

    def scores(
        self, index: Index, target: Vector, asked: dict[str, AttributeValue]
    ) -> dict[str, float]:
        """The score of each item that a search may find."""
        return {
            id: score(index.function, vector, target)
            for id, item in self.items.items()
            if (vector := index.vector(item)) is not None
            and (index.hash_key is None or index.hash_key in item)
            and all(item.get(name) == value for name, value in asked.items())
        }

    def fail(self, problem: str, seen: object) -> None:
        asked = "\n".join(f"  {request.operation} {request.params}" for request in self.history)
        raise AssertionError(f"engine: {problem}\nafter\n{asked}\nseen {seen}")


def random_vector(dice: Random, dimensions: int) -> AttributeValue:
    return {"L": [{"N": dice.choice(COORDINATES)} for _ in range(dimensions)]}


def random_item(dice: Random) -> Item:
    """An item with most of its attributes; now and then a vector that does not fit."""
    item: Item = {"id": {"S": dice.choice(IDS)}}
    if dice.random() < 0.8:
        item["v"] = random_vector(dice, 3 if dice.random() < 0.95 else 2)
    if dice.random() < 0.6:
        item["w"] = random_vector(dice, 2) if dice.random() < 0.95 else {"S": "none"}
    if dice.random() < 0.8:
        item["group"] = {"S": dice.choice(GROUPS)}
    if dice.random() < 0.7:
        item["colour"] = {"N": dice.choice(COLOURS)}
    if dice.random() < 0.5:
        item["note"] = {"S": dice.choice(("old", "new"))}
    return item


def condition(asked: dict[str, AttributeValue]) -> Params:
    if not asked:
        return {}
    return {
        "SearchConditionExpression": " AND ".join(f"#{name} = :{name}" for name in asked),
        "ExpressionAttributeNames": {f"#{name}": name for name in asked},
        "ExpressionAttributeValues": {f":{name}": value for name, value in asked.items()},
    }


STEPS: dict[str, Callable[[VectorRun, Random], None]] = {
    "put": VectorRun.put,
    "update": VectorRun.update,
    "delete": VectorRun.delete,
    "search": VectorRun.search,
    "search again": VectorRun.search,
    "make index anew": VectorRun.make_index_anew,
}
VectorPlan = list[tuple[str, int]]
vector_plans = st.lists(
    st.tuples(st.sampled_from([*STEPS]), st.integers(0, 2**32)), min_size=1, max_size=MOST_STEPS
)


def search_vectors(
    plan: VectorPlan, wrap: Callable[[Transport], Transport] = lambda engine: engine
) -> VectorRun:
    with Engine.memory(housekeeping=False) as engine:
        run = VectorRun(wrap(engine))
        run.create()
        for step, number in plan:
            STEPS[step](run, Random(number))
            engine.tidy()
        return run
