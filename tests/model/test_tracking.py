"""Operations that are never run warn with their line; and what they look like, and their errors."""

from __future__ import annotations

import gc
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.model import (
    Conflict,
    DomainError,
    Entity,
    ItemExists,
    ItemMissing,
    ItemTooLarge,
    Keys,
    NotFound,
    SecretText,
    Steps,
    Table,
    ValueRefused,
    add,
    all_of,
    check,
    count,
    create,
    delete,
    get,
    get_many,
    get_together,
    pattern,
    put,
    query,
    scan,
    setup,
    together,
    transact,
    update,
)
from bigtime.store import Store

TRACKS = Table("Tracks", "PK", "SK")


class Song(Entity, table=TRACKS, version="version"):
    keys = Keys(main=("SONG#{title}", "SONG"))
    title: str
    plays: int = 0
    version: int | None = None
    text: str = ""


class Code(Entity, table=TRACKS):
    keys = Keys(main=("CODE#{code}", "CODE"))
    code: SecretText


class UnknownSong(NotFound):
    """There is no such song."""


class OwnKey(DomainError):
    """It has a key of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.key = "mine"  # type: ignore[assignment]


@pattern("Play", index="Main table")
def play(title: str) -> Steps[None]:
    yield from add(Song.key(title), plays=1)


SONG = Song(title="x")
MADE: dict[str, Callable[[], Any]] = {
    "get(Song, title='x') was": lambda: get(Song.key("x")),
    "put(Song, title='x') was": lambda: put(SONG),
    "update(Song, title='x', plays=..., version=...) was": lambda: update(Song.key("x"), plays=1),
    "delete(Song, title='x') was": lambda: delete(Song.key("x")),
    "query(Song, main, PK = 'SONG#x', SK = 'SONG') was": lambda: query(
        Song.within("main", title="x")
    ),
    "count(Song, main, PK = 'SONG#x', SK = 'SONG') was": lambda: count(
        Song.within("main", title="x")
    ),
    "scan(Song, main) was": lambda: scan(Song),
    "get_together(Song, title='x') was": lambda: get_together(Song.key("x")),
    "transact(put(Song, title='x')) was": lambda: transact(put(SONG)),
    "get(Code, code=***) was": lambda: get(Code.key("hush")),
    "get_many(...) was": lambda: get_many([Song.key("x")]),
    "all_of(...) was": lambda: all_of(Song.within("main", title="x")),
    "play(...) was": lambda: play("x"),
}


@pytest.fixture
def store(engine: Engine) -> Store:
    store = Store(engine)
    store.run(setup(TRACKS))
    return store


@pytest.fixture(scope="module", autouse=True)
def little_garbage() -> None:
    """What thousands of other tests left need not be gone through each time."""
    gc.collect()
    gc.freeze()


def warnings_of(make: Callable[[], Any]) -> list[warnings.WarningMessage]:
    gc.collect()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make()
        gc.collect()
    return [each for each in caught if "was never run" in str(each.message)]


@pytest.mark.parametrize("words", MADE)
def test_what_is_never_run_warns_where_it_was_made(words: str) -> None:
    (warning,) = warnings_of(MADE[words])
    assert str(warning.message).startswith(words)
    assert warning.category is RuntimeWarning
    assert warning.filename == __file__


def test_what_cannot_be_stored_has_a_repr_too() -> None:
    too_long = Song(title="x" * 3_000)
    assert repr(put(too_long)) == "put(Song)"
    (warning,) = warnings_of(lambda: put(too_long))
    assert str(warning.message).startswith("put(Song) was never run")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Song.key("x" * 3_000),
        lambda: Song(title="x" * 3_000).to_item(),
        lambda: Song.within("main", title="x" * 3_000),
        lambda: Song.within("main", title=None),
        lambda: Song.key(1),
        lambda: put(Song(title="x", plays=10**40 + 1)),
    ],
)
def test_a_value_that_is_refused_has_its_entity(store: Store, make: Callable[[], Any]) -> None:
    with pytest.raises(ValueRefused) as refused:
        store.run(make())
    assert refused.value.entity is Song


@pytest.mark.parametrize("words", MADE)
def test_what_is_run_does_not_warn(words: str, store: Store) -> None:
    store.run(put(SONG))

    def run() -> None:
        store.run(MADE[words]())

    if not words.startswith(("put", "transact")):  # the version that was seen is gone
        assert warnings_of(run) == []


def test_writes_of_a_transaction_do_not_warn(store: Store) -> None:
    def run() -> None:
        there = check(Song.key("y"), unless_exists=True)
        store.run(transact(create(SONG), there, put(Code(code="a"))))

    assert warnings_of(run) == []


def test_what_an_error_of_another_kept_from_running_does_not_warn(store: Store) -> None:
    def run() -> None:
        missing = get(Song.key("nothing"), missing=NotFound)
        with pytest.raises(NotFound):
            store.run(together(missing, all_of(Song.within("main", title="x"))))

    assert warnings_of(run) == []


def test_nothing_is_remembered_in_production() -> None:
    code = (
        "from bigtime.model.tracking import TRACKED, track\n"
        "def make(): ...\n"
        "assert not TRACKED and track(make) is make\n"
        "from bigtime.model import Op\n"
        "assert not hasattr(Op, '__del__')"
    )
    environment = {"PYTHONPATH": ":".join(sys.path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    developing = "from bigtime.model.tracking import TRACKED\nassert TRACKED"
    command = [sys.executable, "-X", "dev", "-W", "ignore", "-c", developing]
    subprocess.run(command, check=True, env=environment)


# What errors are about


def test_a_missing_item_names_its_key(store: Store) -> None:
    for steps in (
        get(Song.key("x"), missing=UnknownSong),
        update(Song.key("x"), plays=1, if_exists=UnknownSong),
        transact(check(Song.key("x"), if_exists=UnknownSong)),
    ):
        with pytest.raises(UnknownSong) as caught:
            store.run(steps)
        assert (caught.value.entity, caught.value.key) == (Song, Song.key("x"))
        assert caught.value.item is None
    with pytest.raises(ItemMissing) as missing:
        store.run(update(Song.key("x"), plays=1))
    assert missing.value.__notes__ == ["It is about Song.key(title='x')."]


def test_a_failed_condition_has_the_item_that_was_met(store: Store) -> None:
    stored = store.run(put(SONG))
    for steps in (create(SONG), transact(create(SONG))):
        with pytest.raises(ItemExists) as exists:
            store.run(steps)
        assert exists.value.key == Song.key("x")
        assert exists.value.item == stored.to_item()
    with pytest.raises(Conflict) as overtaken:
        store.run(put(SONG))
    assert overtaken.value.item == stored.to_item()


def test_an_error_keeps_attributes_of_its_own(store: Store) -> None:
    with pytest.raises(OwnKey) as caught:
        store.run(get(Song.key("x"), missing=OwnKey))
    assert caught.value.key == "mine"
    assert caught.value.entity is Song


def test_an_item_that_is_too_large_names_itself(store: Store) -> None:
    large = Song(title="x", text="y" * 410_000)
    for steps in (put(large), transact(put(large))):
        with pytest.raises(ItemTooLarge, match=r"Song.key\(title='x'\) would be 410,") as caught:
            store.run(steps)
        assert caught.value.entity is Song
        assert caught.value.key == Song.key("x")
        assert caught.value.size is not None and caught.value.size > 410_000
    store.run(put(SONG))
    with pytest.raises(ItemTooLarge, match="is too large") as updated:
        store.run(update(Song.key("x"), text="y" * 410_000))
    assert updated.value.size is None
