"""P10: kill -9 of the site during checkouts loses no acknowledged order and makes none twice.

Shoppers check out as fast as they can, one of them with carts too large for a single transaction,
and an editor posts deals that they all watch. By turns the server, its worker, or both are killed
in the middle of it.

1. A server that is killed is started again at once. Its old worker must end by itself, even if the
   new one is already at work. A worker that is killed must be restarted by its server, and nobody
   who uses the site may notice.
2. Before any request is repeated, every acknowledged order exists, once and whole, and its cart is
   empty; of a checkout that got no response there is all or nothing. See `proofs.orders`.
3. Then shoppers without a response send the same page again, twice at the same time: both are
   answered with one order, which is the only one.
4. Everything the editor has posted is in the inboxes of all who watch, once.
5. Every picture whose upload was acknowledged is its deal's, all files of a picture exist, and no
   file is an orphan. See `proofs.pictures`.
6. Nothing in the store contradicts the declarations of its systems, the chain of the audit log
   holds, and the file is intact.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

from bigtime.store import Store, open_store
from proofs import audit
from proofs.browser import SiteGone, Unexpected
from proofs.crowd import LARGE, Editor, Program, Shopper
from proofs.messages import arrival_faults, messages_owed, usernames
from proofs.orders import Kept, kept_of, order_faults
from proofs.pictures import picture_faults
from proofs.result import Result, result
from proofs.scratch import scratch
from proofs.site import Site, is_running, serve, wait_until
from proofs.site_load import arrive, store_faults

SHORTEST, LONGEST = 0.2, 1.2
PATIENCE = 120.0
MOST_PROGRAMS, KILLS_PER_PROGRAM = 2, 10
"""An API client whose server died over its key waits for half a minute: a short run has none."""
SECONDS_AFTER_WORKER = 0.3


class Trial:
    """A site that is killed again and again, its users, and what they know."""

    def __init__(self, site: Site, programs: int, patience: float) -> None:
        self.site = site
        self.patience = patience
        self.editor = Editor(site.port)
        self.shoppers: list[Shopper] = [
            *(Shopper(site.port, f"shopper{number}") for number in range(4)),
            Shopper(site.port, "large", size=LARGE),
            *(Program(site.port, f"program{number}") for number in range(programs)),
        ]
        arrive([self.editor, *self.shoppers])
        with open_store(site.store) as store:
            self.everybody = store.run(usernames())
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []

    # Load

    def under_load(self, seconds: float, kill: Callable[[], None], *, felt: bool) -> None:
        """Kills during checkouts; users who are cut off stop, which is a fault unless `felt`."""
        stop = threading.Event()
        deeds = [self.editor.announce, *(shopper.buy for shopper in self.shoppers)]
        threads = [threading.Thread(target=self.repeat, args=(deed, stop, felt)) for deed in deeds]
        for thread in threads:
            thread.start()
        time.sleep(seconds)
        kill()
        if not felt:
            time.sleep(SECONDS_AFTER_WORKER)
            stop.set()
        for thread in threads:
            thread.join()

    def repeat(self, deed: Callable[[], object], stop: threading.Event, felt: bool) -> None:
        while not stop.is_set():
            try:
                deed()
            except SiteGone as error:
                if not felt:
                    self.faults.append(f"the site was gone, though only its worker died: {error}")
                return
            except Exception as error:  # a wrong response may raise anything
                self.faults.append(f"amid the load: {error!r}")
                return

    # Kills

    def kill_server(self, seconds: float, *, with_worker: bool) -> None:
        worker = self.site.worker(seconds=self.patience)
        if worker is None:
            self.faults.append("the site has no worker")
            return

        def kill() -> None:
            if with_worker:
                os.kill(worker, signal.SIGKILL)
            self.site.kill()

        self.under_load(seconds, kill, felt=True)
        self.site.start()
        if not wait_until(lambda: not is_running(worker), self.patience):
            self.faults.append("the worker of a server that is gone goes on")

    def kill_worker(self, seconds: float) -> None:
        worker = self.site.worker(seconds=self.patience)
        if worker is None:
            self.faults.append("the site has no worker")
            return
        self.under_load(seconds, lambda: os.kill(worker, signal.SIGKILL), felt=False)
        if self.site.worker(but=worker, seconds=self.patience) is None:
            self.faults.append("a worker that was killed is not started again")

    def crash(self, number: int, seconds: float) -> None:
        """One kill, and a check of everything that must hold after it."""
        turn = number % 3
        self.counts[("servers killed", "workers killed", "both killed")[turn]] += 1
        if turn == 1:
            self.kill_worker(seconds)
        else:
            self.kill_server(seconds, with_worker=turn == 2)
        if not self.faults:
            with open_store(self.site.store) as store:
                self.check(store)

    # What must hold

    def check(self, store: Store) -> None:
        for shopper in self.shoppers:
            self.check_orders(store, shopper)
        if self.faults:
            return
        with ThreadPoolExecutor(2) as threads:
            for shopper in self.shoppers:
                if shopper.promised.sent is not None:
                    self.send_again(threads, shopper)
                    self.check_orders(store, shopper)
        self.check_messages(store)
        uploaded = self.editor.uploaded
        self.faults += picture_faults(store, self.site.pictures, uploaded, self.patience)
        self.counts["pictures"] = len(uploaded)
        self.faults += lasting_faults(store, self.patience)

    def check_orders(self, store: Store, shopper: Shopper) -> None:
        """Waits a moment: the worker may still be completing a large purchase that was cut off."""
        kept: list[Kept] = []

        def is_right() -> bool:
            kept[:] = [store.run(kept_of(shopper.name))]
            return not order_faults(shopper.promised, kept[0])

        wait_until(is_right, self.patience)
        self.faults += order_faults(shopper.promised, kept[0])
        promised = shopper.promised
        if promised.sent is None:
            promised.cart, promised.putting = kept[0].cart, None
        elif not kept[0].cart:
            self.counts["orders made, and not told of"] += 1

    def send_again(self, threads: ThreadPoolExecutor, shopper: Shopper) -> None:
        """Sends the same checkout on two connections; returns the one order that both get."""
        twice = [self.again(shopper), self.again(shopper)]
        try:
            first, second = threads.map(lambda send: send(), twice)
        except (SiteGone, Unexpected) as error:
            self.faults.append(f"{shopper}, sending again: {error}")
            return
        if first != second:
            self.faults.append(f"{shopper}: one checkout made orders {first} and {second}")
        shopper.note_order(first)
        self.counts["checkouts cut off and sent again"] += 1

    def again(self, shopper: Shopper) -> Callable[[], str]:
        browser = shopper.new_browser()
        browser.cookies, browser.token = dict(shopper.browser.cookies), shopper.browser.token
        return lambda: shopper.send_again(browser)

    def check_messages(self, store: Store) -> None:
        """Posts an interrupted deal again, if it was not posted; one form makes one deal."""
        try:
            self.editor.post()
        except (SiteGone, Unexpected) as error:
            self.faults.append(f"the editor: {error}")
        told = store.run(messages_owed(self.editor.posted, self.editor.hot, self.everybody))
        self.faults += arrival_faults(store, told, self.patience)
        self.counts["messages"] = len(told)


def lasting_faults(store: Store, patience: float) -> list[str]:
    """Faults that remain in the data: copies, such as the queue of orders, follow by a reaction."""
    found: list[str] = []

    def are_gone() -> bool:
        found[:] = store_faults(store)
        return not found

    wait_until(are_gone, patience)
    return found


def run(
    kills: int, *, mutant: str | None = None, patience: float = PATIENCE, seed: int = 1
) -> Result:
    """Kills that often, or until something is wrong; what must follow has `patience` to do so."""
    chance = random.Random(seed)
    with scratch() as folder, ExitStack() as stack:
        site = stack.enter_context(serve(folder, mutant=mutant))
        trial = Trial(site, min(MOST_PROGRAMS, kills // KILLS_PER_PROGRAM), patience)
        for number in range(kills):
            trial.crash(number, chance.uniform(SHORTEST, LONGEST))
            if trial.faults:
                break
        trial.faults += site.complaints()
        stack.close()
        trial.faults += audit.integrity_faults(site.file)
    counts = {
        "kills": number + 1,
        **trial.counts,
        "orders acknowledged": sum(len(shopper.promised.orders) for shopper in trial.shoppers),
        "deals posted": len(trial.editor.posted),
    }
    return result(counts, trial.faults)
