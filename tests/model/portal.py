"""A design with every role: products that have versions, times, and are never really deleted."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field

from bigtime.model.errors import DomainError
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.stored import Seconds
from bigtime.model.schema.table import Table, camel_case, global_index

PORTAL = Table(
    "Portal",
    "pk",
    "sk",
    indexes=[
        global_index("ByOwner", "ownerPk", "ownerSk"),
        global_index("ByChange", "changePk", "changeSk"),
        global_index("Deleted", "deletedPk", "deletedSk"),
        global_index("ByScore", "scorePk", "scoreSk"),
    ],
    naming=camel_case,
    type_attribute="type",
)


class UnknownProduct(DomainError):
    """There is no such product."""


class ProductExists(DomainError):
    """There is such a product already."""


class TooDear(DomainError):
    """The product costs too much."""


class Maker(BaseModel):
    full_name: str
    founded_in: int | None = None
    labels: set[str] = set()


class Product(
    Entity, table=PORTAL, created="created_at", updated="updated_at", version="version",
    deleted="deleted_at",
):  # fmt: skip
    keys = Keys(
        main=("PRODUCT#{product_id}", "PRODUCT"),
        ByChange=("PRODUCTS", "{updated_at:seconds}#{version:06}"),
        Deleted=("DELETED", "{deleted_at:seconds}"),
        ByOwner=("OWNER#{owner}", "{status}#{product_id}"),
    )
    product_id: Annotated[str, AfterValidator(str.lower)]
    price: Decimal = Decimal(1)
    owner: str | None = None
    status: str = "DRAFT"
    created_at: Annotated[datetime, Seconds] | None = None
    updated_at: Annotated[datetime, Seconds] | None = None
    deleted_at: Annotated[datetime, Seconds] | None = None
    version: int = 0


class Player(Entity, table=PORTAL):
    """Something with every kind of field to change, in an index that goes by some of them."""

    keys = Keys(
        main=("PLAYER#{name}", "PLAYER"),
        ByScore=("TEAM#{team}#{level}", "{score:06}#{name}"),
        ByOwner=("TEAM#{team}", "PLAYER#{name}"),
    )
    name: str
    team: str | None = None
    level: str = "low"
    score: int = 0
    tags: set[str] = set()
    notes: list[str] = []
    counts: dict[str, int] = {}
    maker: Maker | None = None
    makers: dict[str, Maker] = {}
    lines: list[Maker] = []
    rating: Annotated[Decimal, Field(ge=0)] | None = None
    at: datetime | None = None
