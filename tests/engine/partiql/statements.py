"""Short words for running statements, and the table of AWS's examples."""

from __future__ import annotations

from typing import Any

from bigtime.engine import Engine
from bigtime.wire import AttributeValue, Item, Response
from tests.engine.calls import call, make_table, refusal_of


def run(engine: Engine, text: str, *parameters: AttributeValue, **settings: Any) -> Response:
    given = {"Parameters": list(parameters)} if parameters else {}
    return call(engine, "ExecuteStatement", Statement=text, **given, **settings)


def items(engine: Engine, text: str, *parameters: AttributeValue, **settings: Any) -> list[Item]:
    found: list[Item] = run(engine, text, *parameters, **settings)["Items"]
    return found


def refusal(engine: Engine, text: str, *parameters: AttributeValue, **settings: Any) -> str:
    given = {"Parameters": list(parameters)} if parameters else {}
    return refusal_of(engine, "ExecuteStatement", Statement=text, **given, **settings)


def all_pages(
    engine: Engine, text: str, *parameters: AttributeValue, **settings: Any
) -> list[Item]:
    """The items of every page, by NextToken."""
    page = run(engine, text, *parameters, **settings)
    found: list[Item] = [*page["Items"]]
    while "NextToken" in page:
        page = run(engine, text, *parameters, NextToken=page["NextToken"], **settings)
        found.extend(page["Items"])
    return found


def make_music(engine: Engine) -> None:
    make_table(
        engine,
        {"Artist": "S", "SongTitle": "S"},
        name="Music",
        keys=("Artist", "SongTitle"),
    )
