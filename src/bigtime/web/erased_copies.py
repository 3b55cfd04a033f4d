"""Erases copies of deleted accounts in the lake and in search, within a day.

This reads all files of the lake, and rebuilds a search index. So it is done at once for all
accounts that were deleted since the last time, at most every few hours.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Final

from bigtime.projections.lake import LakeWriter
from bigtime.projections.search import Follower, rebuild
from bigtime.site import Erasure, is_personal, lake_replacements, note_copies_erased, view_erasures
from bigtime.store import Store

log = logging.getLogger("bigtime.worker")

LOOK_SECONDS: Final = 10.0
APART_SECONDS: Final = 6 * 3600.0


class ErasedCopies:
    """Finds the accounts whose copies are to be erased, and records what was done."""

    def __init__(self, store: Store, *, apart_seconds: float = APART_SECONDS) -> None:
        self.store = store
        self.apart_seconds = apart_seconds
        self._looked_at = self._erased_at = float("-inf")

    def erase_in_lake(self, writer: LakeWriter) -> None:
        """Replaces the ids in the files, if that is due and the writer has read all of them."""
        if not self._is_due():
            return
        waiting = [erasure for erasure in self._erased_accounts() if erasure.in_lake]
        if not waiting or not writer.replace_ids(lake_replacements(waiting)):
            return
        self._erased_at = time.monotonic()
        for erasure in waiting:
            self.store.run(note_copies_erased(erasure.erasure_id, in_lake=False))
        log.info("the lake holds nothing any more of %d deleted accounts", len(waiting))

    def erase_in_search(self, followers: Sequence[Follower]) -> None:
        """Rebuilds the indexes with personal data: a deleted entry stays in an index's files."""
        waiting = [erasure for erasure in self._erased_accounts() if erasure.in_search]
        personal = [each.backend for each in followers if is_personal(each.backend.index)]
        listed = [erasure for erasure in waiting if personal and erasure.tenant_id is not None]
        if listed and not self._is_due():
            waiting = [erasure for erasure in waiting if erasure not in listed]
        elif listed:
            for backend in personal:
                rebuild(self.store, backend)
            self._erased_at = time.monotonic()
        for erasure in waiting:
            self.store.run(note_copies_erased(erasure.erasure_id, in_search=False))

    def pass_over_lake(self) -> None:
        """Where no lake is written, there is nothing to erase."""
        for erasure in self._erased_accounts():
            if erasure.in_lake:
                self.store.run(note_copies_erased(erasure.erasure_id, in_lake=False))

    def _is_due(self) -> bool:
        moment = time.monotonic()
        if moment - self._looked_at < LOOK_SECONDS or moment - self._erased_at < self.apart_seconds:
            return False
        self._looked_at = moment
        return True

    def _erased_accounts(self) -> list[Erasure]:
        erasures = self.store.run(view_erasures())
        return [erasure for erasure in erasures if erasure.erased_at is not None]
