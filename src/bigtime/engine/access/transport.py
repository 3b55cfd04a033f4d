"""A user's or role's transport: each request is authorised, then passed to the engine.

The catalogue is refreshed before each: another process may have changed a table's key, its policy
or its tags, and a stale definition could give a wrong decision.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol

from bigtime.engine import operations, partiql
from bigtime.engine.access.facts import Access, accesses, statement_access
from bigtime.engine.iam import AccessRequest, Policy, Principal, evaluate
from bigtime.engine.storage import Database, Done
from bigtime.engine.validation import shapes
from bigtime.wire import AccessDeniedException, DynamoDBError, Params, Request, Response

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

IN_PROCESS: Final = {"aws:SourceIp": "127.0.0.1", "aws:SecureTransport": "true"}


class Answering(Protocol):
    """The interface of an engine that this transport needs."""

    def __call__(self, request: Request) -> Response: ...

    def submit(self, request: Request, done: Done) -> None: ...


class UserTransport:
    """The engine as seen by one user or role: a transport for stores, boto3 and endpoints.

    `find` gives the database that answers for the region; `about` are condition keys of the
    connection, such as `aws:SourceIp`.
    """

    def __init__(
        self,
        engine: Answering,
        find: Callable[[], Database],
        principal: Principal,
        *,
        region: str,
        about: Mapping[str, str] | None = None,
    ) -> None:
        database = find()
        self._engine = engine
        self._find = find
        self._principal = principal
        self._caller = principal.caller(database.account)
        self._keys: dict[str, tuple[str, ...]] = {
            **principal.keys(database.account),
            **{name.lower(): (value,) for name, value in (about or IN_PROCESS).items()},
            "aws:requestedregion": (region,),
            "aws:resourceaccount": (database.account,),
        }

    def __call__(self, request: Request) -> Response:
        """Answers a request, or raises AccessDeniedException."""
        params, refused = self._judge_request(request)
        if not refused:
            return self._engine(request)
        rest = drop_statements(request, params, refused)
        return merge(params, refused, self._engine(rest) if rest else {})

    def submit(self, request: Request, done: Done, region: str | None = None) -> None:
        """For event loops, like the engine's; the region is this transport's."""
        try:
            params, refused = self._judge_request(request)
        except Exception as error:
            done(None, error)
            return
        if not refused:
            self._engine.submit(request, done)
        elif rest := drop_statements(request, params, refused):
            self._engine.submit(
                rest,
                lambda response, error: done(
                    None if response is None else merge(params, refused, response), error
                ),
            )
        else:
            done(merge(params, refused, {}), None)

    def _judge_request(self, request: Request) -> tuple[Params, dict[int, DynamoDBError]]:
        """The request as AWS parses it, with the denied statements of a batch."""
        params = shapes.check(request.operation, request.params)
        if request.operation == "BatchExecuteStatement":
            return params, self._refused_statements(params)
        self.authorize(request.operation, params)
        return params, {}

    def authorize(self, operation: str, params: Params) -> None:
        """Raises AccessDeniedException unless the policies allow every access of the request."""
        database = self._find()
        database.catalogue.refresh()
        found = accesses(database, operation, params)
        for access in found:
            self._judge(access)
        for access in found:
            if access.missing is not None:
                raise access.missing

    def boto3_client(self, service: str = "dynamodb") -> DynamoDBClient:
        """A real boto3 client whose requests stay in this process."""
        from bigtime.engine.http import boto3_client

        return boto3_client(self, service, region=self._find().region)

    def _judge(self, access: Access) -> None:
        keys = {**self._keys, **time_keys(int(time.time())), **access.keys}
        request = AccessRequest(
            self._caller, access.action, access.resource, keys, access.unsupported
        )
        decision = evaluate(request, self._principal.policies, policy_of(access))
        if not decision.allowed:
            raise AccessDeniedException(decision.reason)

    def _refused_statements(self, params: Params) -> dict[int, DynamoDBError]:
        """The denied statements of a batch, by position, each with its error."""
        database = self._find()
        database.catalogue.refresh()
        refused: dict[int, DynamoDBError] = {}
        for place, request in enumerate(params["Statements"]):
            try:
                access = statement_access(database, request)
                self._judge(access)
                if access.missing is not None:
                    raise access.missing
            except DynamoDBError as error:
                refused[place] = error
        return refused


@lru_cache(8)
def time_keys(second: int) -> dict[str, tuple[str, ...]]:
    return {
        "aws:currenttime": (datetime.fromtimestamp(second, UTC).isoformat(),),
        "aws:epochtime": (str(second),),
    }


def policy_of(access: Access) -> Policy | None:
    if access.table is None:
        return None
    stream = access.resource.partition("/stream/")[2]
    return operations.stored_policy(access.table.definition, stream)


def drop_statements(
    request: Request, params: Params, refused: Mapping[int, DynamoDBError]
) -> Request | None:
    """The batch without its denied statements; None if that leaves nothing."""
    rest = [each for place, each in enumerate(params["Statements"]) if place not in refused]
    if not rest:
        return None
    return Request(request.operation, {**params, "Statements": rest}, request.pattern)


def merge(params: Params, refused: Mapping[int, DynamoDBError], response: Response) -> Response:
    """The response to the whole batch, with the errors of denied statements in their places."""
    answers = iter(response.get("Responses", []))
    return {
        **response,
        "Responses": [
            partiql.statement_response(request["Statement"], refused[place])
            if place in refused
            else next(answers)
            for place, request in enumerate(params["Statements"])
        ],
    }
