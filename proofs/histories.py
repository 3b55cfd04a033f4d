"""P5: a single item behaves as one register, for every client in every process.

Four to eight clients in two processes race on one to three keys with puts, consistent reads,
conditional puts and counters; afterwards a third process reads every key. Each history must be
linearizable. And the checker itself is tested: three broken transports replace honest ones, and it
must catch every history in which they struck.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection

from bigtime.engine import Engine
from proofs import pace
from proofs.broken import BROKEN
from proofs.clients import Client, Part, Told, create_registers, play_parts
from proofs.linearizability import Operation, is_linearizable
from proofs.processes import children
from proofs.result import Result, result
from proofs.scratch import scratch

PROCESSES = 2
MOST_OPERATIONS = 64  # of one history: added numbers are powers of three below the unit of puts
HEAD_START = 4_000_000  # nanoseconds for everybody to get ready


class Race:
    """Processes that have opened one file, ready to play histories."""

    def __init__(self, engine: Engine, pipes: list[Connection], seed: int) -> None:
        self.engine = engine
        self.pipes = pipes
        self.chance = random.Random(seed)
        self.number = 0

    def history(self) -> tuple[Told, int]:
        """What every client observed, and how often a broken transport struck."""
        self.number += 1
        parts, keys = self.draw()
        for place, pipe in enumerate(self.pipes):
            pipe.send(parts[place :: len(self.pipes)])
        told: Told = []
        strikes = 0
        for pipe in self.pipes:
            part, struck = pipe.recv()
            told += part
            strikes += struck
        last = Client(self.engine)
        for key in keys:
            last.get(key)
        return told + last.told, strikes

    def draw(self) -> tuple[list[Part], list[str]]:
        chance = self.chance
        keys = [f"{self.number}/{key}" for key in range(chance.randint(1, 3))]
        clients = chance.randint(4, 8)
        length = MOST_OPERATIONS // clients
        starts_at = time.monotonic_ns() + HEAD_START
        parts = [
            Part(chance.getrandbits(32), keys, client * length, length, starts_at)
            for client in range(clients)
        ]
        return parts, keys


@contextmanager
def racing(seed: int, *, mutant: str | None = None, on_disk: bool = False) -> Iterator[Race]:
    context = children()
    with ExitStack() as stack:
        path = stack.enter_context(scratch(on_disk=on_disk)) / "registers.db"
        engine = stack.enter_context(Engine.open(path, housekeeping=False))
        engine(create_registers())
        pipes = []
        for _ in range(PROCESSES):
            ours, theirs = context.Pipe()
            process = context.Process(target=play_parts, args=(path, theirs, mutant))
            process.start()
            theirs.close()
            stack.callback(process.join)
            stack.callback(ours.send, None)
            pipes.append(ours)
        yield Race(engine, pipes, seed)


def is_sound(told: Told) -> bool:
    """Whether each key's part of a history is linearizable."""
    by_key: dict[str, list[Operation]] = defaultdict(list)
    for key, operation in told:
        by_key[key].append(operation)
    return all(is_linearizable(history) for history in by_key.values())


def run(histories: int, *, mutated: int = 0, seed: int = 1) -> Result:
    """Plays that many histories, and `mutated` struck ones with each broken transport."""
    slow = histories // 5
    raced = operations = 0
    violations: list[str] = []
    # In memory, more histories fit into the time; on disk, more clients wait at the same time.
    for count, on_disk in ((histories - slow, False), (slow, True)):
        number, done, unsound = race_honestly(count, seed, on_disk=on_disk)
        raced += number
        operations += done
        violations += unsound
    counts = {"histories": raced, "operations": operations}
    for mutant in BROKEN if mutated else ():
        caught, missed = catch(mutant, mutated, seed)
        counts[f"caught with {mutant}"] = caught
        violations += missed
    return result(counts, violations)


def race_honestly(histories: int, seed: int, *, on_disk: bool) -> tuple[int, int, list[str]]:
    """The number of histories and operations, and the histories that no order explains."""
    raced = operations = 0
    unsound: list[str] = []
    with racing(seed, on_disk=on_disk) as race:
        while raced < histories and not pace.is_over():
            told, _ = race.history()
            raced += 1
            operations += len(told)
            if not is_sound(told):
                unsound.append(f"history {raced} of seed {seed} is not linearizable: {told}")
    return raced, operations, unsound


def catch(mutant: str, struck: int, seed: int) -> tuple[int, list[str]]:
    """How many struck histories the checker caught, and those it missed."""
    caught = 0
    missed: list[str] = []
    with racing(seed, mutant=mutant) as race:
        while caught + len(missed) < struck:
            told, strikes = race.history()
            if strikes and is_sound(told):
                missed.append(f"{mutant} was not caught: {told}")
            elif strikes:
                caught += 1
    return caught, missed
