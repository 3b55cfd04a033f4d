"""P9: the site under load answers everything, its consumers keep up, and its memory stays flat.

The real site, in its two processes, is used at the same time by readers, shoppers, an editor and
API clients. After a warm-up everything counts:

1. Every response is the expected one. There is no other status, not even a 429, and nothing in the
   log that looks like an error.
2. The worker keeps up. Its lag is queried every second. At the end everything the editor posted is
   in the inboxes of all who watch, once, and nothing is left to consume.
3. Neither process grows: see `proofs.memory`.
4. Every acknowledged order exists, once and whole; nothing in the store contradicts the
   declarations of its systems, and the chain of the audit log holds.
5. Every picture that the editor uploaded is its deal's, and all its files exist.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from bigtime.model import verify
from bigtime.site.design import WORKER
from bigtime.site.systems import SYSTEMS
from bigtime.store import Store, open_store
from bigtime.systems.portal.verification import verify_audit
from proofs import audit
from proofs.browser import Browser, SiteGone, Unexpected
from proofs.crowd import Editor, Person, Program, Reader, Shopper
from proofs.memory import growth, memory_faults
from proofs.messages import arrival_faults, messages_owed
from proofs.orders import kept_of, order_faults
from proofs.pictures import left_incoming, picture_faults
from proofs.result import Result, result
from proofs.scratch import scratch
from proofs.server import resident_bytes
from proofs.site import NotServed, Site, is_running, serve, wait_until

SHORTEST_WARM_UP, LONGEST_WARM_UP = 12.0, 20.0
SECONDS_BETWEEN_LOOKS = 0.5
PATIENCE = 120.0
MOST_LAG = 15.0
"""How many seconds old a change may be when it is consumed, at worst."""
IDLE_LAG = 2.0
"""The lake is polled once a second, so it may be a second behind when all is done."""
MOST_FAULTS = 50
DEALS_POSTED = 240
LAG = re.compile(r'^bigtime_stream_lag_seconds{consumer="([^"]+)"} (\S+)$', re.MULTILINE)


def crowd(port: int, seconds: float) -> list[Person]:
    """All users. However long the run, about as many deals are posted: each has pages that are
    cached, which is no leak, and should not look like one."""
    return [
        Editor(port, pause=max(0.25, seconds / DEALS_POSTED)),
        *(Reader(port, f"reader{number}") for number in range(3)),
        *(Shopper(port, f"shopper{number}") for number in range(3)),
        *(Program(port, f"program{number}") for number in range(2)),
    ]


@dataclass
class Watch:
    """What is sampled under load: both processes' memory, and the worker's lag."""

    site: Site
    worker: int
    web_bytes: list[int] = field(default_factory=list)
    worker_bytes: list[int] = field(default_factory=list)
    lag_seconds: float = 0.0
    faults: list[str] = field(default_factory=list)

    def look(self, browser: Browser) -> None:
        self.web_bytes.append(resident_bytes(self.site.pid))
        self.worker_bytes.append(resident_bytes(self.worker))
        lags = LAG.findall(browser.get("/metrics", shows="bigtime_requests_total"))
        self.lag_seconds = max([self.lag_seconds, *(float(lag) for _, lag in lags)])

    def run(self, stop: threading.Event) -> None:
        browser = Browser(self.site.port, "10.255.0.1")
        while not stop.wait(SECONDS_BETWEEN_LOOKS):
            try:
                self.look(browser)
            except (OSError, SiteGone, Unexpected) as error:
                self.faults.append(f"the site cannot be watched: {error}")
                return

    def verdict(self) -> list[str]:
        faults = [*self.faults]
        if not self.site.is_alive or not is_running(self.worker):
            return [*faults, "one of the site's processes died"]
        seconds = len(self.web_bytes) * SECONDS_BETWEEN_LOOKS
        faults += memory_faults("server", self.web_bytes, seconds=seconds)
        faults += memory_faults("worker", self.worker_bytes, seconds=seconds)
        if self.lag_seconds > MOST_LAG:
            faults.append(f"a consumer was {self.lag_seconds:.1f} s behind")
        return faults


# Under load


def arrive(people: Sequence[Person]) -> None:
    """Starts with the editor, who creates the brand that the others watch; then all the others."""
    editor, *others = people
    editor.arrive()
    with ThreadPoolExecutor(len(others)) as threads:
        list(threads.map(lambda one: one.arrive(), others))


def use(people: Sequence[Person], seconds: float, faults: list[str]) -> None:
    """Lets everybody use the site for so long; notes what went wrong."""
    stop = threading.Event()
    threads = [threading.Thread(target=live, args=(person, stop, faults)) for person in people]
    for thread in threads:
        thread.start()
    stop.wait(seconds)
    stop.set()
    for thread in threads:
        thread.join()


def live(person: Person, stop: threading.Event, faults: list[str]) -> None:
    while not stop.is_set() and len(faults) < MOST_FAULTS:
        try:
            person.visit()
        except Exception as error:  # a wrong response may raise anything
            faults.append(f"{person}: {error!r}")
        stop.wait(person.pause)


def run_load(site: Site, people: Sequence[Person], seconds: float, faults: list[str]) -> Watch:
    """Runs the part that counts."""
    worker = site.worker()
    if worker is None:
        raise NotServed("the site has no worker")
    watch, stop = Watch(site, worker), threading.Event()
    thread = threading.Thread(target=watch.run, args=(stop,))
    thread.start()
    use(people, seconds, faults)
    stop.set()
    thread.join()
    return watch


# Afterwards


def caught_up(store: Store, patience: float) -> list[str]:
    """Faults unless the worker reports, from now on, that no consumer is behind."""
    since = datetime.now(UTC) + timedelta(seconds=IDLE_LAG)

    def is_done() -> bool:
        told = store.run(WORKER.get())
        if told.seen_at is None or told.seen_at < since:
            return False
        return all(lag < IDLE_LAG for lag in told.lag_seconds.values())

    if wait_until(is_done, patience):
        return []
    return [f"the consumers do not catch up: {store.run(WORKER.get())}"]


def store_faults(store: Store) -> list[str]:
    """What is wrong with the data, by the declarations of the systems and the audit log."""
    faults = [str(each) for system in SYSTEMS for each in store.run(verify(system))]
    return faults + [str(each) for each in store.run(verify_audit())]


def faults_after(site: Site, people: Sequence[Person], patience: float) -> tuple[list[str], int]:
    """What is wrong with the data, and how many messages were due."""
    (editor,) = (person for person in people if isinstance(person, Editor))
    shoppers = [person for person in people if isinstance(person, Shopper)]
    with open_store(site.store) as store:
        told = store.run(
            messages_owed(editor.posted, editor.hot, [shopper.name for shopper in shoppers])
        )
        faults = arrival_faults(store, told, patience) + caught_up(store, patience)
        for each in shoppers:
            faults += order_faults(each.promised, store.run(kept_of(each.name)))
        faults += picture_faults(store, site.pictures, editor.uploaded, patience)
        if left := left_incoming(site.pictures):
            faults.append(f"{left} uploads are still incoming")
        return faults + store_faults(store), len(told)


def run(seconds: int, *, mutant: str | None = None, patience: float = PATIENCE) -> Result:
    """Uses the site for so long; what must follow has `patience` to do so."""
    with scratch() as folder, ExitStack() as stack:
        site = stack.enter_context(serve(folder, mutant=mutant))
        faults: list[str] = []
        people = crowd(site.port, seconds)
        arrive(people)
        use(people, min(max(SHORTEST_WARM_UP, seconds / 3), LONGEST_WARM_UP), faults)
        with open_store(site.store) as store:  # every consumer has written once
            faults += caught_up(store, patience)
        before = sum((person.answers for person in people), Counter())
        began = time.monotonic()
        watch = run_load(site, people, seconds, faults)
        took = time.monotonic() - began
        answers = sum((person.answers for person in people), Counter()) - before
        faults += watch.verdict()
        after, messages = faults_after(site, people, patience)
        faults += after + site.complaints()
        stack.close()
        faults += audit.integrity_faults(site.file)
    did = sum((person.did for person in people), Counter())
    counts = {
        "seconds": round(took),
        "answers": sum(answers.values()),
        **dict(sorted(did.items())),
        "messages owed": messages,
        "ms behind at most": round(watch.lag_seconds * 1_000),
        **figures("server", watch.web_bytes),
        **figures("worker", watch.worker_bytes),
    }
    return result(counts, faults)


def figures(what: str, samples: Sequence[int]) -> dict[str, int]:
    more = growth(samples) if samples else 0
    return {
        f"KB more of the {what}": more >> 10,
        f"MB of the {what}": max(samples, default=0) >> 20,
    }
