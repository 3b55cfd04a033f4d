"""P3: nobody is acknowledged before the sync of their commit.

Four writers run at once, each item under a name of its own. The tape shows which commit first wrote
a name into the log; between the last write of that commit and the acknowledgement there must be a
sync of the log. And a commit is synced once, not once for each of the writers who share it.

The tape is made twice: by a VFS in the process, and by strace where it may be used. A kill -9
cannot show any of this: what was written is in the kernel and survives the process.
"""

from __future__ import annotations

import re

from proofs import strace
from proofs.processes import in_child
from proofs.result import Result, result
from proofs.scratch import scratch
from proofs.tape import Tape
from proofs.traced import record

NAME = re.compile(rb'"(\d+/\d+)"')


class Judge:
    """Plays a tape and records every acknowledgement that came too early."""

    def __init__(self) -> None:
        self.commit_of: dict[bytes, int] = {}
        self.commits = self.synced = 0
        self.syncs = self.acks = 0
        self.ends_commit = self.has_new_frames = False
        self.violations: list[str] = []

    def play(self, tape: Tape) -> Judge:
        for event in tape:
            if event.kind == "ack":
                self.acknowledge(event.data)
            elif event.file == "wal" and event.kind == "sync":
                self.sync()
            elif event.file == "wal" and event.kind == "write":
                self.write(event.data)
                self.ends_commit = event.ends_commit
                self.has_new_frames = not event.starts_log
        if self.syncs > self.commits:
            self.violations.append(f"{self.syncs} syncs for {self.commits} commits")
        return self

    def write(self, data: bytes) -> None:
        for name in NAME.findall(data):
            self.commit_of.setdefault(name, self.commits)
        # The header of a commit's last frame comes first, its page after it.
        if self.ends_commit:
            self.commits += 1

    def sync(self) -> None:
        self.synced = self.commits
        # A new log's header is synced before any frame, and a checkpoint syncs the log before it
        # begins: neither is a commit's sync.
        self.syncs += self.has_new_frames
        self.has_new_frames = False

    def acknowledge(self, name: bytes) -> None:
        self.acks += 1
        commit = self.commit_of.get(name)
        if commit is None:
            self.violations.append(f"{name.decode()} was acknowledged and not yet written")
        elif commit >= self.synced:
            self.violations.append(f"{name.decode()} was acknowledged before its sync")


def run(writes: int, *, mutant: str | None = None, with_strace: bool = True) -> Result:
    counts: dict[str, int] = {}
    violations: list[str] = []
    skipped: list[str] = []
    with scratch() as folder:
        tapes: dict[str, Tape] = {
            "by VFS": in_child(record, folder / "recorded.db", writes, mutant)
        }
        reason = strace.why_not()
        if with_strace and reason is None:
            tapes["by strace"] = strace.run_traced(folder, writes, mutant)
        elif reason:
            skipped.append(reason)
    for how, tape in tapes.items():
        judge = Judge().play(tape)
        counts[f"acknowledgements {how}"] = judge.acks
        counts[f"commits {how}"] = judge.commits
        counts[f"syncs {how}"] = judge.syncs
        violations += [f"{how}: {each}" for each in judge.violations]
        if judge.acks < writes // 4 * 4:
            violations.append(f"{how}: {judge.acks} acknowledgements of {writes} writes")
    return result(counts, violations, skipped)
