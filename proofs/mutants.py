"""Builds that are broken on purpose: a proof that does not catch them proves nothing.

Each is made in a child process, by patching the engine in memory.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from bigtime.engine.operations.write import Plan
from bigtime.engine.storage import file
from bigtime.engine.storage.commit import Committer, Ticket, Work
from bigtime.engine.storage.file import Transaction


def do_not_sync() -> None:
    """Acknowledges commits without a sync."""
    file.SYNCHRONOUS["full"] = "OFF"


def write_index_apart() -> None:
    """Writes index entries in a transaction of their own, after the item's."""
    apply_indexes, attempt = Plan.apply_indexes, Committer._attempt
    late: list[Callable[[Transaction], None]] = []

    def put_off(plan: Plan, transaction: Transaction) -> None:
        late.append(lambda later: apply_indexes(plan, later))

    def attempt_in_two(committer: Committer, group: list[Ticket[Any]]) -> None:
        late.clear()
        attempt(committer, group)
        connection = committer._file.writer
        with committer._file.exclusive():
            connection.execute("BEGIN IMMEDIATE")
            transaction = Transaction(connection, committer._clock())
            for apply in late:
                apply(transaction)
            transaction.write_counts()
            connection.execute("COMMIT")

    Plan.apply_indexes = put_off  # type: ignore[assignment, method-assign]
    Committer._attempt = attempt_in_two  # type: ignore[assignment, method-assign]


def acknowledge_before_commit() -> None:
    """Answers a writer as soon as its work is done, before the commit."""

    def run(committer: Committer, work: Work[Any]) -> Any:
        answered = threading.Event()
        answer: list[Any] = []

        def work_and_answer(transaction: Transaction) -> None:
            answer.append(work(transaction))
            answered.set()

        def finish(result: object, error: BaseException | None) -> None:
            answer.append(error)
            answered.set()

        committer.submit(work_and_answer, finish)
        answered.wait()
        if isinstance(answer[0], BaseException):
            raise answer[0]
        return answer[0]

    Committer.run = run  # type: ignore[assignment, method-assign]


MUTANTS: dict[str, Callable[[], None]] = {
    "no sync": do_not_sync,
    "index apart": write_index_apart,
    "acknowledged early": acknowledge_before_commit,
}


def mutate(name: str | None) -> None:
    if name is not None:
        MUTANTS[name]()
