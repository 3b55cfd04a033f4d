"""Sequences: each number once, in order, padded where it is text."""

from __future__ import annotations

import pytest

from bigtime.model.errors import DesignError, ValueRefused
from bigtime.model.invariants.sequence import sequence
from bigtime.model.operations.get import get
from bigtime.model.operations.op import together
from bigtime.model.operations.put import create, put
from bigtime.model.operations.query import all_of
from bigtime.model.operations.transact import transact
from bigtime.model.operations.update import update
from bigtime.wire.requests import Steps
from tests.model.invariants import ISSUES, ORDERS, SHOP, FrontPage, Issue, Project, UnknownProject
from tests.model.world import World

TABLES = [SHOP]


def report(project: str) -> Steps[Issue]:
    number = yield from ISSUES.next(project)
    return (yield from create(Issue(project=project, number=number)))


def test_numbers_count_up_for_each_item(world: World) -> None:
    world.run(transact(create(Project(project="a")), create(Project(project="b"))))
    world.operations()
    assert [world.run(report("a")).number for _ in range(12)] == list(range(1, 13))
    assert world.run(report("b")).number == 1
    assert world.operations()[:2] == ["UpdateItem", "PutItem"]
    issues = world.run(all_of(Issue.within("main", project="a"), newest_first=True))
    assert [issue.number for issue in issues] == list(range(12, 0, -1))


def test_two_never_get_the_same(world: World) -> None:
    world.run(create(Project(project="a")))
    numbers = world.run(together(*(ISSUES.next("a") for _ in range(10))))
    assert sorted(numbers) == list(range(1, 11))


def test_many_at_once(world: World) -> None:
    world.run(create(Project(project="a")))
    assert list(world.run(ISSUES.take(3, "a"))) == [1, 2, 3]
    assert list(world.run(ISSUES.take(2, "a"))) == [4, 5]
    with pytest.raises(ValueRefused, match="1 number or more, not 0"):
        world.run(ISSUES.take(0, "a"))


def test_an_id_that_is_text_sorts_as_its_number(world: World) -> None:
    world.run(create(Project(project="a", last_issue=99_997)))
    assert world.run(ISSUES.next_id("a")) == "99998"
    assert world.run(ISSUES.next_id("a")) == "99999"
    with pytest.raises(ValueRefused, match="100000 does not fit the 5 digits of the sequence"):
        world.run(ISSUES.next_id("a"))
    assert world.run(ORDERS.next_id()) == "00000001"


def test_there_must_be_an_item_that_counts(world: World) -> None:
    with pytest.raises(UnknownProject):
        world.run(ISSUES.next("nobody"))
    assert world.items(SHOP) == []


def test_or_one_is_made(world: World) -> None:
    assert world.run(ORDERS.next()) == 1
    assert world.run(ORDERS.next()) == 2
    assert world.run(get(FrontPage.key())) == FrontPage(last_order=2)


def test_nobody_else_changes_it(world: World) -> None:
    world.run(create(Project(project="a")))
    for wrong in (
        lambda: update(Project.key("a"), last_issue=5),
        lambda: put(Project(project="a")),
    ):
        with pytest.raises(DesignError):
            world.run(wrong())
    with pytest.raises(DesignError, match=r"Project\.project counts up; declare it as"):
        sequence(Project, "project")
    with pytest.raises(DesignError, match="Issue has no field 'title'"):
        sequence(Project, "last_issue", numbers=(Issue, "title"))
