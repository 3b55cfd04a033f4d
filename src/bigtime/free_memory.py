"""Returning free memory to the system.

glibc keeps what many threads allocate and free: over minutes of reading a table, a thread's arena
fragments, and holds ever more free memory. So long-running work returns it now and then.
"""

from __future__ import annotations

import ctypes


def give_back_free_memory() -> None:
    """Has glibc return the free memory of all its arenas; other C libraries keep less."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
