"""What a statement does, foretold by the model of the request that it stands for.

From AWS's PartiQL reference (developerguide/ql-reference.html): an INSERT of an item that exists is
a DuplicateItemException; an UPDATE and an EXISTS want the item to be there, a DELETE does not; a
statement of a batch fails alone, a statement of a transaction cancels all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bigtime.wire import Request, Response
from tests.reference import operations as o
from tests.reference import trees as t
from tests.reference.mistakes import mistakes
from tests.reference.model import INVALID, Model
from tests.reference.outcomes import (
    Answer,
    Pages,
    Prediction,
    Reason,
    Refusal,
    Refused,
    Rows,
    item_problem,
    unlike,
)
from tests.reference.statements import (
    BatchStatement,
    Inner,
    Spoken,
    Statement,
    TransactStatement,
    order_of,
)
from tests.reference.targets import Target, read_refusal
from tests.reference.transactions import FINE, cancellation
from tests.reference.values import Value, decode

OVERLAP = "Overlapping conditions with range keys are not supported in where clause"
DUPLICATE = "Duplicate primary key exists in table"
MOST_PAGES = 500


@dataclass(frozen=True)
class Selected:
    """A prediction for SELECT: the items of all its pages."""

    rows: Rows


Foretold = Prediction | Selected | tuple[Prediction | Selected, ...]
Seen = Refusal | Response | list[Refusal | Response]


def foretell(model: Model, spoken: Spoken) -> Foretold:
    match spoken:
        case Statement():
            return alone(model, spoken)
        case BatchStatement():
            return tuple(alone(model, statement) for statement in spoken.statements)
        case TransactStatement():
            return together(model, spoken)


def alone(model: Model, statement: Statement) -> Prediction | Selected:
    call = meant(statement.call)
    foretold = model.perform(call)
    match foretold:
        case Rows():
            return select(call, foretold)
        case Answer() if isinstance(call, o.Get):
            item = foretold.fields["Item"]
            return Answer({"Items": [] if item is None else [item]})
        case Answer():
            shown = foretold.fields["Attributes"]
            unsure = frozenset({"Items"}) if foretold.unsure else frozenset[str]()
            return Answer({"Items": [] if shown is None else [shown]}, unsure)
        case Refusal("ConditionalCheckFailedException") if isinstance(call, o.Put):
            return Refusal("DuplicateItemException", DUPLICATE)
        case Refusal("ValidationException"):
            return Refusal(INVALID)
        case _:
            return foretold


def select(call: o.Operation, rows: Rows) -> Selected | Refusal:
    if isinstance(call, o.Scan) and repeats_partition(call):
        return Refusal(INVALID, OVERLAP)
    ordered = isinstance(call, o.Query) and order_of(call) is not None
    return Selected(replace(rows, ordered=ordered))


def repeats_partition(scan: o.Scan) -> bool:
    """Whether the statement reads a partition twice, which AWS refuses.

    Of an index with several attributes in its key this is not known.
    (Seen on AWS: https://github.com/floci-io/floci/pull/3798)
    """
    index = scan.design.index(scan.index)
    partition = index.partition if index else scan.design.keys[:1]
    sort = index.sort if index else scan.design.keys[1:]
    if len(partition) > 1 or len(sort) > 1 or scan.filter is None:
        return False
    first = scan.filter.left if isinstance(scan.filter, t.And) else scan.filter
    chosen = chosen_values(first, partition[0])
    return any(value in chosen[:place] for place, value in enumerate(chosen))


def chosen_values(condition: t.Condition, name: str) -> list[Value]:
    """The values of a partition that a condition made by `choices` allows."""
    match condition:
        case t.OneOf(t.Path((chosen,)), options) if chosen == name:
            literals = [option for option in options if isinstance(option, t.Literal)]
            return [decode(option.value) for option in literals]
        case t.Compare("=", t.Path((chosen,)), t.Literal(value)) if chosen == name:
            return [decode(value)]
        case t.Or(left, right):
            return chosen_values(left, name) + chosen_values(right, name)
        case _:
            return []


def meant(call: Inner) -> o.Operation:
    """The call with what its statement wants besides: whether the item is there."""
    if isinstance(call, o.Get | o.Query | o.Scan):
        return call
    key = t.Path((call.design.partition,))
    condition = call.condition
    match call:
        case o.Put():
            condition = t.Missing(key)
        case o.Delete():
            condition = t.Or(t.Missing(key), condition) if condition else None
        case _:
            condition = t.And(t.Exists(key), condition) if condition else t.Exists(key)
    return replace(call, condition=condition)  # type: ignore[return-value]


def together(model: Model, transaction: TransactStatement) -> Prediction:
    calls = [meant(statement.call) for statement in transaction.statements]
    if any(mistake for call in calls for mistake in mistakes(call)):
        # AWS does not say whether such a statement is an error of its own or a reason, nor whether
        # it comes before a token that was used.
        codes = [INVALID, "TransactionCanceledException"]
        if kept_token(transaction) in model.tokens:
            codes.append("IdempotentParameterMismatchException")
        return Refusal(" or ".join(codes))
    if transaction.reads:
        gets = tuple(call for call in calls if isinstance(call, o.Get))
        return model.transact_get(o.TransactGet(gets=gets))
    token, params = kept_token(transaction), transaction.params()
    writes: list[o.Write] = [call for call in calls if isinstance(call, o.Write)]
    if token is not None and token in model.tokens:
        same = model.tokens[token] == params
        return done(writes) if same else Refusal("IdempotentParameterMismatchException")
    try:
        answer = write_all(model, writes)
    except Refused as error:
        return error.refusal
    if token is not None:
        model.tokens[token] = params
    return answer


def kept_token(transaction: TransactStatement) -> str | None:
    """A token means another thing to a TransactWriteItems.

    (Seen on AWS: https://github.com/nubo-db/dynoxide/pull/125)
    """
    token = transaction.token
    return None if token is None else f"{transaction.name()} {token}"


def write_all(model: Model, writes: list[o.Write]) -> Answer:
    pairs = [(write, model.old(write)) for write in writes]
    reasons = tuple(reason_of(write, model.objection(write, old)) for write, old in pairs)
    if any(reason is not FINE for reason in reasons):
        raise Refused(cancellation(reasons))
    for write, old in pairs:
        model.store(write, model.become(write, old))
    return done(writes)


def done(writes: list[o.Write]) -> Answer:
    return Answer({"Responses": [{} for _ in writes]})


def reason_of(write: o.Write, reason: Reason | None) -> Reason:
    if reason is None:
        return FINE
    if isinstance(write, o.Put) and reason.code == "ConditionalCheckFailed":
        return Reason("DuplicateItem", DUPLICATE)
    return reason


def difference(foretold: Foretold, seen: Seen, *, exact: bool) -> str | None:
    """Why what was seen is not what was foretold; None when it is."""
    match foretold, seen:
        case tuple(), list():
            if len(foretold) != len(seen):
                return "another number of responses"
            pairs = zip(foretold, seen, strict=True)
            return next(filter(None, (difference(f, s, exact=exact) for f, s in pairs)), None)
        case Selected(rows), {"Items": list(items)}:
            return item_problem(rows, Pages((({"Items": items},),)), exact)
        case ((Refusal() | Answer()), (Refusal() | dict())):
            return unlike(foretold, seen, exact=exact)
        case _:
            return "one is an error, the other is not"


def observe(target: Target, spoken: Spoken) -> Seen:
    """The answer: of a SELECT with the items of all pages, of a batch one for each statement."""
    if isinstance(spoken, Statement) and isinstance(spoken.call, o.Query | o.Scan):
        return walk(target, spoken.request(), spoken.call.limit)
    answer = target.ask(spoken.request())
    if isinstance(answer, Refusal) or not isinstance(spoken, BatchStatement):
        return answer
    return [answer_of(each) for each in answer["Responses"]]


def walk(target: Target, request: Request, limit: int | None) -> Response | Refusal:
    params = dict(request.params)
    items = []
    for _ in range(MOST_PAGES):
        page = target.ask(Request(request.operation, params))
        if isinstance(page, Refusal):
            return page
        if limit is not None and len(page["Items"]) > limit:
            raise AssertionError(f"{target.name}: more than Limit in one page of {request}")
        items.extend(page["Items"])
        if "NextToken" not in page:
            return {"Items": items}
        params["NextToken"] = page["NextToken"]
    raise AssertionError(f"{target.name}: pages without end for {request}")


def answer_of(response: Response) -> Response | Refusal:
    """What ExecuteStatement would have answered to a statement of a batch."""
    error = response.get("Error")
    if error is None:
        return {"Items": [response["Item"]] if "Item" in response else []}
    code = error["Code"]
    name = INVALID if code == "ValidationError" else f"{code}Exception"
    return read_refusal(error, name)
