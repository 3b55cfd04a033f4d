"""A load: how often a system's patterns run in a month, and how much data there is.

It is a TOML or JSON file:

    title = "The shop, a month"
    gigabytes = 10             # of tables with their indexes
    stream_gigabytes = 50      # read from streams

    [[requests]]
    name = "orders"
    pattern = "place_order"
    runs = 100_000
    found = 25                 # items that a query finds, if not as `explain` assumes

If a document states what this costs, its figures may be included: the units it assumed per run,
the dollars it arrived at, and the prices it used.

    reads = "eventual"         # the reads it counted cost half; "strong" is the default
    stated_prices = { region = "us-east-1", on = 2024-10-31 }
    stated = { backups = 1, streams = 10 }

    [[requests]]
    name = "writes of indexes"
    runs = 200_000
    stated = { write_units = 1, dollars = 250 }
"""

from __future__ import annotations

import json
import tomllib
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

Amount: TypeAlias = Annotated[Decimal, Field(ge=0, le=10**15)]


class LoadError(ValueError):
    """The file is not a valid load; the message says what is wrong with it, and where."""


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StatedRequest(Part):
    """The units per run that a document assumes, and its dollars for all runs."""

    read_units: Amount = Decimal(0)
    write_units: Amount = Decimal(0)
    dollars: Amount | None = None


class StatedPrices(Part):
    """The region and day of the prices that a document used."""

    region: str
    on: date


class RequestLoad(Part):
    """Runs a month of a pattern, or of requests that only a document describes."""

    name: str
    runs: int = Field(ge=0, le=10**15)
    pattern: str | None = None
    found: int | None = Field(default=None, ge=0, le=100_000)
    stated: StatedRequest | None = None

    @model_validator(mode="after")
    def check_meaning(self) -> RequestLoad:
        if self.pattern is None and self.stated is None:
            raise ValueError("say which `pattern` runs, or the units of a run as `stated`")
        return self


class Load(Part):
    """The load of a month."""

    title: str = ""
    gigabytes: Amount = Decimal(0)
    stream_gigabytes: Amount = Decimal(0)
    reads: Literal["strong", "eventual"] = "strong"
    stated_prices: StatedPrices | None = None
    stated: dict[str, Amount] = {}
    requests: tuple[RequestLoad, ...] = ()

    def stated_reads(self, line: RequestLoad) -> Decimal:
        """The stated read units of all runs of a line."""
        units = Decimal(0) if line.stated is None else line.stated.read_units * line.runs
        return units / 2 if self.reads == "eventual" else units

    def stated_writes(self, line: RequestLoad) -> Decimal:
        return Decimal(0) if line.stated is None else line.stated.write_units * line.runs


def read_load(path: Path) -> Load:
    """Reads a load from a file: JSON if its name ends in .json, TOML otherwise."""
    try:
        text = path.read_text(encoding="utf-8")
        parsed: Any = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        return Load.model_validate(parsed)
    except OSError as error:
        raise LoadError(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc'])) or 'the file'}:"
            f" {fault['msg'].removeprefix('Value error, ')}"
            for fault in error.errors()
        )
        raise LoadError(f"{path} is no load: {faults}") from error
    except ValueError as error:
        kind = "JSON" if path.suffix == ".json" else "TOML"
        raise LoadError(f"{path} is no {kind}: {error}") from error
