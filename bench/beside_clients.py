"""The model kit beside other Python clients, all in this process, with no network.

The bars are for the kit with its transport stubbed: the cost of turning a key or an entity into a
request, and a response into entities. The other clients are stopped where they would send. They all
end in botocore, whose validation, JSON and signature are part of their every call; the kit's
transports do without its client. So the kit's whole path, JSON and signature included, is shown
beside plain boto3 too, without a bar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from bench.clients import Client, kit, others, signed_kit
from bench.deals import PAGE
from bench.figure import Bar, Figure
from bench.race import Contender, race
from bench.scale import Scale

FASTER = Bar("at least", 8, "x")

Operation: TypeAlias = Callable[[], Any]


def measure(scale: Scale) -> Iterator[Figure]:
    ours, signing, rest = kit(), signed_kit(), others()
    clients = [ours, signing, *rest]
    check_same_work(clients)
    for name, what, limit in (
        ("get", "Typed get", 60),
        ("put", "Typed put", 60),
        ("query", f"Query of {PAGE} typed entities", 300),
    ):
        seen = race(
            {client.name: contender(client, name, scale) for client in clients}, scale.rounds
        )
        bar = Bar("at most", limit, "us")
        yield Figure(f"{what}, transport stubbed", seen[ours.name], "us", bar=bar)
        for other in rest:
            yield beside(f"{what}, beside {other.name}", seen, ours, other, FASTER)
        yield beside(f"{what}, to signed bytes and back", seen, signing, rest[0], None)


def contender(client: Client, name: str, scale: Scale) -> Contender:
    operation: Operation = getattr(client, name)
    count = scale.client_operations

    def run() -> None:
        for _ in range(count):
            operation()

    return Contender(run, count)


def beside(
    what: str, seen: dict[str, float], ours: Client, other: Client, bar: Bar | None
) -> Figure:
    mine, theirs = seen[ours.name], seen[other.name]
    return Figure(what, mine, "us", theirs, f"for {other.name}", theirs / mine, bar)


def check_same_work(clients: list[Client]) -> None:
    """Checks that every client reads the same titles, and sends the same one."""
    for client in clients:
        page = client.query()
        if len(page) != PAGE or title(page[0]) != title(client.get()):
            raise AssertionError(f"{client.name} does not read what the others do")
    titles = {title(client.get()) for client in clients}
    if len(titles) != 1:
        raise AssertionError(f"read differently: {titles}")


def title(found: Any) -> Any:
    """The title of a deal, in whichever form a client returns it."""
    told = found["title"] if isinstance(found, dict) else found.title
    return told["S"] if isinstance(told, dict) else told
