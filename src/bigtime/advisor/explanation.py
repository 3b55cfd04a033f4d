"""What a pattern asks of the database, and what that costs, before it runs.

    print(explain(like_brand("APPLE", "alex")))
    explain(like_brand("APPLE", "alex"), sizes={Brand: 1200}, region="eu-west-1").dollars

The steps run on an engine in memory that holds samples of what they ask for (see
`sample_tables`); each request is shown with the index that it uses, the units that the engine
reports, and what these rest on. Given the items as they really are (`holding`), or their real
sizes and numbers (`sizes`, `found`), the units are those that DynamoDB would report.

Which design a table's name means is found among all entities that are declared. Where two designs
have a table of one name, the one is meant that the module of the steps knows; else say which, with
`tables`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Generic, TypeVar, Unpack, cast

from bigtime.advisor.charges import Charge, Charged, sum_charges, units
from bigtime.advisor.declared_tables import table_finder
from bigtime.advisor.dry_run import DryRun, Explained
from bigtime.advisor.prices import DEFAULT_REGION, MILLION, Rate
from bigtime.advisor.prices import rate as rate_of
from bigtime.advisor.sample_tables import Assumed, SampleTables
from bigtime.engine import Engine
from bigtime.model import DomainError, Entity, Runnable, Table, steps_of

T = TypeVar("T")


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
        return sum_charges(charge for request in self.requests for charge in request.charged)

    @property
    def indexes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(index for request in self.requests for index in request.indexes))

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
    with Engine.memory(housekeeping=False) as engine:
        return explain_on(
            engine,
            steps,
            sizes=sizes,
            holding=holding,
            found=found,
            tables=tables,
            rate=rate_of(region, on=on),
        )


def explain_on(
    engine: Engine,
    steps: Runnable[T],
    *,
    rate: Rate,
    tables: Iterable[Table] = (),
    **assumed: Unpack[Assumed],
) -> Explanation[T]:
    """As `explain`, on an engine that many explanations may use, one after the other."""
    generator = steps_of(steps)
    outcome: T | None = None
    ended: DomainError | None = None
    with SampleTables(engine, table_finder(generator, tables), **assumed) as sample_tables:
        run = DryRun(sample_tables)
        try:
            outcome = run.run(generator)
        except DomainError as error:
            ended = error
        finally:
            generator.close()
    return Explanation(tuple(run.requests), rate, outcome, ended)


def requests_text(requests: int) -> str:
    return "1 request" if requests == 1 else f"{requests} requests"


def price(dollars: Decimal, rate: Rate) -> str:
    return f"${dollars * MILLION:,.2f} for a million runs ({rate})"
