"""A design whose invariants are declared: unique e-mails, likes that are counted, issue numbers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator

from bigtime.model.errors import DomainError
from bigtime.model.invariants.reference_count import reference_count
from bigtime.model.invariants.sequence import sequence
from bigtime.model.invariants.singleton import singleton
from bigtime.model.invariants.unique import unique
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.table import Table, global_index, pascal_case
from bigtime.model.system import System

Email = Annotated[str, AfterValidator(str.lower)]

SHOP = Table(
    "Shop",
    "PK",
    "SK",
    indexes=[global_index("GSI1", "GSI1PK", "GSI1SK")],
    naming=pascal_case,
    type_attribute="Type",
    stream="NEW_AND_OLD_IMAGES",
)


class EmailTaken(DomainError):
    """Somebody else has this e-mail address."""


class UsernameTaken(DomainError):
    """Somebody else has this name."""


class UnknownBrand(DomainError):
    """There is no such brand."""


class NotLiked(DomainError):
    """You do not like this brand."""


class UnknownProject(DomainError):
    """There is no such project."""


class Customer(Entity, table=SHOP, created="created_at", updated="updated_at"):
    keys = Keys(
        main=("CUSTOMER#{username}", "CUSTOMER#{username}"),
        GSI1=("CITY#{city}", "CUSTOMER#{username}"),
    )
    username: str
    email: Email | None = None
    city: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


class CustomerEmail(Entity, table=SHOP, created="created_at"):
    keys = Keys(main=("CUSTOMEREMAIL#{email}", "CUSTOMEREMAIL#{email}"))
    email: Email
    username: str
    created_at: datetime | None = None


EMAILS = unique(Customer, "email", marker=CustomerEmail, taken=EmailTaken)


class Brand(Entity, table=SHOP, version="version"):
    keys = Keys(main=("BRAND#{brand}", "BRAND#{brand}"))
    brand: str
    title: str = ""
    like_count: int = 0
    offer_count: int = 0
    version: int = 0


class BrandLike(Entity, table=SHOP):
    keys = Keys(main=("BRANDLIKE#{brand}#{username}", "BRANDLIKE#{brand}#{username}"))
    brand: str
    username: str


class Offer(Entity, table=SHOP, deleted="deleted_at"):
    """Refers to a brand that may change, and may be deleted softly."""

    keys = Keys(main=("OFFER#{offer_id}", "OFFER#{offer_id}"))
    offer_id: str
    maker: str | None = None
    deleted_at: datetime | None = None


LIKES = reference_count(BrandLike, Brand, "like_count", missing=UnknownBrand)
OFFERS = reference_count(Offer, Brand, "offer_count", by={"brand": "maker"}, missing=UnknownBrand)


class Project(Entity, table=SHOP):
    keys = Keys(main=("PROJECT#{project}", "PROJECT#{project}"))
    project: str
    last_issue: int = 0


class Issue(Entity, table=SHOP):
    keys = Keys(main=("PROJECT#{project}", "ISSUE#{number:08}"))
    project: str
    number: int


ISSUES = sequence(Project, "last_issue", missing=UnknownProject, numbers=(Issue, "number"), width=5)


class FrontPage(Entity, table=SHOP):
    keys = Keys(main=("FRONTPAGE", "FRONTPAGE"))
    title: str = "Welcome"
    deal_ids: list[str] = []
    last_order: int = 0


FRONT_PAGE = singleton(FrontPage)
ORDERS = sequence(FrontPage, "last_order")

SYSTEM = System("shop", (SHOP,))
