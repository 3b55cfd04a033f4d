"""The site's own table: outgoing mail, work for the worker, mailbox checks, editors' changes.

Its items belong to the site itself, not to one of its systems. `expires_at` is the table's
TimeToLive attribute.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Final, TypeVar

from pydantic import Field

from bigtime import model as bt
from bigtime.systems.portal import example_of
from bigtime.wire import Steps

E = TypeVar("E", bound=bt.Entity)

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


DIGEST_SHARDS: Final = 16
"""Partitions that the subscribers of the daily digest are spread over."""


class Mail(bt.Entity, table=SITE_TABLE):
    """A mail to one person. Its id follows from what it is about, so it is sent once.

    `seed` is what its one-time code is derived from; the code itself is not stored. Of a mail that
    could not be sent, `try_at` is when to try again, `refused` why it is never tried again. A mail
    that its reader may do without has the link that ends such mails, `unsubscribe`.
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
    unsubscribe: bt.SecretText | None = None


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
    UNPUBLISHED_DEAL = "unpublished deal"
    PUBLISHED_DEAL = "published deal again"
    CREATED_BRAND = "created brand"
    CHANGED_BRAND = "changed brand"
    FEATURED = "featured deals"
    SENT_HOT_DEAL = "sent hot-deal message"
    SENT_TO_WATCHERS = "sent message to watchers"
    CHANGED_PICTURE = "changed picture"


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


class AdminAction(StrEnum):
    """What an admin did to an account, or with a list."""

    GRANTED_ROLE = "granted role"
    REVOKED_ROLE = "revoked role"
    ENDED_SESSIONS = "ended sessions"
    DOWNLOADED = "downloaded"


class AdminChange(bt.Entity, table=SITE_TABLE):
    """An entry in the log of what admins did; `about` is a user or a list, with its kind first."""

    keys = bt.Keys(
        main=("ADMINLOG#{about}", "{change_id}"),
        GSI1=("ADMINLOG#{at:month}", "{change_id}"),
    )
    about: str = Field(max_length=100, examples=["user alex"])
    change_id: bt.Ksuid
    at: datetime
    who: str = Field(max_length=254)
    action: AdminAction
    what: str = Field(max_length=400)


bt.list_buckets(AdminChange, "GSI1")


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


class EmailChange(bt.Entity, table=SITE_TABLE):
    """A page that asks for the codes sent to the present and to the new address of an account.

    Each code is derived from its seed, which is None if none was sent. `password_version` is that
    of the password that the change was begun with.
    """

    keys = bt.Keys(main=("EMAILCHANGE#{change_id}", "EMAILCHANGE"))
    change_id: str = Field(max_length=64)
    login: str = Field(max_length=254, examples=["alex@example.com"])
    email: str = Field(max_length=254, examples=["customer@example.com"])
    password_version: int = 0
    login_seed: Annotated[bytes, Field(max_length=32), bt.Secret] | None = None
    email_seed: Annotated[bytes, Field(max_length=32), bt.Secret] | None = None
    sent_at: datetime
    tries: int = 0
    expires_at: Expiry


class EmailMove(bt.Entity, table=SITE_TABLE):
    """What is left to do after an account has moved to another address; deleted when it is done.

    `tenant_id` is the account's tenant before, whose orders `successor_id` gets.
    """

    keys = bt.Keys(main=("EMAILMOVE#{login}", "{at}"))
    login: str = Field(max_length=254, examples=["alex@example.com"])
    at: datetime
    tenant_id: str | None = None
    successor_id: str | None = None


class NotificationSettings(bt.Entity, table=SITE_TABLE):
    """What a user gets by mail beside the inbox; in GSI1 while they get the daily digest.

    `digest_day` is the day of the last digest, and `digest_until` the newest message that it told
    of.
    """

    keys = bt.Keys(
        main=("NOTIFY#{username}", "NOTIFY"),
        GSI1=bt.when(("DIGEST#{shard}", "{username}"), digest=True),
    )
    username: str = Field(max_length=64, examples=["alex"])
    watched: bool = False
    hot: bool = False
    orders: bool = True
    digest: bool = Field(default=False, examples=[True])
    digest_day: date | None = None
    digest_until: bt.Ksuid | None = None
    shard: int = bt.shard_field(DIGEST_SHARDS, by="username")


class DigestRun(bt.Entity, table=SITE_TABLE):
    """How far the digests of a day have come in one shard of their subscribers."""

    keys = bt.Keys(main=("DIGESTRUN#{day}", "{shard:03}"))
    day: date
    shard: int = Field(ge=0, lt=DIGEST_SHARDS)
    done: bool = False
    reading: str | None = None
    place: Any = None
    expires_at: Expiry

    @property
    def position(self) -> bt.Position | None:
        return None if self.reading is None else bt.Position(self.reading, self.place)


class MailedEvent(bt.Entity, table=SITE_TABLE):
    """An event that a mail was written of; it outlives the mail, and the stream's records."""

    keys = bt.Keys(main=("MAILED#{event}", "MAILED"))
    event: str = Field(max_length=300)
    expires_at: Expiry


class SavedForm(bt.Entity, table=SITE_TABLE):
    """The fields of a form that was sent after its session had ended."""

    keys = bt.Keys(main=("FORM#{form_id}", "FORM"))
    form_id: str = Field(max_length=32)
    fields: dict[str, str] = Field(max_length=1_100)
    expires_at: Expiry


class PictureUpload(bt.Entity, table=SITE_TABLE):
    """The last picture that was uploaded for a deal or a brand, until it is the picture.

    Its file is among the incoming ones, under `upload_id`. `fault` is why it cannot be used.
    """

    keys = bt.Keys(main=("PICTURE#{target}", "UPLOAD"))
    target: Digest
    kind: str = Field(max_length=10, examples=["deal"])
    name: str = Field(max_length=300, examples=["0" * 27])
    upload_id: str = Field(max_length=64)
    who: str
    at: datetime
    fault: str | None = Field(default=None, max_length=300)
    expires_at: Expiry


class PictureUse(bt.Entity, table=SITE_TABLE):
    """That a deal or a brand has a picture; several may have the same."""

    keys = bt.Keys(main=("PICTUREUSES#{digest}", "{target}"))
    digest: Digest
    target: Digest


class UnusedPicture(bt.Entity, table=SITE_TABLE):
    """A picture that nothing has, since a moment: its files are deleted after a day."""

    keys = bt.Keys(main=("UNUSEDPICTURES", "{digest}"))
    digest: Digest
    since: datetime


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
    """On a day, the owner of an address was mailed that someone tried to use it for an account."""

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


class Erasure(bt.Entity, table=SITE_TABLE):
    """An account that its owner deletes: the ids to erase, and how far that is.

    The item is deleted when nothing holds the ids any more: `searched_at` is when the tables were
    first gone through, `erased_at` is when they held nothing more,
    `in_lake` and `in_search` are whether the files for analytics and the search indexes still may.
    `pseudonym` is what stands in place of the person in what is kept.
    """

    keys = bt.Keys(main=("ERASURES", "{erasure_id}"))
    erasure_id: bt.Ksuid
    login: str = Field(max_length=254)
    username: str = Field(max_length=64)
    tenant_id: str | None = None
    is_staff: bool = False
    is_confirmed: bool = True
    """Whether the login is known to be the owner's address, so that a mail may be sent there."""
    pseudonym: str = Field(max_length=64)
    asked_at: datetime
    searched_at: datetime | None = None
    erased_at: datetime | None = None
    in_lake: bool = True
    in_search: bool = True

    @property
    def person(self) -> bt.Person:
        return bt.Person(self.login, self.username, self.tenant_id, self.is_staff)


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


def new_change_id(moment: datetime) -> Steps[bt.Ksuid]:
    """The id of a log entry; ids sort by time."""
    randomness = yield from bt.random_bytes(12)
    # A KSUID sorts by its second; with microseconds first in its payload it also sorts within it.
    return bt.Ksuid.make(moment, moment.microsecond.to_bytes(4) + randomness)


def inserted_item(change: bt.Change[Any], entity: type[E]) -> E | None:
    """The new item, if the change is an insertion of this entity."""
    event = change.of(entity)
    return event.after if event is not None and event.kind == "insert" else None


def transact_once(*writes: bt.Write[Any], at: datetime | None = None) -> Steps[None]:
    """One transaction with a client request token: a retry after a lost response has no effect."""
    token = (yield from bt.random_bytes(16)).hex()
    yield from bt.transact(*writes, token=token, at=at)
