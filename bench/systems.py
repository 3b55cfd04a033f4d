"""The systems at work: reads, messages to many, and the item cache."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from bench import systems_cache, systems_messages, systems_reads
from bench.figure import Figure
from bench.scale import Scale


def measure(scale: Scale, folder: Path, screen: Console) -> Iterator[Figure]:
    yield from systems_reads.measure(scale, folder, screen)
    yield from systems_messages.measure(scale, folder, screen)
    yield from systems_cache.measure(scale, screen)
