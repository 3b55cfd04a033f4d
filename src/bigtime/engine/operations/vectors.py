"""Vector indexes: their declaration in CreateTable and UpdateTable, and SearchVectors.

AWS: "Vector search in DynamoDB", "Requirements and limitations", "SearchVectors"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/VectorSearch.Requirements.html
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_SearchVectors.html
The messages were seen on AWS by tests/tier3/error-messages of a suite that runs there:
https://github.com/paritysuite/dynamodb-conformance
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import apsw
import orjson

from bigtime import wire
from bigtime.engine import expressions, storage
from bigtime.engine.operations import table_schema
from bigtime.engine.operations.capacity import mode_of
from bigtime.engine.storage import (
    Database,
    KeyAttribute,
    Table,
    UnreadableItem,
    VectorIndexDefinition,
)
from bigtime.wire import Item, Params, Response

log = logging.getLogger("bigtime.engine")

# AWS: "Quotas in Amazon DynamoDB", "Vector indexes"
# https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html
MOST_INDEXES: Final = 5
MOST_DIMENSIONS: Final = 4_096
MOST_FILTERS: Final = 18
MOST_RESULTS: Final = 100
MOST_RESPONSE_BYTES: Final = 16 * 1024 * 1024
LEAST_BYTES: Final = 1_024
ON_DEMAND_ONLY: Final = (
    "Vector indexes are supported only on tables that use on-demand capacity mode "
    "(BillingMode PAY_PER_REQUEST)"
)


# --- Declaring ----------------------------------------------------------------------------------


def declared_vectors(
    declared: Sequence[Params] | None,
    defined: Mapping[str, KeyAttribute],
    names: Sequence[str],
    *,
    on_demand: bool,
) -> tuple[VectorIndexDefinition, ...]:
    """The vector indexes of a request; `names` are those of the table's other indexes."""
    if declared is None:
        return ()
    if not declared:
        table_schema.invalid("List of VectorIndexes is empty")
    if not on_demand:
        table_schema.invalid(ON_DEMAND_ONLY)
    storage.check_numpy()
    indexes = tuple(vector_index(each, defined) for each in declared)
    check_together(indexes, names)
    return indexes


def vector_index(declared: Params, defined: Mapping[str, KeyAttribute]) -> VectorIndexDefinition:
    name, dimensions = declared["IndexName"], declared["Dimensions"]
    if dimensions > MOST_DIMENSIONS:
        table_schema.invalid(
            f"Dimensions of index: {name} must be between 1 and {MOST_DIMENSIONS} inclusive"
        )
    schema = declared.get("SearchSchema", ())
    attributes = [each["AttributeName"] for each in schema]
    if not all(attribute in defined for attribute in attributes):
        table_schema.invalid("One element in SearchSchema is not defined in attribute definitions")
    if len(set(attributes)) < len(attributes):
        table_schema.invalid("The SearchSchema contains multiple elements with the same name")
    hashes = [defined[name] for name in elements_of(schema, "HASH")]
    filters = [defined[name] for name in elements_of(schema, "INLINE_FILTER")]
    if len(hashes) > 1:
        table_schema.invalid("The SearchSchema must not have more than one HASH element")
    if len(filters) > MOST_FILTERS:
        table_schema.invalid(
            f"The SearchSchema exceeds the limit of {MOST_FILTERS} INLINE_FILTER elements"
        )
    attribute = declared["VectorAttribute"]["AttributeName"]
    if attribute in defined:
        table_schema.invalid(f"The vector attribute {attribute} must not be a key attribute")
    return VectorIndexDefinition(
        name=name,
        attribute=attribute,
        dimensions=dimensions,
        distance=declared["DistanceFunction"],
        hash_key=hashes[0] if hashes else None,
        filters=tuple(filters),
        projection=table_schema.projection(declared["Projection"]),
        included=tuple(declared["Projection"].get("NonKeyAttributes", ())),
    )


def elements_of(schema: Sequence[Params], role: str) -> list[str]:
    return [each["AttributeName"] for each in schema if each["SearchSchemaElementType"] == role]


def check_together(indexes: Sequence[VectorIndexDefinition], names: Sequence[str]) -> None:
    seen, sizes = set(names), dict[str, int]()
    for index in indexes:
        if index.name in seen:
            table_schema.invalid(f"Duplicate index name: {index.name}")
        seen.add(index.name)
        if sizes.setdefault(index.attribute, index.dimensions) != index.dimensions:
            table_schema.invalid(
                "All vector indexes of an attribute must have the same number of dimensions. "
                f"Attribute: {index.attribute}"
            )
    if len(indexes) > MOST_INDEXES:
        table_schema.invalid(f"VectorIndex count exceeds the per-table limit of {MOST_INDEXES}")


def with_vector_updates(table: storage.TableDefinition, params: Params) -> storage.TableDefinition:
    """The table after the VectorIndexUpdates of an UpdateTable."""
    updates = params.get("VectorIndexUpdates", ())
    for update in updates:
        if len(update) != 1:
            table_schema.invalid(
                "Exactly one of VectorIndexUpdate.Create, VectorIndexUpdate.Delete must be given"
            )
        if "Create" in update:
            table = with_new_vector_index(table, update["Create"], params)
        else:
            table = without_vector_index(table, update["Delete"]["IndexName"])
    if table.vectors and table.billing_mode != table_schema.ON_DEMAND:
        table_schema.invalid(ON_DEMAND_ONLY)
    return table


def with_new_vector_index(
    table: storage.TableDefinition, action: Params, params: Params
) -> storage.TableDefinition:
    attributes = {attribute.name: attribute for attribute in table.attributes}
    given = table_schema.defined_attributes(params.get("AttributeDefinitions", ()))
    for name, attribute in given.items():
        if attributes.get(name, attribute) != attribute:
            table_schema.invalid(
                "Attributes cannot be redefined. Please check that your attribute has the same "
                f"type as previously defined. Attribute: {name}"
            )
    names = [index.name for index in table.indexes]
    if action["IndexName"] in (*names, *(index.name for index in table.vectors)):
        raise wire.ValidationException("Attempting to create an index which already exists")
    known = {**attributes, **given}
    on_demand = table.billing_mode == table_schema.ON_DEMAND
    (index,) = declared_vectors([action], known, names, on_demand=on_demand)
    vectors = (*table.vectors, replace(index, building=True))
    check_together(vectors, names)
    attributes.update((each.name, each) for each in index.search_attributes)
    return replace(table, vectors=vectors, attributes=tuple(attributes.values()))


def without_vector_index(table: storage.TableDefinition, name: str) -> storage.TableDefinition:
    if table.vector_index(name) is None:
        raise wire.ResourceNotFoundException(
            f"Requested resource not found: Index {name} for table {table.name}"
        )
    kept = tuple(index for index in table.vectors if index.name != name)
    return table_schema.with_used_attributes(replace(table, vectors=kept))


# --- Searching ----------------------------------------------------------------------------------


class Results(NamedTuple):
    items: list[Response]
    examined: int
    returned_bytes: int


def search_vectors(database: Database, params: Params) -> Response:
    search = expressions.read_search(params)
    top = params["TopK"]
    if not 1 <= top <= MOST_RESULTS:
        raise wire.ValidationException(
            f"Provided TopK value '{top}' is out of valid range. "
            f"The value must be between 1 and {MOST_RESULTS} inclusive"
        )
    vector = search_vector(params["SearchVector"])
    table = database.catalogue.table(params["TableName"])
    index = find_vector_index(table, params["IndexName"])
    dimensions = index.definition.dimensions
    if len(vector) != 4 * dimensions:
        raise wire.ValidationException(
            f"Input search vector dimension {len(vector) // 4} does not match vector index "
            f"dimension {dimensions}"
        )
    keys = searched_keys(index, search.equals)
    storage.check_numpy()

    def show(reader: apsw.Connection, found: storage.NearestRows) -> Results:
        return read_results(reader, table, index, found, search.projection)

    results: Results = database.vectors.search(index, vector, top, keys, show)
    response: Response = {"SearchResults": results.items}
    if mode_of(params):
        examined = 4.0 * dimensions * results.examined + results.returned_bytes
        used = max(examined, float(LEAST_BYTES))
        # The second member is in no SDK yet. (Seen on AWS:
        # https://github.com/ExtendDB/extenddb/pull/306)
        response["ConsumedCapacity"] = {"VectorSearchRequestBytes": used, "VectorSearchUnits": used}
    return response


def search_vector(elements: Sequence[Item]) -> bytes:
    numbers = []
    for place, element in enumerate(elements):
        value = wire.check_value(element)[0]
        if "N" not in value:
            table_schema.invalid(
                f"Invalid type for parameter SearchVector[{place}], Expected: N, "
                f"Actual: {next(iter(value))}"
            )
        numbers.append(value["N"])
    try:
        return storage.pack_numbers(numbers)
    except ValueError as error:
        table_schema.invalid(f"Invalid value for parameter SearchVector, {error}")


def find_vector_index(table: Table, name: str) -> storage.VectorIndex:
    index = next((each for each in table.vectors if each.name == name), None)
    if index is None:
        if name in table.by_name:
            raise wire.ValidationException(
                "SearchVectors operation not supported on this index type."
            )
        raise wire.ValidationException(f"The table does not have the specified index: {name}")
    if index.definition.building:
        raise wire.ValidationException(f"Cannot search backfilling vector index: {name}")
    return index


def searched_keys(index: storage.VectorIndex, equals: Mapping[str, Item]) -> dict[str, str]:
    """The search schema values in the request, in the form that the index stores."""
    definition = index.definition
    if definition.hash_key is not None and definition.hash_key.name not in equals:
        raise wire.ValidationException(
            "SearchConditionExpression must be provided when SearchSchema has a HASH key"
        )
    attributes = {attribute.name: attribute for attribute in definition.search_attributes}
    keys = {}
    for name, value in equals.items():
        if name not in attributes:
            raise wire.ValidationException(
                "Invalid SearchConditionExpression: "
                f"The attribute is not part of the SearchSchema of the index; attribute: {name}"
            )
        if attributes[name].type not in value:
            table_schema.invalid("Condition parameter type does not match schema type")
        keys[name] = storage.search_key(value) or ""
    return keys


def read_results(
    reader: apsw.Connection,
    table: Table,
    index: storage.VectorIndex,
    found: storage.NearestRows,
    projection: Any,
) -> Results:
    """The items of the nearest rows as projected; without the vector unless requested.

    An item that cannot be read is left out, and logged as an error, like in a Query.
    """
    query = f"SELECT pk, sk, item FROM {table.rows} WHERE id = ?"
    results: list[Response] = []
    size = 0
    for base, score in found.matches:
        partition, sort, blob = reader.execute(query, (base,)).get
        try:
            item = index.view(orjson.loads(blob))
        except orjson.JSONDecodeError:
            key = table.codec.key(partition, sort)
            log.error("left out of a search: %s", UnreadableItem(table.name, key))
            continue
        if projection is not None:
            item = projection(item)
        else:
            item = {name: value for name, value in item.items() if name != index.attribute}
        size += wire.item_size(item)
        if size > MOST_RESPONSE_BYTES:
            raise wire.ValidationException(
                "The response exceeds the limit of 16 MB: use a narrower projection or a smaller "
                "TopK"
            )
        results.append({"Item": item, "Score": score})
    return Results(results, found.examined, size)
