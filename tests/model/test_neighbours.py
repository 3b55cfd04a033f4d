"""What the entities of one table must leave to each other, found when one is declared."""

from __future__ import annotations

from datetime import date, datetime
from types import new_class
from typing import Any, cast

import pytest

from bigtime.model.errors import DesignError
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.ksuid import Ksuid
from bigtime.model.schema.neighbours import is_alone
from bigtime.model.schema.table import Table, global_index, number
from tests.model import designs

FIELDS = {
    "a": str, "b": str, "c": str, "id": Ksuid, "n": int, "at": datetime, "day": date,
}  # fmt: skip


def declare(table: Table, name: str, *main: str, **indexes: tuple[str, ...]) -> type[Entity]:
    """An entity that has all of FIELDS."""
    body: dict[str, Any] = {"keys": Keys(main=main, **indexes), "__annotations__": dict(FIELDS)}
    body["__module__"] = __name__
    made = new_class(name, (Entity,), {"table": table}, lambda namespace: namespace.update(body))
    return cast(type[Entity], made)


def table() -> Table:
    return Table("Things", "PK", "SK", indexes=[global_index("GSI1", "GPK", "GSK")])


def last(entity: type[Entity], index: str = "main") -> bool:
    """Whether the entity's sort key closes its last field."""
    return entity.layout.keys[index].range[-1].template.continued


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("A#{a}", "A#{a}"), ("A#{b}", "A#{b}")),
        (("A#{a}", "ORDER#{b}"), ("A#{a}", "ORDER#LATEST")),
        (("{a}", "{b}"), ("USER#{a}", "USER#{a}")),
        (("A#{a}", "A"), ("A#B#{a}", "A")),
    ],
)
def test_a_key_that_two_entities_can_have_is_refused(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    shared = table()
    declare(shared, "First", *one)
    with pytest.raises(DesignError, match=r"Second .* and First .* can have the same main key"):
        declare(shared, "Second", *other)
    assert len(shared.entities) == 1


def test_the_refusal_shows_the_shortest_key_that_both_can_have() -> None:
    shared = table()
    declare(shared, "First", "A#{a}", "ORDER#{b}")
    with pytest.raises(DesignError, match="PK = 'A#', SK = 'ORDER#LATEST'"):
        declare(shared, "Second", "A#{a}", "ORDER#LATEST")


def test_entities_of_one_partition_may_sort_apart() -> None:
    shared = table()
    declare(shared, "Customer", "CUSTOMER#{a}", "CUSTOMER#{a}")
    declare(shared, "Order", "CUSTOMER#{a}", "#ORDER#{id}")


def test_numbers_as_keys_are_shared_by_any_two_entities() -> None:
    shared = Table("Things", "PK", number("SK"))
    declare(shared, "First", "A#{a}", "{n}")
    with pytest.raises(DesignError, match="SK = any"):
        declare(shared, "Second", "A#{b}", "{n}")


def test_a_main_key_of_buckets_alone_is_refused() -> None:
    with pytest.raises(DesignError, match=r"Daily: all fields .* are in buckets.*day: date"):
        declare(table(), "Daily", "DAY#{at:day}", "DAY#{at:day}")


@pytest.mark.parametrize(
    "main", [("DAY#{day}", "X"), ("DAY#{at:day}", "X#{id}"), ("DAY#{at:day}", "{at}"), ("X", "X")]
)
def test_a_main_key_needs_one_exact_field_unless_it_has_none(main: tuple[str, str]) -> None:
    declare(table(), "Fine", *main)


def test_an_attribute_of_two_indexes_has_one_template() -> None:
    inverted = Table("Things", "PK", "SK", indexes=[global_index("Inverted", "SK", "PK")])
    declare(inverted, "Fine", "A#{a}", "B#{b}", Inverted=("B#{b}", "A#{a}"))
    with pytest.raises(DesignError, match="attribute SK is a key of two indexes"):
        declare(inverted, "Wrong", "C#{a}", "D#{b}", Inverted=("D#{c}", "C#{a}"))


def test_an_attribute_that_some_index_sorts_by_is_encoded_to_sort_everywhere() -> None:
    inverted = Table("Things", "PK", "SK", indexes=[global_index("Inverted", "SK", "PK")])
    entity = declare(inverted, "Link", "A#{a}#{c}", "B#{b}", Inverted=("B#{b}", "A#{a}#{c}"))
    key = entity.key(a="x y", c="z", b="b")
    assert key.item["PK"] == {"S": "A#x$20y#z"}


class TestStrays:
    """Keys that fall among those of another entity."""

    def is_refused(self, one: str, other: str) -> bool:
        shared = table()
        declare(shared, "First", "P#{a}", one)
        error = ""
        try:
            declare(shared, "Second", "P#{a}", other)
        except DesignError as refusal:
            error = str(refusal)
        assert not error or "fall among those of the other" in error
        return bool(error)

    def test_a_literal_where_the_other_has_a_field(self) -> None:
        assert self.is_refused("ORDER#{id}", "ORDER#LATEST")
        assert self.is_refused("ORDER#LATEST", "ORDER#{id}")
        assert self.is_refused("TEAM#{id}#{n:08}", "TEAM#{id}#MEMBER#{b}")

    def test_a_name_that_begins_with_the_other_and_goes_on_with_a_field(self) -> None:
        assert self.is_refused("ORDER{n:08}", "ORDERS#{b}")

    def test_a_key_that_is_the_other_ones_prefix(self) -> None:
        assert self.is_refused("ORDER#{id}", "ORDER#")

    def test_names_that_only_begin_alike_are_fine(self) -> None:
        assert not self.is_refused("ORDER#{id}", "ORDERS#{id}")

    def test_a_hierarchy_is_on_purpose(self) -> None:
        assert not self.is_refused("TEAM#{b}", "TEAM#{b}#MEMBER#{c}")
        assert not self.is_refused("TEAM#{b}#PROJECT#{id}", "TEAM#{b}#MEMBER#{c}")

    def test_with_no_prefix_at_all_only_the_values_matter(self) -> None:
        assert not self.is_refused("{at:seconds}#{c}", "LINE#{b}")
        assert self.is_refused("{n:04}#{id}", "2024#LATEST")

    def test_an_index_is_checked_where_partitions_are_shared(self) -> None:
        shared = table()
        declare(shared, "First", "A#{a}", "A", GSI1=("G#{b}", "ORDER#{id}"))
        declare(shared, "Apart", "B#{a}", "B", GSI1=("OTHER#{b}", "ORDER#LATEST"))
        with pytest.raises(DesignError, match="Second and First share partitions of GSI1"):
            declare(shared, "Second", "C#{a}", "C", GSI1=("G#{b}", "ORDER#LATEST"))

    def test_a_feed_of_two_entities_is_on_purpose(self) -> None:
        shared = table()
        declare(shared, "Post", "POST#{id}", "POST", GSI1=("FEED#{a}", "{at}"))
        declare(shared, "Comment", "COMMENT#{id}", "COMMENT", GSI1=("FEED#{a}", "{at}"))


class TestContinued:
    """A last field is raw, unless another entity goes on where it ends."""

    def test_a_continued_field_is_closed_whoever_comes_first(self) -> None:
        for order in (["TEAM#{b}", "TEAM#{b}#MEMBER#{c}"], ["TEAM#{b}#MEMBER#{c}", "TEAM#{b}"]):
            shared = table()
            entities = {text: declare(shared, f"E{len(text)}", "P#{a}", text) for text in order}
            assert last(entities["TEAM#{b}"])
            assert not last(entities["TEAM#{b}#MEMBER#{c}"])

    def test_what_stands_in_another_index_continues_nothing(self) -> None:
        shared = table()
        one = declare(shared, "One", "P#{a}", "TEAM#{b}")
        declare(shared, "Other", "Q#{a}", "X", GSI1=("P#{a}", "TEAM#{b}#MEMBER#{c}"))
        assert not last(one)

    def test_an_attribute_is_closed_in_all_indexes_or_in_none(self) -> None:
        inverted = Table("Things", "PK", "SK", indexes=[global_index("Inverted", "SK", "PK")])
        team = declare(inverted, "Team", "P#{a}", "TEAM#{b}", Inverted=("TEAM#{b}", "P#{a}"))
        declare(inverted, "Member", "P#{a}", "TEAM#{b}#MEMBER#{c}")
        assert last(team)
        assert team.layout.keys["Inverted"].hash[0].template.continued

    def test_values_that_look_continued_stay_apart(self) -> None:
        lookalike = designs.Team(org="o", team="red#MEMBER#ann")
        member = designs.Member(org="o", team="red", name="ann")
        assert lookalike.own_key().item != member.own_key().item

    def test_it_is_too_late_once_a_key_was_made(self) -> None:
        shared = table()
        team = declare(shared, "Team", "P#{a}", "TEAM#{b}")
        team.key(a="a", b="b")
        with pytest.raises(DesignError, match="continues a key of Team, which is in use"):
            declare(shared, "Member", "P#{a}", "TEAM#{b}#MEMBER#{c}")


@pytest.mark.parametrize(
    ("entity", "index", "alone"),
    [
        (designs.Deal, "GSI1", True),
        (designs.Message, "GSI1", True),
        (designs.Customer, "main", False),
        (designs.Order, "GSI1", False),
        (designs.OrderItem, "main", True),
        (designs.Line, "GSI-SKU", True),
        (designs.Line, "main", False),
    ],
)
def test_who_is_alone_in_its_partitions(entity: type[Entity], index: str, alone: bool) -> None:
    assert is_alone(entity.layout, index) is alone


def test_being_alone_ends_when_a_neighbour_is_declared() -> None:
    shared = table()
    first = declare(shared, "First", "P#{a}", "FIRST#{b}")
    assert is_alone(first.layout, "main")
    declare(shared, "Second", "P#{a}", "SECOND#{b}")
    assert not is_alone(first.layout, "main")
