"""How much of everything a run measures."""

from __future__ import annotations

from dataclasses import dataclass

GIGABYTE = 1 << 30


@dataclass(frozen=True, slots=True)
class Scale:
    """Counts of items, operations and rounds; the best round is the figure.

    With `room` a run fails only if it misses a bar by more than that factor, in each of `looks`
    measurements.
    """

    name: str
    rounds: int
    items: int
    operations: int
    moto_items: int
    moto_operations: int
    moto_rounds: int
    served_items: int
    served_operations: int
    durable_writes: int
    slow_writes: int
    slow_rounds: int
    small_items: int
    large_items: int
    fresh_starts: int
    client_operations: int
    imports: int
    few_deals: int
    many_deals: int
    few_users: int
    many_users: int
    tellings: int
    deals: int
    cached_deals: int
    zipf_reads: int
    restored_items: int
    replicated_seconds: int
    worker_seconds: int
    load_seconds: int
    room: float = 1.0
    looks: int = 1


FULL = Scale(
    name="full",
    rounds=15,
    items=10_000,
    operations=500,
    moto_items=1_000,
    moto_operations=25,
    moto_rounds=7,
    served_items=2_000,
    served_operations=500,
    durable_writes=4_000,
    slow_writes=640,
    slow_rounds=5,
    small_items=10_000,
    large_items=1_000_000,
    fresh_starts=5,
    client_operations=100,
    imports=15,
    few_deals=10_000,
    many_deals=1_000_000,
    few_users=10_000,
    many_users=200_000,
    tellings=2,
    deals=10_000,
    cached_deals=2_000,
    zipf_reads=200_000,
    restored_items=1_000_000,
    replicated_seconds=20,
    worker_seconds=5,
    load_seconds=30,
)

QUICK = Scale(
    name="quick",
    rounds=3,
    items=2_000,
    operations=200,
    moto_items=200,
    moto_operations=5,
    moto_rounds=3,
    served_items=200,
    served_operations=40,
    durable_writes=800,
    slow_writes=160,
    slow_rounds=3,
    small_items=1_000,
    large_items=10_000,
    fresh_starts=1,
    client_operations=20,
    imports=3,
    few_deals=6_000,
    many_deals=12_000,
    few_users=500,
    many_users=2_000,
    tellings=1,
    deals=10_000,
    cached_deals=2_000,
    zipf_reads=100_000,
    restored_items=10_000,
    replicated_seconds=1,
    worker_seconds=1,
    load_seconds=3,
    room=2.0,
    looks=3,
)
