"""Group commit: one sync to disk for all that asked while the last one ran.

A sync costs more than everything else in a write, so writers share it, leader and followers:

1. A writer queues its work. The first to come leads; the others sleep.
2. The leader takes all that is queued, takes the writer lock, and runs each work in turn in one
   SQLite transaction; each sees what the works before it wrote. It commits, which syncs, and
   only then wakes its followers: nobody is acknowledged before its sync.
3. Whoever queued meanwhile is led by the first among them. A lone writer leads itself, hands
   over to nobody, and waits for nobody.
4. A work that raises a `DynamoDBError` has written nothing: each plans first, reads and checks
   everything, and only then writes. So one writer's failed condition undoes nobody else's work.
5. Any other exception (a full disk, a bug) rolls the whole transaction back, and then each of
   the works runs once more in a transaction of its own, so that only the guilty one fails.
6. A checkpoint waits its turn in the same queue, for it may not run inside a transaction and
   must not starve behind a busy writer.

An event loop must not sleep through a sync, nor behind another process. Its works are led by a
thread kept for them, and call back; where nothing is synced and the writer lock is free they are
led at once.

Another process may keep the writer lock for ever, if it is stopped while it writes. So the wait
for it has a deadline, counted from when the first of a group was queued, and then the whole group
is told to retry.

An interrupt (Ctrl-C) may strike a leader between any two calls. So who leads, and the group being
led, are kept in the committer and changed only where no call stands between; whoever is
interrupted puts things in order before the interrupt goes on: works whose commit had happened are
acknowledged, the others fail, and the next in the queue leads.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, TypeAlias, TypeVar, cast

import apsw

from bigtime.engine.storage.catalogue import Catalogue
from bigtime.engine.storage.clock import times_of
from bigtime.engine.storage.damage import UnreadableItem, explain, is_full
from bigtime.engine.storage.file import CLOSED, File, Transaction
from bigtime.engine.storage.writer_lock import LockTimeout, LogLost
from bigtime.wire import DynamoDBError, InternalServerError

log = logging.getLogger("bigtime.engine")

T = TypeVar("T")
Done: TypeAlias = Callable[[Any, BaseException | None], None]
Work: TypeAlias = Callable[[Transaction], T]


class Ticket(Generic[T]):
    """A writer's place in the queue: its work, and afterwards how it went."""

    __slots__ = ("alone", "done", "error", "is_led", "is_over", "result", "since", "wake", "work")

    def __init__(self, work: Callable[[Any], T], done: Done | None = None) -> None:
        self.work = work
        self.done = done
        self.alone = False
        self.since = time.monotonic()
        self.wake: threading.Lock | None = None
        self.result: T | None = None
        self.error: BaseException | None = None
        self.is_led = False
        self.is_over = False

    def outcome(self) -> T:
        error, self.error = self.error, None
        if error is None:
            return cast(T, self.result)
        try:
            raise error
        finally:
            # Else error, traceback and frame would hold each other until a full collection.
            del error

    def sleep(self) -> None:
        self.wake = threading.Lock()
        self.wake.acquire()

    def rouse(self) -> None:
        if self.wake:
            # Released already, by a leader that was interrupted right after.
            with suppress(RuntimeError):
                self.wake.release()

    def finish(self) -> None:
        """Passes the result to the callback; further calls do nothing."""
        done, self.done = self.done, None
        if done:
            try:
                done(self.result, self.error)
            except Exception:
                # It must not end the thread that leads the commits of all others.
                log.exception("the callback of a write failed")
        self.rouse()


class Committer:
    """Runs works on the file, in groups."""

    def __init__(
        self,
        file: File,
        *,
        catalogue: Catalogue,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._file = file
        self._catalogue = catalogue
        self._clock = clock
        self._times = times_of(clock)
        self._mutex = threading.Lock()
        self._queue: deque[Ticket[Any]] = deque()
        self._group: deque[Ticket[Any]] = deque()
        self._leader: Ticket[Any] | None = None
        self._closed = False
        self._loop_leader: threading.Thread | None = None
        self._loop_wake = threading.Semaphore(0)
        self.groups = 0
        self.acknowledged = 0
        self.commit_seconds = 0.0

    def run(self, work: Work[T]) -> T:
        """Runs the work, and returns once it is committed as durably as the file promises."""
        return self._queue_and_wait(Ticket(work))

    def run_alone(self, work: Callable[[apsw.Connection], T]) -> T:
        """Runs the work on the writing connection, outside any transaction."""
        ticket = Ticket(work)
        ticket.alone = True
        return self._queue_and_wait(ticket)

    def submit(self, work: Work[Any], done: Done) -> None:
        """Queues the work and returns; `done` is called by the committing thread."""
        ticket = Ticket(work, done)
        self._enqueue(ticket)
        if self._leader is ticket:
            if self._file.syncs or not self._file.try_lock():
                self._wake_loop_leader()
                return
            try:
                # Nothing to wait for: handing over would cost more than the commit.
                self._lead()
            finally:
                self._file.unlock()

    def close(self) -> None:
        """Accepts no more work, and returns when the accepted work is done."""
        with self._mutex:
            self._closed = True
        while self._leader is not None:
            time.sleep(0.001)
        if self._loop_leader:
            self._loop_wake.release()
            self._loop_leader.join()

    def _queue_and_wait(self, ticket: Ticket[T]) -> T:
        try:
            self._enqueue(ticket)
            if ticket.wake:
                ticket.wake.acquire()
            if self._leader is ticket:
                self._lead()
        except BaseException:
            try:
                self._abandon(ticket)
            except BaseException:
                # Interrupted again while putting things in order.
                self._abandon(ticket)
            raise
        return ticket.outcome()

    def _enqueue(self, ticket: Ticket[Any]) -> None:
        with self._mutex:
            if self._closed:
                raise RuntimeError(CLOSED)
            if self._leader is not None and not ticket.done:
                ticket.sleep()
            self._queue.append(ticket)
            if self._leader is None:
                self._leader = ticket

    def _abandon(self, ticket: Ticket[Any]) -> None:
        """An interrupted writer leaves the queue, and the lead to the next."""
        with self._mutex:
            if ticket in self._queue:
                self._queue.remove(ticket)
            leader = self._leader
        if leader is ticket:
            self._end_lead()
        elif leader is not None and not leader.is_led:
            # We may have made it the leader without waking it.
            self._tell_leader(leader)

    def _wake_loop_leader(self) -> None:
        with self._mutex:
            if self._loop_leader is None:
                self._loop_leader = threading.Thread(
                    target=self._lead_for_loops, name="bigtime-commit", daemon=True
                )
                self._loop_leader.start()
        self._loop_wake.release()

    def _lead_for_loops(self) -> None:
        while True:
            self._loop_wake.acquire()
            if self._leader is None or not self._is_from_loop(self._leader):
                if self._closed:
                    return
                continue
            self._lead()

    def _is_from_loop(self, ticket: Ticket[Any]) -> bool:
        return ticket.done is not None

    def _lead(self) -> None:
        """Commits what is queued; the caller is the leader, and no thread leads twice."""
        try:
            with self._mutex:
                if self._leader is None or self._leader.is_led:
                    return
                fresh: deque[Ticket[Any]] = deque()
                # No call between these: an interrupt cannot lose a ticket.
                self._leader.is_led = True
                self._group, self._queue = self._queue, fresh
            self._commit([ticket for ticket in self._group if not ticket.alone])
            for ticket in self._group:
                if ticket.alone:
                    self._work_alone(ticket)
        except BaseException:
            self._end_lead()
            raise
        self._end_lead()

    def _end_lead(self) -> None:
        """Tells the group the outcome, and gives the lead to the next. May be repeated."""
        for ticket in self._group:
            if not ticket.is_over and ticket.error is None:
                ticket.error = InternalServerError(
                    "The writer was interrupted before its commit: nothing was changed. Retry."
                )
            ticket.finish()
        with self._mutex:
            fresh: deque[Ticket[Any]] = deque()
            heir = self._queue[0] if self._queue else None
            self._group, self._leader = fresh, heir
        if heir is not None:
            self._tell_leader(heir)

    def _tell_leader(self, leader: Ticket[Any]) -> None:
        if self._is_from_loop(leader):
            self._wake_loop_leader()
        else:
            leader.rouse()

    def _work_alone(self, ticket: Ticket[Any]) -> None:
        try:
            self._file.lock(ticket.since)
            self._file.log_guard.check()
            ticket.result = ticket.work(self._file.writer)
            ticket.is_over = True
        except LogLost as error:
            self._file.save_log()
            ticket.error = error
        except Exception as error:
            if isinstance(error, apsw.FullError):
                self._file.meet_full_disk()
            ticket.error = error
        finally:
            self._file.unlock()

    def _commit(self, group: list[Ticket[Any]]) -> None:
        if not group:
            return
        try:
            self._attempt(group)
        except (LockTimeout, LogLost) as error:
            for ticket in group:
                ticket.error = retryable(error)
        except Exception as error:
            self._isolate(group, error)

    def _isolate(self, group: list[Ticket[Any]], error: Exception) -> None:
        if len(group) == 1:
            group[0].error = retryable(error)
            return
        for ticket in group:
            ticket.error = None
            try:
                self._attempt([ticket])
            except Exception as own:
                ticket.error = retryable(own)

    def _attempt(self, group: list[Ticket[Any]]) -> None:
        connection = self._file.writer
        transaction: Transaction | None = None
        try:
            self._file.lock(group[0].since)
            if self._file.log_guard.is_lost:
                self._file.log_guard.refuse()
            # An interrupt may have struck between a BEGIN and what was to undo it.
            roll_back(connection)
            connection.run("BEGIN IMMEDIATE")
            self._catalogue.begin(connection)
            works = Transaction(connection, *self._times())
            for ticket in group:
                try:
                    ticket.result = ticket.work(works)
                except DynamoDBError as error:
                    ticket.error = error
            works.write_counts()
            transaction = works
            begun = time.perf_counter()
            connection.run("COMMIT")
            self.commit_seconds += time.perf_counter() - begun
            self._file.log_guard.check()
            self._acknowledge(group, transaction)
        except LogLost:
            self._catalogue.rolled_back()
            self._file.save_log()
            raise
        except apsw.Error as error:
            has_no_room = is_full(error, connection)
            if has_no_room:
                self._file.meet_full_disk()
            self._undo(connection)
            if has_no_room:
                raise apsw.FullError(str(error)) from error
            raise
        except BaseException:
            if transaction is None or connection.in_transaction:
                self._undo(connection)
            else:
                # The commit had happened when the interrupt struck.
                self._acknowledge(group, transaction)
            raise
        finally:
            self._file.unlock()

    def _undo(self, connection: apsw.Connection) -> None:
        roll_back(connection)
        self._catalogue.rolled_back()

    def _acknowledge(self, group: list[Ticket[Any]], transaction: Transaction) -> None:
        """Records what was committed. May be repeated after an interrupt."""
        for ticket in group:
            ticket.is_over = True
        self._catalogue.note_commit(transaction.connection)
        for publish in transaction.on_commit:
            publish()
        self.groups += 1
        self.acknowledged += len(group)


def roll_back(connection: apsw.Connection) -> None:
    # A full disk or an I/O error may have rolled back already.
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def retryable(error: Exception) -> Exception:
    """The error for the writer: AWS's retryable error if the disk problem may pass."""
    if isinstance(error, LockTimeout):
        return InternalServerError(f"Nothing was written, for {error.strerror}. Retry.")
    if isinstance(error, LogLost):
        return InternalServerError(str(error))
    if isinstance(error, apsw.Error | UnreadableItem):
        return explain(error, "written")
    return error
