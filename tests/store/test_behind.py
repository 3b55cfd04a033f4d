"""How far behind a consumer is: right while it works, while it fails, and while it cannot read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from bigtime.engine import Engine
from bigtime.store import Store, consume
from bigtime.store.consumer import Consumer
from bigtime.wire import Request, ResourceInUseException, Response, Steps
from tests.store.places import START, STREAM, Time, create, put

SECOND = timedelta(seconds=1)


class Scene:
    """A consumer that does as it is told, under a clock that somebody turns."""

    def __init__(self, engine: Engine, time: Time) -> None:
        self.time = time
        self.handle: Callable[[], None] = lambda: None
        self.engine = engine
        self.store = Store(self.ask, clock=time.clock)
        self.is_away = False
        self.store.run(create(StreamSpecification=STREAM))
        self.consumer: Consumer = consume(self.store, "Things", self.handling, name="test")

    def ask(self, request: Request) -> Response:
        if self.is_away and request.operation == "GetRecords":
            raise ResourceInUseException("away")
        return self.engine(request)

    def handling(self, record: Response) -> Steps[None]:
        self.handle()
        return
        yield

    def behind(self) -> timedelta:
        return self.consumer.consumption.behind(self.time.now, begun=START)


@pytest.fixture
def scene(engine: Engine, time: Time) -> Scene:
    return Scene(engine, time)


def test_who_has_read_everything_is_not_behind(scene: Scene) -> None:
    scene.store.run(put("a"))
    scene.consumer.run_once()
    assert scene.behind() == timedelta()
    scene.time.now += SECOND
    scene.consumer.run_once()
    assert scene.behind() == timedelta()


def test_while_a_record_is_handled_it_is_as_old_as_it_is(scene: Scene) -> None:
    seen: list[timedelta] = []
    scene.store.run(put("a"))

    def take_long() -> None:
        scene.time.now += timedelta(seconds=90)
        seen.append(scene.behind())

    scene.handle = take_long
    scene.consumer.run_round()
    (told,) = seen
    assert told == timedelta(seconds=90)


def test_a_record_that_fails_again_and_again_grows_old(scene: Scene) -> None:
    scene.store.run(put("a"))

    def fail() -> None:
        raise ValueError("poison")

    scene.handle = fail
    for _ in range(3):
        with pytest.raises(ValueError, match="poison"):
            scene.consumer.run_round()
    scene.time.now += timedelta(minutes=5)
    assert scene.behind() == timedelta(minutes=5)

    scene.handle = lambda: None
    scene.consumer.run_once()
    assert scene.behind() == timedelta()


def test_who_cannot_read_may_be_behind_since_it_could(scene: Scene) -> None:
    scene.consumer.run_once()
    scene.is_away = True
    scene.time.now += timedelta(seconds=40)
    with pytest.raises(ResourceInUseException):
        scene.consumer.run_round()
    assert scene.behind() == timedelta(seconds=40)


def test_who_has_never_read_may_be_behind_since_it_began(scene: Scene) -> None:
    scene.time.now += timedelta(seconds=7)
    assert scene.behind() == timedelta(seconds=7)
