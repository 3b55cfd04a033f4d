"""Charts in the shape of the design's own: entities, indexes, access patterns."""

from __future__ import annotations

from decimal import Decimal

from bigtime.advisor.charts import chart, entity_chart, index_chart, markdown, pattern_chart
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.table import Table, global_index, local_index, number
from tests.model.deals import BIG_TIME_DEALS, SYSTEM, fetch_deal, latest_deals_for_brand


def test_the_entity_chart_has_every_entity_with_its_keys() -> None:
    assert entity_chart(BIG_TIME_DEALS).splitlines() == [
        "| entity | PK | SK | other keys |",
        "|---|---|---|---|",
        "| Deal | `DEAL#<DealId>` | `DEAL#<DealId>` | GSI1 `DEALS#<Day>` / `DEAL#<DealId>`;"
        " GSI2 `BRAND#<Brand>#<Day>` / `DEAL#<DealId>` |",
        "| BucketEntry | `BUCKETS#<Series>` | `BUCKET#<Bucket>` | |",
        "| Brand | `BRAND#<Brand>` | `BRAND#<Brand>` | |",
        "| Brands | `BRANDS` | `BRANDS` | |",
        "| BrandLike | `BRANDLIKE#<Brand>#<Username>` | `BRANDLIKE#<Brand>#<Username>` | |",
        "| BrandWatch | `BRANDWATCH#<Brand>` | `USER#<Username>` | |",
        "| User | `USER#<Username>` | `USER#<Username>` | UserIndex `USER#<Username>` |",
        "| Message | `MESSAGES#<Username>` | `MESSAGE#<MessageId>` |"
        " GSI1 `MESSAGES#<UnreadBy>` / `MESSAGE#<MessageId>` |",
    ]


def test_an_index_chart_has_the_entities_that_are_in_it() -> None:
    assert index_chart(BIG_TIME_DEALS, BIG_TIME_DEALS.index("GSI1")).splitlines() == [
        "| entity | GSI1PK | GSI1SK |",
        "|---|---|---|",
        "| Deal | `DEALS#<Day>` | `DEAL#<DealId>` |",
        "| Message | `MESSAGES#<UnreadBy>` | `MESSAGE#<MessageId>` |",
    ]


def test_the_pattern_chart_has_a_row_for_each_pattern() -> None:
    assert pattern_chart([fetch_deal, latest_deals_for_brand]).splitlines() == [
        "| access pattern | index | parameters | notes |",
        "|---|---|---|---|",
        "| Fetch Deal | Main table | DealId | GetItem on the deal's id. |",
        "| Fetch Latest Deals for Brand | GSI2 | Brand, After"
        " | Day partitions for up to 25 deals. |",
    ]


def test_keys_of_several_attributes_and_projections_are_shown() -> None:
    table = Table(
        "Cars",
        "maker",
        number("serial"),
        indexes=[
            global_index("ByPlace", ["country", "town"], number("price"), include=["colour"]),
            local_index("ByPrice", number("price"), keys_only=True),
        ],
    )

    class Car(Entity, table=table):
        keys = Keys(
            main=("{maker}", "{serial}"),
            ByPlace=(("COUNTRY#{country}", "{town}"), "{price}"),
            ByPrice=("{maker}", "{price}"),
        )
        maker: str
        serial: int
        country_key: str | None = None
        country: str | None = None
        town: str | None = None
        price: Decimal | None = None
        colour: str | None = None

    assert entity_chart(table).splitlines()[-1] == (
        "| Car | `<Maker>` | `<Serial>` |"
        " ByPlace `COUNTRY#<Country>` + `<Town>` / `<Price>`; ByPrice `<Maker>` / `<Price>` |"
    )


def test_a_chart_of_a_system_has_all_its_charts_under_headings() -> None:
    headings = [line for line in chart(SYSTEM).splitlines() if line.startswith("#")]
    assert headings == [
        "# deals",
        "## Entities in BigTimeDeals",
        "### GSI1 (global, ALL)",
        "### GSI2 (global, ALL)",
        "### UserIndex (global, ALL)",
        "## Access patterns",
    ]
    assert chart(SYSTEM).endswith("|\n")


def test_a_bar_does_not_break_a_cell() -> None:
    assert markdown(["a"], [["x|y\nz"]]) == "| a |\n|---|\n| x\\|y z |"
