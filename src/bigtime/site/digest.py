"""The daily digest: a mail about the unread messages of a user who subscribed to it.

Digests are due at 07:00 UTC. The worker's chore runs every minute and works out which digest was
due last: after days of downtime that is one digest, not one for each day.

1. Subscribers are listed in GSI1 of the site's table, apart from all other users, in 16 partitions
   by the hash of the username. The chore reads them page by page, and saves its position after each
   page, in one item per shard (`DigestRun`): after a crash it continues from there.
2. A digest is one transaction: the mail, and the day in the user's settings, on condition that the
   settings have another day and the user still subscribes. So a user gets one a day, whatever is
   repeated, by however many workers.
3. It goes to confirmed addresses only, and only if there is an unread message that is newer than
   the last digest: messages left unread on purpose are not repeated every day.
4. A day in the settings that lies in the future was written by a wrong clock, and is ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from bigtime import model as bt
from bigtime.site import letters
from bigtime.site.design import DIGEST_SHARDS, DigestRun, NotificationSettings
from bigtime.site.mail import draft_mail
from bigtime.site.notifications import MailKind, Unsubscribing, confirmed_address, with_link
from bigtime.systems import deals
from bigtime.wire import Steps

HOUR: Final = 7
PAGE: Final = 100
MOST_LISTED: Final = 10
RUN_LASTS: Final = timedelta(days=7)
SAMPLE_LINKS: Final = Unsubscribing(b"pepper", "https://example.com")
DAY: Final = timedelta(days=1)


class NotDue(bt.Clash):
    """Today's digest was already sent, or is no longer wanted."""


@dataclass(frozen=True, slots=True)
class DigestMailer:
    """Mails digests; for the worker, which calls it every minute."""

    links: Unsubscribing

    def run(self) -> Steps[int]:
        return (yield from send_digests(self.links))


@bt.pattern(
    "Send daily Digests",
    index="GSI1, Main table",
    sample={"links": SAMPLE_LINKS, "page_size": 2},
)
def send_digests(links: Unsubscribing, *, page_size: int = PAGE) -> Steps[int]:
    """To each subscriber with news, once for the last day that was due; returns how many."""
    day = last_due_day((yield from bt.now()))
    runs = yield from fetch_runs(day)
    counts = yield from bt.together(
        *(send_in_shard(links, run, page_size) for run in runs if not run.done)
    )
    return sum(counts)


def last_due_day(moment: datetime) -> date:
    """The day of the last digest that was due."""
    return (moment.astimezone(UTC) - timedelta(hours=HOUR)).date()


def fetch_runs(day: date) -> Steps[list[DigestRun]]:
    """The runs of a day, including those that have not begun."""
    found = yield from bt.all_of(DigestRun.within("main", day=day), consistent=True)
    begun = {run.shard: run for run in found}
    expires_at = datetime.combine(day, time(HOUR), UTC) + RUN_LASTS
    return [
        begun.get(shard) or DigestRun(day=day, shard=shard, expires_at=expires_at)
        for shard in range(DIGEST_SHARDS)
    ]


def send_in_shard(links: Unsubscribing, run: DigestRun, page_size: int) -> Steps[int]:
    """Sends the digests of a shard from its saved position on; returns how many."""
    count = 0
    while not run.done:
        page = yield from bt.query(
            NotificationSettings.within("GSI1", shard=run.shard),
            limit=page_size,
            after=run.position,
        )
        for settings in page:
            count += yield from send_digest(links, settings.username, run.day)
        run = yield from bt.put(advance(run, page))
    return count


def advance(run: DigestRun, page: bt.Page[NotificationSettings]) -> DigestRun:
    position = page.position
    return run.model_copy(
        update={
            "done": position is None,
            "reading": position.query if position else None,
            "place": position.place if position else None,
        }
    )


@bt.pattern("Send Digest to User", index="Main table, GSI1", sample={"links": SAMPLE_LINKS})
def send_digest(links: Unsubscribing, username: deals.Username, day: date) -> Steps[bool]:
    """One transaction: the mail and its day, if there is news; returns whether there was."""
    settings = yield from bt.get(NotificationSettings.key(username), consistent=True)
    if settings is None or not is_due(settings, day):
        return False
    unread = yield from deals.view_unread_messages(username)
    news = news_since(unread.items, settings.digest_until)
    to = (yield from confirmed_address(username)) if news else None
    if to is None:
        return False
    count = yield from deals.count_unread_messages(username)
    link = links.link(username, MailKind.DIGEST)
    letter = letters.digest_letter(news[:MOST_LISTED], max(count, len(news)), links.base_url)
    mail = yield from draft_mail(
        f"digest {username} {day}", to, *with_link(letter, link), unsubscribe=link
    )
    with suppress(NotDue):
        yield from bt.transact(
            bt.update(
                settings.own_key(),
                digest_day=day,
                digest_until=news[0].message_id,
                if_exists=NotDue,
                when=due_condition(day) & (bt.attr("digest") == True),  # noqa: E712
                otherwise=NotDue,
            ),
            bt.create(mail, unless_exists=NotDue),
        )
        return True
    return False


def is_due(settings: NotificationSettings, day: date) -> bool:
    last = settings.digest_day
    return settings.digest and (last is None or last < day or last > day + DAY)


def due_condition(day: date) -> bt.Condition:
    last = bt.attr("digest_day")
    return last.missing() | (last < day) | (last > day + DAY)


def news_since(unread: Sequence[deals.Message], until: bt.Ksuid | None) -> list[deals.Message]:
    """The unread messages since the last digest, newest first."""
    return [message for message in unread if until is None or message.message_id > until]
