"""The capacity that a request consumed, as DynamoDB reports it; the rules are in `wire`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from bigtime.engine.operations.write import Plan, collection_metrics
from bigtime.engine.storage import Index, Transaction, VectorIndex
from bigtime.wire import Params, Response, index_write_units, same_maps, write_units

LEAST_VECTOR_BYTES: Final = 1_024


@dataclass(slots=True)
class ConsumedCapacity:
    """The capacity one request has used on one table, under the name the request gave for it."""

    table_name: str
    table: float = 0.0
    global_indexes: dict[str, float] = field(default_factory=dict)
    local_indexes: dict[str, float] = field(default_factory=dict)
    vector_indexes: dict[str, float] = field(default_factory=dict)

    def add_index(self, index: Index, units: float) -> None:
        arm = self.global_indexes if index.is_global else self.local_indexes
        arm[index.name] = arm.get(index.name, 0.0) + units

    def add_write(self, plan: Plan, *, transactional: bool = False) -> None:
        units = write_units(max(plan.old_size, plan.new_size))
        self.table += 2 * units if transactional else units
        for index in plan.indexes if plan.write.table.indexes else ():
            index_units = units_in_index(index, plan)
            if index_units:
                self.add_index(index, index_units)
        for vector_index in plan.write.table.vectors:
            used = vector_bytes(vector_index, plan)
            if used:
                known = self.vector_indexes.get(vector_index.name, 0.0)
                self.vector_indexes[vector_index.name] = known + used

    def total(self) -> float:
        return self.table + sum(self.global_indexes.values()) + sum(self.local_indexes.values())

    def to_response(self, mode: str, *, side: str | None = None) -> Response:
        """The `ConsumedCapacity`; `side` is Read or Write where AWS reports the kind separately."""
        response: Response = {"TableName": self.table_name, **units_response(self.total(), side)}
        if mode == "INDEXES":
            response["Table"] = units_response(self.table, side)
            for name, arm in (
                ("LocalSecondaryIndexes", self.local_indexes),
                ("GlobalSecondaryIndexes", self.global_indexes),
            ):
                if arm:
                    response[name] = {
                        index_name: units_response(units, side) for index_name, units in arm.items()
                    }
            if self.vector_indexes:
                response["VectorIndexes"] = {
                    name: {"VectorWriteRequestBytes": used}
                    for name, used in self.vector_indexes.items()
                }
        return response


def units_response(units: float, side: str | None) -> dict[str, float]:
    response = {"CapacityUnits": units}
    if side:
        response[f"{side}CapacityUnits"] = units
    return response


def units_in_index(index: Index, plan: Plan) -> float:
    """The write units of one index: none if no attribute in the index changes."""
    old, new = plan.old, plan.new
    before = index.codec.blobs(old) if old is not None else None
    after = index.codec.blobs(new) if new is not None else None
    old_size = index.view_size(old, plan.old_size) if before and old else None
    new_size = index.view_size(new, plan.new_size) if after and new else None
    moves = before != after
    if not moves and (not old or not new or same_maps(index.view(old), index.view(new))):
        return 0.0
    return index_write_units(old_size, new_size, moves=moves)


def vector_bytes(index: VectorIndex, plan: Plan) -> float:
    """The bytes a write costs on a vector index: those that it replicates, at least 1 KB.

    The cost doubles if the entry moves to another partition of the index.
    (Measured on AWS: https://github.com/ExtendDB/extenddb/pull/244)

    AWS: "Monitoring vector index capacity": a write that changes no attribute in the index costs
    nothing there. How a deletion is counted is not documented.
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/VectorSearchMonitoring.html
    """
    if plan.write.kind == "check":
        return 0.0
    old, new = plan.old, plan.new
    before, after = index.entry(old), index.entry(new)
    if before is None and after is None:
        return 0.0
    if before == after and old and new and same_maps(index.view(old), index.view(new)):
        return 0.0
    size = max(index.replicated_bytes(each) for each in (before, after) if each is not None)
    moves = before and after and index.partition_of(old) != index.partition_of(new)
    return float(max(size, LEAST_VECTOR_BYTES)) * (2 if moves else 1)


def mode_of(params: Params) -> str | None:
    """TOTAL or INDEXES, or None if the caller did not ask for consumed capacity."""
    mode: Any = params.get("ReturnConsumedCapacity")
    return mode if mode in ("TOTAL", "INDEXES") else None


def costs(
    transaction: Transaction,
    plans: list[tuple[str, Plan]],
    params: Params,
    *,
    transactional: bool = False,
) -> Response:
    """The consumed capacity and the metrics that the caller asked for, by table name as given."""
    response: Response = {}
    mode = mode_of(params)
    if mode:
        used = {name: ConsumedCapacity(name) for name, _ in plans}
        for name, plan in plans:
            used[name].add_write(plan, transactional=transactional)
        side = "Write" if transactional else None
        response["ConsumedCapacity"] = [
            consumed.to_response(mode, side=side) for consumed in used.values()
        ]
    if params.get("ReturnItemCollectionMetrics") == "SIZE":
        metrics = metrics_by_table(transaction, plans)
        if metrics:
            response["ItemCollectionMetrics"] = metrics
    return response


def metrics_by_table(
    transaction: Transaction, plans: list[tuple[str, Plan]]
) -> dict[str, list[Response]]:
    """The item collections that the writes modified, each once."""
    metrics: dict[str, list[Response]] = {}
    for name, plan in plans:
        if plan.write.table.collections and plan.write.kind != "check":
            known = metrics.setdefault(name, [])
            collection = collection_metrics(transaction, plan)
            if collection not in known:
                known.append(collection)
    return metrics


# --- Sums of several pages or statements ------------------------------------------------------


def add_capacity(used: Response | None, more: Response) -> Response:
    """The sum of two ConsumedCapacity objects of one table, index by index."""
    if used is None:
        return more
    total: dict[str, Any] = {**used}
    for name, amount in more.items():
        if isinstance(amount, dict):
            total[name] = add_capacity(used.get(name), amount)
        elif not isinstance(amount, str):
            total[name] = used.get(name, 0.0) + amount
    return total


def capacity_by_table(used: Iterable[Response]) -> list[Response]:
    by_table: dict[str, Response] = {}
    for consumed in used:
        name = consumed["TableName"]
        by_table[name] = add_capacity(by_table.get(name), consumed)
    return list(by_table.values())
