"""What a pattern asks of the database, and what that costs, before it runs.

    print(explain(like_brand("APPLE", "alex")))
    explain(like_brand("APPLE", "alex"), sizes={Brand: 1200}, region="eu-west-1").dollars

The steps are carried out on imaginary tables (see `imaginary`), so nothing runs; each request is
shown with the index that it uses, the units it would take, and what that estimate rests on. Given
the items as they really are (`holding`), or their real sizes and numbers (`sizes`, `found`), the
estimate is what DynamoDB would report.

Which design a table's name means is found among all entities that are declared. Where two designs
have a table of one name, the one is meant that the module of the steps knows; else say which, with
`tables`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Generic, TypeVar, cast

from bigtime.advisor.capacity import Charge, Charged, added_up
from bigtime.advisor.dry_run import Answer, CannotExplain, Used, answer
from bigtime.advisor.imaginary import ImaginaryTables
from bigtime.advisor.prices import DEFAULT_REGION, MILLION, Rate, rate
from bigtime.advisor.request_text import request_lines
from bigtime.advisor.sample import MOMENT
from bigtime.model import MAIN, DesignError, DomainError, Entity, Index, Runnable, Table, steps_of
from bigtime.wire import Bytes, Now, Pause, Recall, Remember, Request, Step, Steps, Together

T = TypeVar("T")

MAIN_TABLE = "Main table"
MOST_REQUESTS = 1_000


@dataclass(frozen=True, slots=True)
class Explained(Charged):
    """One request: what it is, the indexes it goes by, what it would cost, and why."""

    request: Request
    used: Used
    charged: tuple[Charge, ...]
    assumption: str

    @property
    def charges(self) -> tuple[Charge, ...]:
        return self.charged

    @property
    def indexes(self) -> tuple[str, ...]:
        """As an access-pattern chart names them."""
        return tuple(dict.fromkeys(chart_name(index) for _, index in self.used))

    def __str__(self) -> str:
        tables = ", ".join(dict.fromkeys(table.name for table, _ in self.used))
        on = f"{', '.join(self.indexes)} of {tables}"
        lines = [f"{where(one)}: {units_of(one)}" for one in self.charged if one.index]
        if self.index_write_units:
            lines.append(f"indexes make it {self.amplification:.3g} times the writes")
        lines.append(f"assuming {self.assumption}")
        lines += request_lines(self.request, (table for table, _ in self.used))
        head = f"{self.request.operation} on {on}: {units(self)}"
        return "\n".join([head, *(f"  {line}" for line in lines)])


@dataclass(frozen=True, slots=True)
class Explanation(Charged, Generic[T]):
    """All requests of some steps. `ended` is the domain error that a dry run came to, if any."""

    requests: tuple[Explained, ...]
    rate: Rate
    outcome: T | None
    ended: DomainError | None

    @property
    def result(self) -> T:
        """What the steps came to on their samples; raises the error, if they came to one."""
        if self.ended is not None:
            raise self.ended
        return cast(T, self.outcome)

    @property
    def charges(self) -> tuple[Charge, ...]:
        return added_up(tuple(charge for one in self.requests for charge in one.charged))

    @property
    def indexes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(index for one in self.requests for index in one.indexes))

    @property
    def dollars(self) -> Decimal:
        """What one run costs."""
        return self.rate.dollars(self.read_units, self.write_units)

    def __str__(self) -> str:
        head = (
            f"{requests_text(len(self.requests))}, {units(self)}, {price(self.dollars, self.rate)}"
        )
        lines = [head, *(f"{number}. {one}" for number, one in enumerate(self.requests, 1))]
        if self.ended is not None:
            lines.append(f"It ends there with {type(self.ended).__name__}: {self.ended}")
        return "\n".join(lines)


def explain(
    steps: Runnable[T],
    *,
    sizes: Mapping[type[Entity], int] | None = None,
    holding: Iterable[Entity] | None = None,
    found: int | None = None,
    tables: Iterable[Table] = (),
    region: str = DEFAULT_REGION,
    on: date | None = None,
) -> Explanation[T]:
    """The requests of some steps, and their cost at the prices of a region and day.

    `sizes` are the bytes of an entity's items, `found` is how many items a query finds. With
    `holding`, the tables hold these entities and no others.
    """
    generator = steps_of(steps)
    known = known_tables(generator, tables)
    imaginary = ImaginaryTables(
        lambda name: table_called(name, known), sizes=sizes, holding=holding, found=found
    )
    run = DryRun(imaginary)
    outcome: T | None = None
    ended: DomainError | None = None
    try:
        outcome = run.carried_out(generator)
    except DomainError as error:
        ended = error
    finally:
        generator.close()
    return Explanation(tuple(run.requests), rate(region, on=on), outcome, ended)


class DryRun:
    """Steps on imaginary tables: it writes down every request and answers it."""

    def __init__(self, tables: ImaginaryTables) -> None:
        self.tables = tables
        self.requests: list[Explained] = []
        self.drawn = 0

    def carried_out(self, steps: Steps[T]) -> T:
        try:
            step = next(steps)
            while True:
                try:
                    came = self.answer(step)
                except Exception as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(came)
        except StopIteration as end:
            result: T = end.value
            return result

    def answer(self, step: Step) -> Any:
        match step:
            case Request():
                return self.asked(step).response
            case Together():
                return [self.carried_out(one) for one in step.steps]
            case Now():
                return MOMENT
            case Bytes(count):
                self.drawn += 1
                return self.drawn.to_bytes(8).rjust(count, b"\0")[-count:]
            case Pause() | Remember():
                return None
            case Recall():  # a usual write finds its buckets listed
                return ()
        raise TypeError(f"Steps yielded {step!r}, which is no step: was it meant as `yield from`?")

    def asked(self, request: Request) -> Answer:
        if len(self.requests) == MOST_REQUESTS:
            raise CannotExplain(
                f"these steps make more than {MOST_REQUESTS:,} requests on sample answers; say what"
                " the tables hold, with holding=[...], or how many items a query finds, with found"
            )
        answered = answer(self.tables, request)
        self.requests.append(
            Explained(request, answered.used, added_up(answered.charges), answered.assumption)
        )
        return answered


# Tables by their names


def known_tables(steps: Steps[Any], told: Iterable[Table]) -> dict[str, list[Table]]:
    """By name, the tables that a name may mean: those told, those the steps know, or all."""
    frame = getattr(steps, "gi_frame", None)
    values = [] if frame is None else list(frame.f_globals.values())
    nearby = [value for value in values if isinstance(value, Table)] + [
        value.layout.table for value in values if is_laid_out(value)
    ]
    known: dict[str, list[Table]] = {}
    for tables in (list(told), nearby, [one.layout.table for one in laid_out(Entity)]):
        for name in {table.name for table in tables} - known.keys():
            known[name] = list(dict.fromkeys(table for table in tables if table.name == name))
    return known


def laid_out(entity: type[Entity]) -> Iterator[type[Entity]]:
    for one in entity.__subclasses__():
        if is_laid_out(one):
            yield one
        yield from laid_out(one)


def is_laid_out(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Entity) and "layout" in value.__dict__


def table_called(name: str, known: Mapping[str, list[Table]]) -> Table:
    meant = known.get(name, [])
    if len(meant) == 1:
        return meant[0]
    if not meant:
        raise DesignError(f"no entity is declared in a table {name!r}; import its design first")
    raise DesignError(
        f"{len(meant)} designs have a table {name!r}; say which, as in explain(steps,"
        " tables=system.tables)"
    )


# Words


def chart_name(index: Index) -> str:
    return MAIN_TABLE if index.name == MAIN else index.name


def where(charge: Charge) -> str:
    return f"{charge.table}.{charge.index}" if charge.index else charge.table


def units(charged: Charged) -> str:
    return plural(charged.read_units, charged.write_units)


def units_of(charge: Charge) -> str:
    return plural(charge.read_units, charge.write_units)


def plural(reads: float, writes: float) -> str:
    named = [
        f"{amount:g} {kind} unit{'' if amount == 1 else 's'}"
        for kind, amount in (("read", reads), ("write", writes))
        if amount
    ]
    return " and ".join(named) or "no units"


def requests_text(requests: int) -> str:
    return "1 request" if requests == 1 else f"{requests} requests"


def price(dollars: Decimal, rate: Rate) -> str:
    return f"${dollars * MILLION:,.2f} for a million runs ({rate})"
