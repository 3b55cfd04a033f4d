"""What a pattern asks of the database, and what that costs, before it runs.

    print(explain(like_brand("APPLE", "alex")))
    explain(like_brand("APPLE", "alex"), sizes={Brand: 1200}, region="eu-west-1").dollars

The steps run on an engine in memory that holds samples of what they ask for (see
`sample_tables`); each request is shown with the index that it uses, the units that the engine
reports, and what these rest on. Given the items as they really are (`holding`), or their real
sizes and numbers (`sizes`, `found`), the units are those that DynamoDB would report.

A request names its table; the design of that table is looked up among all declared entities. Where
two designs have a table of that name, it is the one in the module of the steps, or say which with
`tables`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Generic, Protocol, TypeGuard, TypeVar, Unpack, cast

from bigtime.advisor.charges import Charge, Charged, sum_charges, units
from bigtime.advisor.dry_run import DryRun, ExplainedRequest
from bigtime.advisor.prices import DEFAULT_REGION, MILLION, Rate
from bigtime.advisor.prices import rate as rate_of
from bigtime.advisor.sample import any_tenant
from bigtime.advisor.sample_tables import Assumptions, SampleTables
from bigtime.engine import Engine
from bigtime.model import DesignError, DomainError, Entity, Runnable, Table, steps_of
from bigtime.wire import Steps

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Explanation(Charged, Generic[T]):
    """All requests of some steps, as a dry run made them."""

    requests: tuple[ExplainedRequest, ...]
    """In the order in which they are sent."""
    rate: Rate
    """The prices behind `dollars`."""
    outcome: T | None
    """What the steps returned, or None if they ended in an error."""
    ended: DomainError | None
    """The domain error that the steps ended in, if any."""

    @property
    def result(self) -> T:
        """What the steps returned on their samples; raises the error if they ended in one."""
        if self.ended is not None:
            raise self.ended
        return cast(T, self.outcome)

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The units of all requests, by table and index."""
        return sum_charges(charge for request in self.requests for charge in request.charged)

    @property
    def indexes(self) -> tuple[str, ...]:
        """Those of all requests, each once."""
        return tuple(dict.fromkeys(index for request in self.requests for index in request.indexes))

    @property
    def dollars(self) -> Decimal:
        """What one run costs."""
        return self.rate.dollars(self.read_units, self.write_units)

    def __str__(self) -> str:
        head = (
            f"{requests_text(len(self.requests))}, {units(self)}, {price(self.dollars, self.rate)}"
        )
        lines = [head, *(f"{number}. {request}" for number, request in enumerate(self.requests, 1))]
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
    **assumed: Unpack[Assumptions],
) -> Explanation[T]:
    """As `explain`, on an engine that many explanations may use, one after the other."""
    generator = steps_of(steps)
    outcome: T | None = None
    ended: DomainError | None = None
    finder = table_finder(generator, tables)
    with any_tenant(), SampleTables(engine, finder, **assumed) as sample_tables:
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


# For tests of patterns


class Cost(Protocol):
    """The type of pytest's fixture `pattern_cost`, which takes what `explain` takes:

    def test_fetching_a_deal_is_half_a_unit(pattern_cost: Cost) -> None:
        assert pattern_cost(fetch_deal(deal_id)).read_units == 0.5
    """

    def __call__(self, steps: Runnable[T], **assumed: object) -> Explanation[T]: ...


def cost_of(steps: Runnable[T], **assumed: Any) -> Explanation[T]:
    """The explanation of steps that end without an error; raises the error otherwise."""
    explanation = explain(steps, **assumed)
    if explanation.ended is not None:
        raise explanation.ended
    return explanation


# Which table a request's TableName means


def table_finder(steps: Steps[object], given: Iterable[Table]) -> Callable[[str], Table]:
    """Finds a table by its name: among those given, those in the module of the steps, or all."""
    tables = list(given)
    frame = getattr(steps, "gi_frame", None)
    module = {} if frame is None else frame.f_globals

    def find(name: str) -> Table:
        for known in (tables, tables_in(module.values()), declared_tables(Entity)):
            found = list(dict.fromkeys(table for table in known if table.name == name))
            if len(found) == 1:
                return found[0]
            if found:
                raise DesignError(
                    f"{len(found)} designs have a table {name!r}; say which, as in explain(steps,"
                    " tables=system.tables)"
                )
        raise DesignError(f"no entity is declared in a table {name!r}; import its design first")

    return find


def tables_in(values: Iterable[object]) -> Iterator[Table]:
    """The tables among the values of a module, and those of the entities among them."""
    for value in list(values):
        if isinstance(value, Table):
            yield value
        elif isinstance(value, type) and is_stored(value):
            yield value.layout.table


def declared_tables(entity: type[Entity]) -> Iterator[Table]:
    """The tables of all entities that are declared from one."""
    for subclass in entity.__subclasses__():
        if is_stored(subclass):
            yield subclass.layout.table
        yield from declared_tables(subclass)


def is_stored(kind: type) -> TypeGuard[type[Entity]]:
    """Whether it is an entity with a table of its own, not one that others are made from."""
    return issubclass(kind, Entity) and "layout" in kind.__dict__
