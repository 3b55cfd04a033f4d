"""Engines that are wrong in one small way: a comparison that overlooks them proves nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from bigtime.wire import (
    AccessDeniedException,
    DuplicateItemException,
    Request,
    Response,
    Transport,
    ValidationException,
)
from bigtime.wire import ConditionalCheckFailedException as ConditionFailed

Mutant: TypeAlias = Callable[[Transport], Transport]


def on_answers(change: Callable[[Request, Response], Response]) -> Mutant:
    return lambda engine: lambda request: change(request, engine(request))


def on_requests(change: Callable[[Request], Request]) -> Mutant:
    return lambda engine: lambda request: engine(change(request))


def loses_an_item(request: Request, answer: Response) -> Response:
    items = answer.get("Items", [])
    if request.operation != "Query" or len(items) < 3:
        return answer
    return {**answer, "Items": items[:-1], "Count": answer["Count"] - 1}


def reads_backwards(request: Request, answer: Response) -> Response:
    if request.operation != "Query" or "Items" not in answer:
        return answer
    return {**answer, "Items": answer["Items"][::-1]}


def prints_exponents(_request: Request, answer: Response) -> Response:
    return respell(answer) if "Item" in answer or "Items" in answer else answer


def respell(given: Any) -> Any:
    match given:
        case {"N": "10", **rest} if not rest:
            return {"N": "1E+1"}
        case dict():
            return {name: respell(value) for name, value in given.items()}
        case list():
            return [respell(value) for value in given]
        case _:
            return given


def shows_nothing_old(request: Request, answer: Response) -> Response:
    return {} if request.params.get("ReturnValues") == "ALL_OLD" else answer


def forgets_tokens(request: Request) -> Request:
    params = dict(request.params)
    if str(params.get("ClientRequestToken")).startswith("token-"):
        del params["ClientRequestToken"]
    return Request(request.operation, params)


def reads_the_first_segment(request: Request) -> Request:
    zero = {"Segment": 0} if "Segment" in request.params else {}
    return Request(request.operation, {**request.params, **zero})


def blurs_errors(engine: Transport) -> Transport:
    def answer(request: Request) -> Response:
        try:
            return engine(request)
        except ConditionFailed as error:
            raise ValidationException(error.message) from error

    return answer


def skips_deletes(engine: Transport) -> Transport:
    """Says that it deleted, where nobody asks what was there."""

    def answer(request: Request) -> Response:
        blind = request.operation == "DeleteItem" and set(request.params) == {"TableName", "Key"}
        return {} if blind else engine(request)

    return answer


def stops_halfway(engine: Transport) -> Transport:
    """Writes only the first half of a large batch."""

    def answer(request: Request) -> Response:
        tables = request.params.get("RequestItems", {})
        if request.operation != "BatchWriteItem" or not all(len(w) > 3 for w in tables.values()):
            return engine(request)
        halves = {table: writes[: len(writes) // 2] for table, writes in tables.items()}
        return engine(Request(request.operation, {"RequestItems": halves}))

    return answer


def loses_a_selected_item(request: Request, answer: Response) -> Response:
    items = answer.get("Items", [])
    if request.operation != "ExecuteStatement" or len(items) < 2:
        return answer
    return {**answer, "Items": items[:-1]}


def inserts_nothing_twice(engine: Transport) -> Transport:
    """Says that it inserted an item that was there already."""

    def answer(request: Request) -> Response:
        try:
            return engine(request)
        except DuplicateItemException:
            return {"Items": []}

    return answer


def runs_one_statement(engine: Transport) -> Transport:
    """Runs the first statement of a transaction, and says that it ran all."""

    def answer(request: Request) -> Response:
        statements = request.params.get("TransactStatements", [])
        if len(statements) < 2:
            return engine(request)
        first = {**request.params, "TransactStatements": statements[:1]}
        answered = engine(Request(request.operation, first))["Responses"]
        return {"Responses": [*answered, *({} for _ in statements[1:])]}

    return answer


def skips_batches(engine: Transport) -> Transport:
    """Says that it wrote a batch."""

    def answer(request: Request) -> Response:
        skipped = request.operation == "BatchWriteItem"
        return {"UnprocessedItems": {}} if skipped else engine(request)

    return answer


def restores_too_much(request: Request) -> Request:
    if "RestoreDateTime" not in request.params:
        return request
    later = {"RestoreDateTime": request.params["RestoreDateTime"] + 1_001}
    return Request(request.operation, {**request.params, **later})


def imports_elsewhere(request: Request) -> Request:
    """Takes all exports in the bucket for the one that is to be imported."""
    if request.operation != "ImportTable":
        return request
    source = {**request.params["S3BucketSource"], "S3KeyPrefix": "AWSDynamoDB/"}
    return Request(request.operation, {**request.params, "S3BucketSource": source})


def puts_elsewhere(request: Request) -> Request:
    """Puts in bulk into the table of the moment before."""
    if request.operation != "StartBulkPutItems":
        return request
    name, _, number = request.params["TableName"].rpartition("-")
    return Request(request.operation, {**request.params, "TableName": f"{name}-{int(number) - 1}"})


def starts_again(engine: Transport) -> Transport:
    """Takes a request under a token that was used for a new one, and still shows the token."""
    used: dict[str, int] = {}

    def answer(request: Request) -> Response:
        token = request.params.get("ClientToken")
        if request.operation not in TRANSFERRING or token is None:
            return engine(request)
        used[token] = used.get(token, 0) + 1
        if used[token] == 1:
            return engine(request)
        fresh = {**request.params, "ClientToken": f"{token}-{used[token]}"}
        ((name, description),) = engine(Request(request.operation, fresh)).items()
        return {name: {**description, "ClientToken": token}}

    return answer


TRANSFERRING = ("ExportTableToPointInTime", "ImportTable", "StartBulkPutItems")


def cancels_nothing(engine: Transport) -> Transport:
    """Says that it cancels what there is."""

    def answer(request: Request) -> Response:
        if request.operation != "CancelBulkOperation":
            return engine(request)
        arn = request.params
        about = engine(Request("DescribeBulkOperation", arn))["BulkOperationDescription"]
        if about["BulkOperationStatus"] != "IN_PROGRESS":
            return engine(request)
        return {**arn, "BulkOperationStatus": "CANCELLING"}

    return answer


def counts_errors_as_items(request: Request, answer: Response) -> Response:
    if request.operation != "DescribeImport":
        return answer
    told = answer["ImportTableDescription"]
    imported = told["ImportedItemCount"] + told["ErrorCount"]
    return {"ImportTableDescription": {**told, "ImportedItemCount": imported}}


def lists_newest_first(request: Request, answer: Response) -> Response:
    """Exports by their time, and not by their ARN."""
    if request.operation != "ListExports":
        return answer
    found = sorted(answer["ExportSummaries"], key=lambda each: each["ExportArn"].rpartition("/")[2])
    return {**answer, "ExportSummaries": found[::-1]}


def loses_the_nearest(_request: Request, answer: Response) -> Response:
    if len(answer.get("SearchResults", ())) < 2:
        return answer
    return {**answer, "SearchResults": answer["SearchResults"][1:]}


def takes_any_revision(request: Request) -> Request:
    """Deletes a policy whatever its revision."""
    if request.operation != "DeleteResourcePolicy":
        return request
    return Request(request.operation, {"ResourceArn": request.params["ResourceArn"]})


def lets_readers_in(engine: Transport) -> Transport:
    """Answers what is denied with nothing, as if there were no items."""

    def answer(request: Request) -> Response:
        try:
            return engine(request)
        except AccessDeniedException:
            if request.operation != "Query":
                raise
            return {"Items": [], "Count": 0, "ScannedCount": 0}

    return answer


MUTANTS: dict[str, Mutant] = {
    "loses an item of a long page": on_answers(loses_an_item),
    "reads backwards": on_answers(reads_backwards),
    "prints numbers with exponents": on_answers(prints_exponents),
    "shows nothing old": on_answers(shows_nothing_old),
    "forgets tokens": on_requests(forgets_tokens),
    "reads the first segment again and again": on_requests(reads_the_first_segment),
    "blurs errors": blurs_errors,
    "skips deletes": skips_deletes,
    "stops halfway through a batch": stops_halfway,
    "loses an item of a SELECT": on_answers(loses_a_selected_item),
    "inserts nothing twice": inserts_nothing_twice,
    "runs one statement of a transaction": runs_one_statement,
}
COPIES = {
    "restores too much": on_requests(restores_too_much),
    "imports other exports": on_requests(imports_elsewhere),
    "puts in bulk into another table": on_requests(puts_elsewhere),
}
"""Caught where tables are restored and imported; what is caught in other runs is below."""

REPLICAS = {"skips batches in one region": skips_batches}
USERS = {"lets readers in": lets_readers_in}
SETTINGS = {"takes any revision of a policy": on_requests(takes_any_revision)}
TRANSFERS = {
    "starts again what was asked for before": starts_again,
    "cancels no bulk put": cancels_nothing,
    "counts errors as imported items": on_answers(counts_errors_as_items),
    "lists exports newest first": on_answers(lists_newest_first),
}
SEARCHES = {"loses the nearest": on_answers(loses_the_nearest)}
