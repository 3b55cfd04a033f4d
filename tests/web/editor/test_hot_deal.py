"""Telling everybody: asked for once, done by the worker, watched."""

from __future__ import annotations

import pytest

from bigtime.model import get, load_many
from bigtime.site.design import HotDealTask
from bigtime.systems.deals.design import Deal, User
from bigtime.systems.deals.users import view_messages
from bigtime.web.http.settings import Settings
from bigtime.web.worker import Worker
from tests.web.browsing import Browser, Web, words
from tests.web.conftest import PostDeal
from tests.web.editor.noted import noted_changes


@pytest.fixture
def lamp(post_deal: PostDeal) -> Deal:
    return post_deal()


def path(deal: Deal) -> str:
    return f"/editor/deals/{deal.deal_id}/hot"


def work(web: Web) -> None:
    """The second process, until there is nothing to do."""
    worker = Worker(web.store, Settings())
    for each in worker.consuming:
        while each.take_turn():
            pass


def test_nothing_is_sent_before_the_second_step(web: Web, erin: Browser, lamp: Deal) -> None:
    page = erin.get(path(lamp)).text
    assert "cannot be undone" in page and "<progress" not in page
    assert web.run(get(HotDealTask.key(lamp.deal_id))) is None


def test_everybody_is_told_by_the_second_process(web: Web, erin: Browser, lamp: Deal) -> None:
    web.run(load_many(User(username=f"user{number}", name="U") for number in range(30)))

    answer = erin.submit(path(lamp), path(lamp))

    assert answer.status_code == 303 and answer.headers["location"] == path(lamp)
    page = erin.get(path(lamp)).text
    assert "About to start." in page and 'hx-trigger="every 1s"' in page
    assert '<progress id="told" max="1" value="0">' in page
    assert "erin requested it" in words(page)
    work(web)
    page = erin.get(path(lamp)).text
    assert "All users have the message." in page and "every 1s" not in page
    assert '<progress id="told" max="8" value="8">' in page
    assert "31 users notified, 8 of 8 parts done." in words(page)
    (message,) = web.run(view_messages("user7"))
    assert message.deal_id == lamp.deal_id
    assert noted_changes(web) == [("erin", "sent hot-deal message", "A lamp")]


def test_to_ask_twice_sends_once_and_is_noted_once(web: Web, erin: Browser, lamp: Deal) -> None:
    token = {"form_token": erin.token()}
    assert erin.post(path(lamp), data=token).status_code == 303
    work(web)
    assert erin.post(path(lamp), data=token).status_code == 303
    work(web)
    assert len(web.run(view_messages("erin"))) == 1
    assert len(noted_changes(web)) == 1


def test_the_way_there_is_on_the_desk_and_at_the_deal(erin: Browser, lamp: Deal) -> None:
    assert path(lamp) in erin.links("/editor")
    assert path(lamp) in erin.links(f"/editor/deals/{lamp.deal_id}")
