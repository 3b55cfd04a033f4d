"""Moving tables to another store while the application keeps writing to the first.

1. The stream of every source table is enabled, if it is off, before anything is read.
2. The tables are created in the target, and every item is copied, by parallel scans. A page may be
   out of date by the time it is written, or bring back an item that was deleted meanwhile.
3. Then the streams are followed in order, from before the copy began. They hold every change to an
   item since then, the last one last, so each item ends as it is in the source: one that was
   deleted is deleted again.
4. When the target has caught up, both are compared item by item.
5. The writers stop, the rest of the streams is applied (`finish`), and the application is started
   on the target. Only now does the target get what acts on its own, such as the time to live.
6. The replicas are created last: from here on the application may write to the target, so nothing
   is copied or compared any more.

The state file has the phase, the positions of the scans and those in the streams. A process that is
killed at any point continues from there, and repeats only what can safely be repeated.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any, Final

from bigtime.ops import table_copy
from bigtime.ops.comparison import Comparison
from bigtime.ops.job_state import CannotGoOn, JobState
from bigtime.ops.migration_end import (
    announce_settings,
    copy_policies,
    make_replicas,
    read_table,
    replica_settings,
)
from bigtime.ops.table_copy import StreamCopy, write_all
from bigtime.ops.table_settings import (
    TableSettings,
    give_settings,
    read_settings,
    stream_request,
    wait_until_active,
)
from bigtime.ops.table_walk import TableWalk
from bigtime.store import QUIET_ROUNDS, Store
from bigtime.wire import Item

SAVE_SECONDS: Final = 0.5
QUIET_SECONDS: Final = 0.2
KEPT_SECONDS: Final = 23 * 3600.0
"""A stream keeps its records for a day."""
REPLICA_SECONDS: Final = 4 * 3600.0
"""How long `--finish` waits for replicas; it can be run again."""


class Migration:
    """Tables that are moving from one store to another. `say` is called with what has happened."""

    def __init__(
        self,
        source: Store,
        target: Store,
        tables: list[str],
        state: JobState,
        *,
        segments: int,
        say: Callable[[str], None],
    ) -> None:
        self.source = source
        self.target = target
        self.tables = tables
        self.state = state
        self.segments = segments
        self.say = say
        saved = state.values
        self.began_at: float = saved.get("beganAt", 0.0)
        self.followed_at: float = saved.get("followedAt", self.began_at)
        self.is_copied: bool = saved.get("isCopied", False)
        self.settings: dict[str, dict[str, Any]] = saved.get("settings", {})
        self.replicas: dict[str, list[dict[str, Any]]] | None = saved.get("replicas")
        """The replicas to create, by table, once everything else is done."""
        self.places: dict[str, dict[str, list[Any]]] = saved.get("streams", {})
        self.walk = TableWalk(tables, segments, saved.get("places"), consistent=False)
        self.walk.seen = saved.get("copied", 0)
        self.keys: dict[str, dict[str, str]] = {}
        self.followers: list[StreamCopy] = []
        self.saved_at = 0.0
        self._saving = threading.Lock()
        self._following = threading.Lock()

    @property
    def changes_applied(self) -> int:
        return sum(follower.applied for follower in self.followers)

    # --- The state file ---

    def save(self) -> None:
        with self._saving:
            values = {
                "beganAt": self.began_at,
                "followedAt": self.followed_at,
                "isCopied": self.is_copied,
                "settings": self.settings,
                "replicas": self.replicas,
                "places": self.walk.places(),
                "copied": self.walk.seen,
                "streams": {name: dict(places) for name, places in self.places.items()},
            }
            self.state.save(values)
            self.saved_at = time.monotonic()

    def save_sometimes(self) -> None:
        if time.monotonic() - self.saved_at > SAVE_SECONDS:
            self.save()

    # --- The steps ---

    def prepare(self) -> None:
        """Enables the streams, creates the tables, and finds the starting points in the streams."""
        if not self.state.is_resumed:
            for name in self.tables:
                table_copy.check_empty(self.target, name)
            self.settings = {
                name: asdict(self.source.run(read_settings(name))) for name in self.tables
            }
            # From here on the state file knows which streams were off, whatever happens.
            self.save()
            for name in self.tables:
                self.say_all(announce_settings(self.source, name))
        self.switch_streams_on()
        if not self.began_at:
            self.began_at = self.followed_at = time.time()
            self.save()
        self.check_streams_kept()
        for name in self.tables:
            if table_copy.copy_table(self.source, self.target, name):
                self.say(f"created table {name} in the target")
        self.start_followers()

    def switch_streams_on(self) -> None:
        for name in self.tables:
            if self.source.run(read_settings(name)).stream is not None:
                continue
            if self.began_at:
                raise CannotGoOn(
                    f"The stream of {name} was switched off since the migration began, and what was"
                    f" written since is not known: delete {self.state.path} and the tables in the"
                    " target, and begin anew."
                )
            self.source.send(stream_request(name, table_copy.FOLLOWED))
            self.say(f"switched on the stream of {name}")
        for name in self.tables:
            self.source.run(wait_until_active(name))

    def check_streams_kept(self) -> None:
        hours = (time.time() - self.followed_at) / 3600
        if time.time() - self.followed_at > KEPT_SECONDS:
            raise CannotGoOn(
                f"The streams were last followed {hours:,.0f} hours ago, and keep their records for"
                f" 24: delete {self.state.path} and the tables in the target, and begin anew, with"
                " more --segments if the copy took so long."
            )

    def start_followers(self) -> None:
        for name in self.tables:
            self.keys[name] = table_copy.key_of(self.source.run(wait_until_active(name)))
            follower = StreamCopy(
                self.source,
                self.target,
                name,
                self.keys[name],
                self.places.setdefault(name, {}),
                began_at=self.began_at,
                on_save=self.save_sometimes,
            )
            self.followers.append(follower)

    def copy(self, tell: Callable[[int], None]) -> None:
        """Copies the items not copied yet; `tell` is called with the number copied so far."""
        if self.is_copied:
            return

        def look() -> None:
            tell(self.walk.seen)
            self.save_sometimes()

        def put_page(table: str, items: list[Item]) -> None:
            write_all(self.target, table, [{"PutRequest": {"Item": item}} for item in items])

        try:
            self.walk.run(self.source, put_page, look)
        finally:
            self.save()
        self.is_copied = True
        self.save()
        self.check_streams_kept()

    def catch_up(self) -> None:
        """Follows the streams until the target is at most a few seconds behind."""
        with self._following:
            quiet = 0
            while quiet < QUIET_ROUNDS:
                turns = [turn for follower in self.followers for turn in follower.run_round()]
                quiet = quiet + 1 if all(turn.is_near for turn in turns) else 0
                if not any(turn.records for turn in turns):
                    self.source.sleep(QUIET_SECONDS)
            self.note_followed()

    def drain(self) -> int:
        """Applies all available stream records, and returns how many there were."""
        with self._following:
            handled = sum(follower.drain() for follower in self.followers)
            self.note_followed()
            return handled

    def note_followed(self) -> None:
        self.followed_at = time.time()
        self.save()

    def compare(self, tell: Callable[[int], None]) -> Comparison:
        comparison = Comparison(
            self.source,
            self.target,
            self.keys,
            report=lambda found: self.say(f"{found.table} {found.key}: differs ({found.kind})"),
            follow=self.catch_up,
            segments=self.segments,
        )
        comparison.run(tell)
        return comparison

    def finish(self) -> None:
        """Enables what acts on its own in the target's tables: the application may start there."""
        for name in self.tables:
            # Its tags came with the table; its replicas are created at the end.
            settings = TableSettings(**{**self.settings[name], "tags": {}, "replicas": ()})
            self.target.run(give_settings(name, settings))
            self.say_all(copy_policies(self.source, self.target, name))
        self.replicas = {
            name: replica_settings(read_table(self.source, name)) for name in self.tables
        }
        self.save()

    def make_replicas(self) -> None:
        """Creates the replicas that the source has, and deletes the state file."""
        assert self.replicas is not None
        make_replicas(self.target, self.replicas, seconds=REPLICA_SECONDS, say=self.say)
        self.state.finish()

    def say_all(self, sentences: Iterable[str]) -> None:
        for sentence in sentences:
            self.say(sentence)
