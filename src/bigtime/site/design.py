"""The site's own table: mail on its way, work for the second process, who changed what.

Everything here is the site's and no system's. Mail and work that is done goes by itself after a
while.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from bigtime.model import (
    Entity,
    EpochSeconds,
    Keys,
    Ksuid,
    Secret,
    SecretText,
    Table,
    global_index,
    list_buckets,
    pascal_case,
    singleton,
)

SITE = Table(
    "Site",
    "PK",
    "SK",
    indexes=[global_index("GSI1", "GSI1PK", "GSI1SK")],
    naming=pascal_case,
    type_attribute="Type",
    ttl="ExpiresAt",
    stream="NEW_AND_OLD_IMAGES",
)

Expiry = Annotated[datetime, EpochSeconds]


class Mail(Entity, table=SITE):
    """A letter to one person. Its id follows from what it is about, so it is sent once.

    `seed` is what its one-time code is made of, which stands nowhere. A letter that could not be
    sent says when it is tried again, or why it never is.
    """

    keys = Keys(
        main=("MAIL#{mail_id}", "MAIL"),
        GSI1=("OUTBOX", "{written_at}#{mail_id}"),
    )
    mail_id: str
    to: str = Field(max_length=254)
    subject: str = Field(max_length=200)
    text: SecretText
    seed: Annotated[bytes, Field(max_length=32), Secret] | None = None
    written_at: datetime
    expires_at: Expiry
    tries: int = 0
    try_at: datetime | None = None
    refused: str | None = Field(default=None, max_length=300)


class Task(Entity, table=SITE):
    """Work for the second process: to tell everyone of a hot deal."""

    keys = Keys(main=("TASK#{deal_id}", "TASK"))
    deal_id: Ksuid
    asked_by: str
    asked_at: datetime


class EditorAction(StrEnum):
    """What an editor did."""

    CREATED_DEAL = "created deal"
    CHANGED_DEAL = "changed deal"
    CREATED_BRAND = "created brand"
    CHANGED_BRAND = "changed brand"
    FEATURED = "featured deals"
    SENT_HOT_DEAL = "sent hot-deal message"
    SENT_TO_WATCHERS = "sent message to watchers"


class EditorChange(Entity, table=SITE):
    """That an editor changed something."""

    keys = Keys(main=("CHANGES#{at:month}", "{change_id}"))
    change_id: Ksuid
    at: datetime
    who: str
    action: EditorAction
    what: str = Field(max_length=400)
    link: str = Field(max_length=400)


list_buckets(EditorChange, "main")


class Once(Entity, table=SITE):
    """That a request with this key was made, and how it was answered.

    `seed` is what its randomness is drawn from, each time that it is tried; until `held_until`
    somebody tries.
    """

    keys = Keys(main=("ONCE#{who}#{idempotency_key}", "ONCE"))
    who: str = Field(max_length=300)
    idempotency_key: str = Field(max_length=200)
    request: str = Field(max_length=64)
    seed: Annotated[bytes, Field(max_length=32), Secret]
    begun_at: datetime
    held_until: datetime
    status: int | None = None
    body: SecretText | None = None
    expires_at: Expiry


class Proving(Entity, table=SITE):
    """That somebody was asked for the code in a mail; where it was no customer's, for none."""

    keys = Keys(main=("PROVING#{proving_id}", "PROVING"))
    proving_id: str = Field(max_length=64)
    email: str = Field(max_length=254)
    tenant_id: str | None = None
    next: str = Field(max_length=2_000)
    sent_at: datetime
    tries: int = 0
    expires_at: Expiry


class Proof(Entity, table=SITE):
    """That whoever has a cookie, kept as its hash, has shown whose mailbox it is."""

    keys = Keys(main=("PROOF#{holder}", "PROOF"))
    holder: str = Field(max_length=64)
    tenant_id: str
    expires_at: Expiry


class Reminder(Entity, table=SITE):
    """That a tenant was reminded on a day, and by whom."""

    keys = Keys(main=("REMINDER#{tenant_id}", "{day}"))
    tenant_id: str
    day: date
    by: str = Field(max_length=254)
    expires_at: Expiry


class DealPlace(Entity, table=SITE, version="version"):
    """Which place a deal has among the trending ones, for whoever moves it."""

    keys = Keys(main=("PLACE#{deal_id}", "PLACE"))
    deal_id: Ksuid
    category_id: str
    rank: Decimal
    views: int
    clicks: int
    version: int | None = None


class Worker(Entity, table=SITE):
    """How the second process is doing: how far behind each of its consumers is, and its costs."""

    keys = Keys(main=("WORKER", "WORKER"))
    seen_at: datetime | None = None
    lag_seconds: dict[str, Decimal] = Field(default={}, max_length=100)
    handled: dict[str, int] = Field(default={}, max_length=100)
    spent: dict[str, Decimal] = Field(default={}, max_length=500)


WORKER = singleton(Worker)


class DemoData(Entity, table=SITE):
    """Whether the demo data is there: before which moment it happened, and whether it is all."""

    keys = Keys(main=("DEMO", "DEMO"))
    until: datetime | None = None
    is_loaded: bool = False


DEMO_DATA = singleton(DemoData)
