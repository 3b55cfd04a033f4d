"""`intercept()`: every boto3 client of the process is answered by an engine in memory.

botocore emits the event `before-send` for each request and takes a response from a handler; moto
answers that way. Handlers are copied into a client when it is created, so a handler that is
registered later does not reach existing clients; and all handlers of an event are called, so that
beside moto both would carry out each write. Therefore the class through which botocore's clients
emit their events is patched during an interception, which reaches every client, whenever it was
created (PynamoDB's and aiobotocore's too, and Bigtime's transports):

1. `before-send` of DynamoDB and of DynamoDB Streams is answered by the engine, and no handler is
   called. All other services are left alone: to moto, or to AWS.
2. `request-created`, in which botocore signs the request, calls no handler for these services.
   A client needs no credentials, and a signature takes longer than the engine's answer.
3. The other events of these services go on to the client's handlers, but botocore's search for an
   older name of the event is skipped: there is none, and it costs a new client a millisecond.
4. In the meantime the environment has made-up credentials and a region, so that a new client does
   not search the machine, or the network, for them. If boto3 has no default session yet, it gets
   one that is kept from one interception to the next: reading the service's model takes fifty
   times as long as everything else.

Interceptions nest: the last one entered answers, in every thread, until it is left.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, TypeVar, overload
from unittest import TestCase

from bigtime.engine import Engine, response_handler
from bigtime.extras import extra
from bigtime.wire import Request, Response, Transport

with extra("aws"):
    import boto3
    from botocore.awsrequest import AWSPreparedRequest, AWSResponse
    from botocore.handlers import BUILTIN_HANDLERS
    from botocore.hooks import EventAliaser

SERVICES = frozenset({"dynamodb", "dynamodb-streams"})
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "intercepted",
    "AWS_SECRET_ACCESS_KEY": "intercepted",
    "AWS_SESSION_TOKEN": "intercepted",
}
REGION = "AWS_DEFAULT_REGION"
ACCOUNT = "123456789012"
"""Moto's, so that the ARNs of tables have the same account as its other services."""
HOST = re.compile(
    r"https://(?:(?:streams\.)?dynamodb(?:-fips)?|\d{12}\.ddb(?:-fips)?)\.([a-z0-9-]+)\."
)
"""AWS's endpoints, which have the region of a client.

https://docs.aws.amazon.com/general/latest/gr/ddb.html
"""
Answer = Callable[..., AWSResponse]
Decorated = TypeVar("Decorated", bound=Callable[..., Any])

LOCK = threading.Lock()
ANSWERS: list[Answer] = []
"""Those of the active interceptions, the last one entered last."""
REPLACED: list[Callable[[], None]] = []
"""The functions that restore botocore, boto3 and the environment."""
botocore_emit: Callable[..., Any] = EventAliaser.emit


class Intercept:
    """What `intercept` returns: a context manager, and a decorator of functions and classes."""

    def __init__(self, engine: Engine | None = None) -> None:
        self._engine = engine
        self._entered: list[ExitStack] = []

    def __enter__(self) -> Engine:
        entered = ExitStack()
        engine = entered.enter_context(intercepting(self._engine))
        self._entered.append(entered)
        return engine

    def __exit__(self, *raised: object) -> None:
        self._entered.pop().close()

    def __call__(self, target: Decorated) -> Decorated:
        """Decorates a function, plain or async, a generator, or a class of tests."""
        begin = functools.partial(intercepting, self._engine)
        decorated: Any = target
        if inspect.isclass(target):
            decorate_class(target, begin)
        else:
            decorated = functools.wraps(target)(around(target, begin))
        return decorated  # type: ignore[no-any-return]


@overload
def intercept(target: None = None, /, *, engine: Engine | None = None) -> Intercept: ...
@overload
def intercept(target: Decorated, /, *, engine: Engine | None = None) -> Decorated: ...
def intercept(target: Any = None, /, *, engine: Engine | None = None) -> Any:
    """Has every boto3 client answered by an engine: a new one in memory, or the one given.

    `with intercept() as engine:`, `@intercept` or `@intercept()`. A new engine is closed at the
    end, and does background work, such as filling a new index, at once; call its `tidy()` to have
    items expire.
    """
    made = Intercept(engine)
    return made if target is None else made(target)


Begin = Callable[[], AbstractContextManager[Engine]]


@contextmanager
def intercepting(given: Engine | None) -> Iterator[Engine]:
    with ExitStack() as leaving:
        engine = given or leaving.enter_context(make_engine())
        answer = answer_by_region(engine, has_chores=given is None)
        with LOCK:
            if not ANSWERS:
                replace()
            ANSWERS.append(answer)
        leaving.callback(leave, answer)
        yield engine


def make_engine() -> Engine:
    """An engine with moto's account, and with one shard per stream as in moto.

    So a test that reads only the first shard reads the whole stream.
    """
    region = os.environ.get(REGION) or "us-east-1"
    return Engine.memory(
        housekeeping=False,
        stream_shards=1,
        account=ACCOUNT,
        region=region,
        replication="sync",  # no thread would replicate
    )


def leave(answer: Answer) -> None:
    with LOCK:
        ANSWERS.remove(answer)
        if not ANSWERS:
            put_back()


def answer_by_region(engine: Engine, *, has_chores: bool) -> Answer:
    """Answers a client as its region does: the home region, unless its region has replicas."""

    def handler(region: Transport) -> Answer:
        return response_handler(with_chores(region, engine) if has_chores else region)

    home = handler(engine)

    def answer(request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        found = HOST.match(request.url)
        if found is None or found[1] == engine.region:
            return home(request)
        return handler(engine.in_region(found[1]))(request)

    return answer


def with_chores(transport: Transport, engine: Engine) -> Transport:
    """An engine without a housekeeping thread, which costs a test a millisecond.

    Of that thread's work, only the filling of a new index or replica is done, before the response.
    """

    def answer(request: Request) -> Response:
        response = transport(request)
        if request.operation == "UpdateTable":
            engine.tidy()
        return response

    return answer


# --- What is changed in botocore, boto3 and the environment ---------------------------------


def replace() -> None:
    try:
        set_environment()
        if boto3.DEFAULT_SESSION is None:
            boto3.DEFAULT_SESSION = kept = default_session(len(BUILTIN_HANDLERS))
            REPLACED.append(functools.partial(drop_default_session, kept))
    except BaseException:  # such as for an AWS_PROFILE that no file has
        put_back()
        raise
    share_what_is_known()
    EventAliaser.emit = emit  # type: ignore[method-assign]


def share_what_is_known() -> None:
    """Makes clients cheaper, if botocore still has the names that `sharing` replaces."""
    try:
        from bigtime.testing.sharing import share
    except (AttributeError, ImportError, KeyError):
        return  # a newer botocore lacks one of the names: it creates each client by itself
    share(REPLACED)


def set_environment() -> None:
    region = {} if REGION in os.environ else {REGION: "us-east-1"}
    for name, value in {**CREDENTIALS, **region}.items():
        REPLACED.append(functools.partial(set_variable, name, os.environ.get(name)))
        os.environ[name] = value


def put_back() -> None:
    EventAliaser.emit = botocore_emit  # type: ignore[method-assign]
    while REPLACED:
        REPLACED.pop()()


def set_variable(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


@functools.lru_cache(maxsize=1)
def default_session(handlers: int) -> boto3.Session:
    """Cached by the number of handlers: moto adds its own when it is imported."""
    return boto3.Session()


def drop_default_session(kept: boto3.Session) -> None:
    if boto3.DEFAULT_SESSION is kept:
        boto3.DEFAULT_SESSION = None


def emit(self: Any, event_name: str, **arguments: Any) -> Any:
    """Replaces `EventAliaser.emit`, whose stubs do not show its emitter."""
    kind, _, rest = event_name.partition(".")
    latest = ANSWERS[-1:]  # read once: another thread may leave its interception meanwhile
    if not latest or rest.partition(".")[0] not in SERVICES:
        return botocore_emit(self, event_name, **arguments)
    if kind == "before-send":
        return answer_event(self, latest[0], arguments["request"])
    if kind == "request-created":
        return give_responses(self, [])
    return self._emitter.emit(event_name, **arguments)


def answer_event(events: Any, answer: Answer, request: AWSPreparedRequest) -> Any:
    response = answer(request)
    if is_async(events):
        response.__class__ = AwaitedResponse
    return give_responses(events, [(answer, response)])


def give_responses(events: Any, responses: list[Any]) -> Any:
    """The responses, or for aiobotocore a coroutine that returns them."""
    return respond(responses) if is_async(events) else responses


async def respond(responses: list[Any]) -> list[Any]:
    return responses


def is_async(events: Any) -> bool:
    return is_coroutine(type(events._emitter)._emit)


@functools.cache
def is_coroutine(function: Callable[..., Any]) -> bool:
    """Whether a function is a coroutine function; cached, because each event needs it."""
    return inspect.iscoroutinefunction(function)


class AwaitedResponse(AWSResponse):
    """A response as aiobotocore reads it: it awaits the content."""

    @property
    def content(self) -> Any:
        async def read() -> bytes:
            return AWSResponse.content.fget(self)  # type: ignore[attr-defined,no-any-return]

        return read()


# --- Decorators -------------------------------------------------------------------------------


def around(function: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    """The function, each call of it inside an interception of its own."""
    if inspect.isasyncgenfunction(function):

        async def generate_async(*arguments: Any, **named: Any) -> AsyncIterator[Any]:
            with begin():
                async for value in function(*arguments, **named):
                    yield value

        return generate_async
    if inspect.iscoroutinefunction(function):

        async def call_async(*arguments: Any, **named: Any) -> Any:
            with begin():
                return await function(*arguments, **named)

        return call_async
    if inspect.isgeneratorfunction(function):

        def generate(*arguments: Any, **named: Any) -> Generator[Any, Any, Any]:
            with begin():
                return (yield from function(*arguments, **named))

        return generate

    def call(*arguments: Any, **named: Any) -> Any:
        with begin():
            return function(*arguments, **named)

    return call


def decorate_class(tests: type, begin: Begin) -> None:
    """Gives each test its own engine, from its setup to its teardown.

    The tests of a class with a setup for the whole class share an engine.
    """
    if issubclass(tests, TestCase):
        decorate_test_case(tests, begin)
    elif hasattr(tests, "setup_class"):
        span(tests, "setup_class", "teardown_class", begin, classmethod)
    elif hasattr(tests, "setup_method"):
        span(tests, "setup_method", "teardown_method", begin, lambda method: method)
    else:
        for name in dir(tests):
            method = inspect.getattr_static(tests, name)
            if name.startswith("test") and inspect.isfunction(method):
                setattr(tests, name, functools.wraps(method)(around(method, begin)))


def decorate_test_case(tests: Any, begin: Begin) -> None:
    set_up = plain_function(tests, "setUpClass")
    if set_up is plain_function(TestCase, "setUpClass"):
        tests.run = functools.wraps(tests.run)(around(tests.run, begin))
        return

    def enter_and_set_up(cls: type[TestCase]) -> None:
        cls.enterClassContext(begin())
        set_up(cls)

    tests.setUpClass = classmethod(enter_and_set_up)


def span(
    tests: Any, setup: str, teardown: str, begin: Begin, bind: Callable[[Any], object]
) -> None:
    """Makes the interception last from before the setup until after the teardown."""
    set_up, tear_down = plain_function(tests, setup), plain_function(tests, teardown)
    entered: list[ExitStack] = []

    # pytest counts the parameters, and passes the test's method if there is one for it.
    def enter(owner: Any, method: Any = None) -> None:
        with ExitStack() as leaving:
            leaving.enter_context(begin())
            call_with_room(set_up, owner, method)
            entered.append(leaving.pop_all())

    def leave(owner: Any, method: Any = None) -> None:
        with entered.pop():
            call_with_room(tear_down, owner, method)

    setattr(tests, setup, bind(enter))
    setattr(tests, teardown, bind(leave))


def plain_function(tests: type, name: str) -> Callable[..., Any]:
    found = inspect.getattr_static(tests, name, lambda owner: None)
    function: Callable[..., Any] = getattr(found, "__func__", found)
    return function


def call_with_room(function: Callable[..., Any], *arguments: Any) -> None:
    function(*arguments[: len(inspect.signature(function).parameters)])
