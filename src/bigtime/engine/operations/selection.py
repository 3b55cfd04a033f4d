"""What a query or scan shows of each item: `Select`, projections, and what an index can give."""

from __future__ import annotations

from bigtime.engine.expressions import Expressions
from bigtime.engine.operations.page import Page
from bigtime.engine.storage import Index
from bigtime.wire import Params, ValidationException


def check_select(params: Params) -> None:
    """What can be said about a selection without looking at the table."""
    select = params.get("Select")
    named = [one for one in ("ProjectionExpression", "AttributesToGet") if one in params]
    if named and select not in (None, "SPECIFIC_ATTRIBUTES"):
        wanted = "only the Count" if select == "COUNT" else select
        raise ValidationException(f"Cannot specify the {named[0]} when choosing to get {wanted}")
    if select == "SPECIFIC_ATTRIBUTES" and not named:
        raise invalid(
            "Must specify the AttributesToGet or ProjectionExpression "
            "when choosing to get SPECIFIC_ATTRIBUTES"
        )
    if select == "ALL_PROJECTED_ATTRIBUTES" and "IndexName" not in params:
        # AWS says "Querying" to a Scan as well.
        raise invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")


def read_selection(params: Params, index: Index | None, expressions: Expressions) -> Page:
    """Checks the selection against the index, and makes the page that gives it."""
    select = params.get("Select")
    return Page(
        limit=params.get("Limit"),
        keep=expressions.filter,
        shape=expressions.projection,
        count_only=select == "COUNT",
        whole_items=needs_whole_items(index, select, expressions),
        consistent=bool(params.get("ConsistentRead")),
    )


def needs_whole_items(index: Index | None, select: str | None, expressions: Expressions) -> bool:
    """Whether the index does not hold all that is asked: a local one fetches, a global cannot."""
    if index is None or index.projected is None:
        return False
    if select == "ALL_ATTRIBUTES":
        if index.is_global:
            raise invalid(
                "Select type ALL_ATTRIBUTES is not supported for global secondary index "
                f"{index.name} because its projection type is not ALL"
            )
        return True
    wanted = expressions.projection.attributes if expressions.projection else frozenset()
    missing = wanted - index.projected
    if missing and index.is_global:
        raise invalid(
            f"Global secondary index {index.name} does not project [{', '.join(sorted(missing))}]"
        )
    return bool(missing)


def invalid(reason: str) -> ValidationException:
    return ValidationException(f"One or more parameter values were invalid: {reason}")
