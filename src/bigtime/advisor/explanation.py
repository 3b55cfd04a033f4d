"""The requests that a pattern makes and what they cost, without running it for real.

    print(explain(like_brand("APPLE", "alex")))
    explain(like_brand("APPLE", "alex"), sizes={Brand: 1200}, region="eu-west-1").dollars

The steps run on an in-memory engine that holds samples of the items they read (see
`sample_tables`); each request is shown with the index that it uses, the units that the engine
reports, and the assumptions behind them. Given the actual items (`holding`), or their actual
sizes and numbers (`sizes`, `found`), the units are those that DynamoDB would report.

A request names its table; that table's design is looked up among all declared entities. If two
designs have a table of that name, the one in the module of the steps is used; `tables` overrides
this.
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
    """All requests that some steps made in a dry run."""

    requests: tuple[ExplainedRequest, ...]
    """The requests, in the order in which they are sent."""
    rate: Rate
    """The prices behind `dollars`."""
    outcome: T | None
    """What the steps returned, or None if they ended in an error."""
    ended: DomainError | None
    """The domain error that the steps ended in, if any."""

    @property
    def result(self) -> T:
        """What the steps returned on the samples; raises the error if they ended in one."""
        if self.ended is not None:
            raise self.ended
        return cast(T, self.outcome)

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The units of all requests, by table and index."""
        return sum_charges(charge for request in self.requests for charge in request.charged)

    @property
    def indexes(self) -> tuple[str, ...]:
        """The distinct indexes of all requests."""
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

    `sizes` gives the bytes of each entity's items, `found` the number of items a query finds. With
    `holding`, the tables hold exactly these entities.
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
    """Like `explain`, on an engine that several explanations may use, one after the other."""
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


# Finding the table for a request's TableName


def table_finder(steps: Steps[object], given: Iterable[Table]) -> Callable[[str], Table]:
    """Finds a table by name: among those given, those in the module of the steps, then all."""
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
    """The tables among the values of a module, and the tables of its entities."""
    for value in list(values):
        if isinstance(value, Table):
            yield value
        elif isinstance(value, type) and is_stored(value):
            yield value.layout.table


def declared_tables(entity: type[Entity]) -> Iterator[Table]:
    """The tables of all subclasses of an entity class."""
    for subclass in entity.__subclasses__():
        if is_stored(subclass):
            yield subclass.layout.table
        yield from declared_tables(subclass)


def is_stored(kind: type) -> TypeGuard[type[Entity]]:
    """Whether a class is an entity with a table, not only a base class."""
    return issubclass(kind, Entity) and "layout" in kind.__dict__
