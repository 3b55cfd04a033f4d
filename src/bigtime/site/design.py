"""The site's own table: outgoing mail, work for the worker, mailbox checks, editors' changes.

Its items belong to the site and to none of the systems it is made of. Items with `expires_at` are
deleted by their time to live.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from bigtime import model as bt
from bigtime.systems.portal import example_of
from bigtime.wire import Steps

SITE_TABLE = bt.Table(
    "Site",
    "PK",
    "SK",
    indexes=[bt.global_index("GSI1", "GSI1PK", "GSI1SK")],
    naming=bt.pascal_case,
    type_attribute="Type",
    ttl="ExpiresAt",
    stream="NEW_AND_OLD_IMAGES",
)

Expiry = Annotated[datetime, bt.EpochSeconds, Field(examples=[datetime(2100, 1, 1, tzinfo=UTC)])]
Fingerprint = Annotated[str, Field(max_length=64)]
Digest = Annotated[str, Field(max_length=64)]
"""A SHA-256 in hexadecimal."""


class Mail(bt.Entity, table=SITE_TABLE):
    """A mail to one person. Its id follows from what it is about, so it is sent once.

    `seed` is what its one-time code is derived from; the code itself is not stored. Of a mail that
    could not be sent, `try_at` is when to try again, `refused` why it is never tried again.
    """

    keys = bt.Keys(
        main=("MAIL#{mail_id}", "MAIL"),
        GSI1=("OUTBOX#{written_at:day}", "{written_at}#{mail_id}"),
    )
    mail_id: str
    to: str = Field(max_length=254)
    subject: str = Field(max_length=200)
    text: bt.SecretText
    seed: Annotated[bytes, Field(max_length=32), bt.Secret] | None = None
    written_at: datetime
    expires_at: Expiry
    tries: int = 0
    try_at: datetime | None = None
    refused: str | None = Field(default=None, max_length=300)


bt.list_buckets(Mail, "GSI1")


class HotDealTask(bt.Entity, table=SITE_TABLE):
    """An order to the worker: send every user the message of a hot deal."""

    keys = bt.Keys(main=("HOTDEAL#{deal_id}", "HOTDEAL"))
    deal_id: bt.Ksuid
    asked_by: str
    asked_at: datetime


class EditorAction(StrEnum):
    """What an editor did to a deal, a brand or a page."""

    CREATED_DEAL = "created deal"
    CHANGED_DEAL = "changed deal"
    CREATED_BRAND = "created brand"
    CHANGED_BRAND = "changed brand"
    FEATURED = "featured deals"
    SENT_HOT_DEAL = "sent hot-deal message"
    SENT_TO_WATCHERS = "sent message to watchers"


class EditorChange(bt.Entity, table=SITE_TABLE):
    """An entry in the log of what editors changed."""

    keys = bt.Keys(main=("CHANGES#{at:month}", "{change_id}"))
    change_id: bt.Ksuid
    at: datetime
    who: str
    action: EditorAction
    what: str = Field(max_length=400)
    link: str = Field(max_length=400)


bt.list_buckets(EditorChange, "main")


class IdempotencyRecord(bt.Entity, table=SITE_TABLE):
    """A request that was made under an idempotency key, and its response once there is one.

    Every attempt draws its randomness from `seed`. One attempt at a time holds the record, until
    `held_until` at the latest. `request` is the request's fingerprint.
    """

    keys = bt.Keys(main=("IDEMPOTENCY#{who}#{idempotency_key}", "IDEMPOTENCY"))
    who: str = Field(max_length=300)
    idempotency_key: str = Field(max_length=200)
    request: Fingerprint
    seed: Annotated[bytes, Field(max_length=32), bt.Secret]
    begun_at: datetime
    held_until: datetime
    status: int | None = None
    body: bt.SecretText | None = None
    expires_at: Expiry


class PendingCheck(bt.Entity, table=SITE_TABLE):
    """A page that asks for the code sent to an address.

    A code to a tenant is stored with the tenant, and `tenant_id` is None if none was sent. A code
    to a shopper is derived from `seed`, which is None if none was sent; `username`, `name` and
    `password_hash` are those of the member that it creates, if it is for a sign-up.
    """

    keys = bt.Keys(main=("CHECK#{check_id}", "CHECK"))
    check_id: str = Field(max_length=64)
    email: str = Field(max_length=254, examples=["customer@example.com"])
    tenant_id: str | None = None
    seed: Annotated[bytes, Field(max_length=32), bt.Secret] | None = None
    username: str | None = Field(default=None, max_length=64)
    name: str | None = Field(default=None, max_length=200)
    password_hash: Annotated[str, Field(max_length=300), bt.Secret] | None = None
    next: str = Field(max_length=2_000, examples=["/portal"])
    sent_at: datetime
    tries: int = 0
    expires_at: Expiry


class SavedForm(bt.Entity, table=SITE_TABLE):
    """The fields of a form that was sent after its session had ended."""

    keys = bt.Keys(main=("FORM#{form_id}", "FORM"))
    form_id: str = Field(max_length=32)
    fields: dict[str, str] = Field(max_length=1_100)
    expires_at: Expiry


class VerifiedMailbox(bt.Entity, table=SITE_TABLE):
    """The tenant whose mailbox a session or a visit has verified; `holder` is its cookie's hash."""

    keys = bt.Keys(main=("MAILBOX#{holder}", "MAILBOX"))
    holder: str = Field(max_length=64)
    tenant_id: str = Field(examples=[example_of("tenant")])
    expires_at: Expiry


class TryCount(bt.Entity, table=SITE_TABLE):
    """How often an action was tried in a window of time; `subject` is the hash of who tried."""

    keys = bt.Keys(main=("TRIES#{action}#{subject}", "{begins_at}"))
    action: str = Field(max_length=50)
    subject: Digest
    begins_at: datetime
    count: int = 0
    expires_at: Expiry


class KnownNetwork(bt.Entity, table=SITE_TABLE):
    """A network that a login has signed in from; `subject` is the hash of both."""

    keys = bt.Keys(main=("NETWORK#{subject}", "NETWORK"))
    subject: Digest
    expires_at: Expiry


class Notice(bt.Entity, table=SITE_TABLE):
    """On a day, the owner of an address was mailed that someone tried to sign up with it."""

    keys = bt.Keys(main=("NOTICE#{email}", "{day}"))
    email: str = Field(max_length=254, examples=["customer@example.com"])
    day: date
    expires_at: Expiry


class Reminder(bt.Entity, table=SITE_TABLE):
    """The reminder a tenant was sent on a day, and who sent it."""

    keys = bt.Keys(main=("REMINDER#{tenant_id}", "{day}"))
    tenant_id: str = Field(examples=[example_of("tenant")])
    day: date
    by: str = Field(max_length=254)
    expires_at: Expiry


class DealRank(bt.Entity, table=SITE_TABLE, version="version"):
    """The rank of a deal among the trending ones: the key of its trending item, to move it by."""

    keys = bt.Keys(main=("RANK#{deal_id}", "RANK"))
    deal_id: bt.Ksuid
    category_id: str
    rank: Decimal
    views: int
    clicks: int
    version: int | None = None


class Worker(bt.Entity, table=SITE_TABLE):
    """The worker's last report: how far behind each consumer is, and what patterns have cost.

    `daily_cost` are the dollars of today in all processes, `daily_cost_mean` is the mean of the
    seven days before. `backup_at` is the moment of the newest backup, and `recovery_seconds` how
    far back each table can be restored to any moment.
    """

    keys = bt.Keys(main=("WORKER", "WORKER"))
    seen_at: datetime | None = None
    lag_seconds: dict[str, Decimal] = Field(default={}, max_length=100)
    handled: dict[str, int] = Field(default={}, max_length=100)
    spent: dict[str, Decimal] = Field(default={}, max_length=500)
    daily_cost: Decimal | None = None
    daily_cost_mean: Decimal | None = None
    backup_at: datetime | None = None
    recovery_seconds: dict[str, Decimal] = Field(default={}, max_length=200)


WORKER = bt.singleton(Worker)


@bt.pattern("Write Worker Report", index="Main table")
def write_worker_report(
    seen_at: datetime,
    *,
    lag_seconds: Mapping[str, Decimal] = {},
    handled: Mapping[str, int] = {},
    spent: Mapping[str, Decimal] = {},
    daily_cost: Decimal | None = None,
    daily_cost_mean: Decimal | None = None,
    backup_at: datetime | None = None,
    recovery_seconds: Mapping[str, Decimal] = {},
) -> Steps[None]:
    """Replaces the report: seconds behind and records handled by consumer, units by pattern."""
    yield from WORKER.update(
        seen_at=seen_at,
        lag_seconds=dict(lag_seconds),
        handled=dict(handled),
        spent=dict(spent),
        daily_cost=daily_cost,
        daily_cost_mean=daily_cost_mean,
        backup_at=backup_at,
        recovery_seconds=dict(recovery_seconds),
    )


@bt.pattern("View Worker Report", index="Main table")
def view_worker_report() -> Steps[Worker]:
    """The last report; `seen_at` is None before the first."""
    return (yield from WORKER.get())


class WriteCheck(bt.Entity, table=SITE_TABLE):
    """Written by health checks, to see that the store takes writes."""

    keys = bt.Keys(main=("WRITE_CHECK", "WRITE_CHECK"))
    written_at: datetime | None = None


@bt.pattern("Check that Writes Work", index="Main table")
def check_writes() -> Steps[None]:
    """Puts an item that nothing reads."""
    yield from bt.put(WriteCheck(written_at=(yield from bt.now())))


class DemoData(bt.Entity, table=SITE_TABLE):
    """Whether the demo data is loaded, and the moment that all of it lies before."""

    keys = bt.Keys(main=("DEMO", "DEMO"))
    until: datetime | None = None
    is_loaded: bool = False


DEMO_DATA = bt.singleton(DemoData)


def transact_once(*writes: bt.Write[Any], at: datetime | None = None) -> Steps[None]:
    """One transaction with a token: a retry after a lost response is not carried out twice."""
    token = (yield from bt.random_bytes(16)).hex()
    yield from bt.transact(*writes, token=token, at=at)
