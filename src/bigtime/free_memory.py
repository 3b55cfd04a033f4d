"""Free memory goes back to the system.

What many threads allocate and free, glibc keeps: a thread that walks through a table for minutes
holds ever more of what is free between things that stay. So long work gives it back now and then.
"""

from __future__ import annotations

import ctypes


def give_back_free_memory() -> None:
    """Has glibc return to the system what is free in all its arenas; other libraries keep less."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
