"""The audit of inboxes: each owed message once, and none twice."""

from __future__ import annotations

from collections import Counter

from bigtime.systems.deals.design import MessageKind
from proofs.messages import Told, message_faults

LIZ: Told = ("liz", "deal", MessageKind.BRAND)
ALEX: Told = ("alex", "deal", MessageKind.BRAND)


def test_every_message_once_is_fine() -> None:
    assert message_faults({LIZ, ALEX}, Counter([LIZ, ALEX])) == []


def test_a_message_that_nobody_owed_is_fine_once() -> None:
    assert message_faults({LIZ}, Counter([LIZ, ALEX])) == []


def test_a_message_that_is_missing_is_found() -> None:
    (fault,) = message_faults({LIZ, ALEX}, Counter([LIZ]))
    assert "alex was not told" in fault


def test_a_message_that_came_twice_is_found() -> None:
    (fault,) = message_faults({LIZ}, Counter([LIZ, LIZ]))
    assert "liz was told twice" in fault
