"""Key templates: the charted keys, and the laws of encode, parse, prefix and range."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.model.errors import ValueRefused
from bigtime.model.schema.bounds import SortCondition
from bigtime.model.schema.encoding import Role, TemplateError
from bigtime.model.schema.ksuid import Ksuid
from bigtime.model.schema.parts import bare_field
from bigtime.model.schema.template import KeyMismatch, Template
from tests.model.templates import FIELDS, Status, day_of, template

ID = Ksuid("0ujtsYcgvSTl8PAuAdqWYSMnLOv")
AT = datetime(2024, 1, 15, 10, 30, 5, 123000, tzinfo=UTC)
VALUES: dict[str, Any] = {
    "deal_id": ID,
    "brand": "APPLE",
    "category": "ELECTRONICS",
    "username": "alex",
    "email": "alex@example.com",
    "order_id": "o-1",
    "item_id": "i-2",
    "created_at": AT,
    "status": Status.ACTIVE,
    "entered_at": AT,
    "sku": "72f49",
    "sequence": 42,
    "shard": 3,
    "table": "tenants",
    "id": "tenant_7",
    "active": True,
    "country": "USA",
    "state": "NE",
    "city": "OMAHA",
    "zip_code": "68118",
    "timestamp": "2024-01-15T10:00:00Z",
    "activity_id": "activity-view",
    "purpose": "register",
}


# The keys of the charts


@pytest.mark.parametrize("role", ["partition", "sort"])
@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("DEAL#{deal_id}", f"DEAL#{ID}"),
        ("DEALS#{created_at:day}", "DEALS#2024-01-15T00:00:00"),
        ("BRAND#{brand}#{created_at:day}", "BRAND#APPLE#2024-01-15T00:00:00"),
        ("CATEGORY#{category}#{created_at:day}", "CATEGORY#ELECTRONICS#2024-01-15T00:00:00"),
        ("BRANDS", "BRANDS"),
        ("BRANDLIKE#{brand}#{username}", "BRANDLIKE#APPLE#alex"),
        ("USER#{username}", "USER#alex"),
        ("MESSAGES#{username}", "MESSAGES#alex"),
        ("CUSTOMEREMAIL#{email}", "CUSTOMEREMAIL#alex@example.com"),
        ("#ORDER#{order_id}", "#ORDER#o-1"),
        ("ORDER#{order_id}#ITEM#{item_id}", "ORDER#o-1#ITEM#i-2"),
        ("{status}#{entered_at:millis}#{sku}", "ACTIVE#2024-01-15T10:30:05.123Z#72f49"),
        ("LINE#{sku}", "LINE#72f49"),
        ("METADATA", "METADATA"),
        ("EMAIL#{email}", "EMAIL#alex@example.com"),
        ("{table}#{id}", "tenants#tenant_7"),
        ("{sequence:012}", "000000000042"),
        ("CODE#{purpose}#{id}", "CODE#register#tenant_7"),
        ("{active}", "true"),
        ("{timestamp}#{activity_id}", "2024-01-15T10:00:00Z#activity-view"),
        ("{country}#{state}#{city}#{zip_code}", "USA#NE#OMAHA#68118"),
        ("ISSUE#{sequence:08}", "ISSUE#00000042"),
    ],
)
def test_ordinary_values_give_the_charted_keys(text: str, key: str, role: Role) -> None:
    compiled = template(text, role)
    assert compiled.encode(VALUES) == key
    assert compiled.encode(VALUES) == key
    parsed = compiled.parse(key)
    assert compiled.encode(parsed) == key
    assert tuple(parsed) == compiled.fields


def test_a_number_may_end_a_partition_key_as_it_is() -> None:
    assert template("DEALSCACHE#{shard}", "partition").encode(VALUES) == "DEALSCACHE#3"


def test_the_published_collision_is_none_here() -> None:
    """Other libraries give one key for these two."""
    pair = Template("{a}#{b}", {"a": str, "b": str}, role="partition")
    assert pair.encode({"a": "1#2", "b": "3"}) == "1$232#3"
    assert pair.encode({"a": "1", "b": "2#3"}) == "1#2#3"


def test_a_missing_field_makes_no_key() -> None:
    for text in ("LEFT#{left_on}", "{username}#{left_on}", "{username}#{brand}#{left_on}"):
        assert template(text).encode({**VALUES, "left_on": None}) is None
        assert template(text).encode(VALUES) is None


@pytest.mark.parametrize(
    ("text", "depth", "prefix"),
    [
        ("{country}#{state}#{city}#{zip_code}", 0, ""),
        ("{country}#{state}#{city}#{zip_code}", 1, "USA#"),
        ("{country}#{state}#{city}#{zip_code}", 3, "USA#NE#OMAHA#"),
        ("{country}#{state}#{city}#{zip_code}", 4, "USA#NE#OMAHA#68118"),
        ("ORDER#{order_id}#ITEM#{item_id}", 0, "ORDER#"),
        ("ORDER#{order_id}#ITEM#{item_id}", 1, "ORDER#o-1#ITEM#"),
        ("METADATA", 0, "METADATA"),
    ],
)
def test_a_prefix_reaches_to_the_first_field_not_given(text: str, depth: int, prefix: str) -> None:
    compiled = template(text)
    assert compiled.prefix({name: VALUES[name] for name in compiled.fields[:depth]}) == prefix


@pytest.mark.parametrize(
    ("text", "values", "asked", "condition"),
    [
        # The next page of a partition that only deals are in, and of one that others share.
        ("DEAL#{deal_id}", {}, ("<", ID), SortCondition(
            "between", ("DEAL#", f"DEAL#{ID}"), (f"DEAL#{ID}",))),
        ("A#{brand}#B#{sku}", {}, (">", "x"), SortCondition("between", ("A#x$", "A$"), ("A$",))),
        ("A#{brand}#B#{sku}", {}, ("=", "x"), SortCondition("begins_with", ("A#x#B#",))),
        ("A#{brand}#B#{sku}", {"brand": "x"}, ("=", "y"), SortCondition("=", ("A#x#B#y",))),
        ("A#{brand}#B#{sku}", {"brand": "x"}, ("begins_with", "y"), SortCondition(
            "begins_with", ("A#x#B#y",))),
        ("A#{brand}#B#{sku}", {"brand": "x"}, (">", "y"), SortCondition(
            "between", ("A#x#B#y\0", "A#x#B$"), ("A#x#B$",))),
        ("{timestamp}#{activity_id}", {}, (">=", "2024"), SortCondition(">=", ("2024",))),
        ("{timestamp}#{activity_id}", {}, (">", "2024"), SortCondition(">=", ("2024$",))),
        ("{timestamp}#{activity_id}", {}, ("<", "2024"), SortCondition("<=", ("2024",))),
        ("{timestamp}", {}, (">", "2024"), SortCondition(">", ("2024",))),
        ("{timestamp}", {}, ("<", "2024"), SortCondition("<", ("2024",))),
        ("{timestamp}", {}, (">=", ""), None),
        ("{timestamp}", {}, ("<", ""), SortCondition("<", ("\0",))),
        ("{status}#{entered_at:millis}#{sku}", {"status": "ACTIVE"},
         ("between", AT.replace(microsecond=0), AT), SortCondition("between", (
             "ACTIVE#2024-01-15T10:30:05.000Z", "ACTIVE#2024-01-15T10:30:05.123Z$"))),
    ],
)  # fmt: skip
def test_a_comparison_becomes_one_condition(
    text: str, values: dict[str, Any], asked: tuple[Any, ...], condition: SortCondition | None
) -> None:
    assert template(text).condition(values, asked[0], asked[1:]) == condition


def test_without_an_operator_all_keys_of_the_leading_values_are_meant() -> None:
    compiled = template("A#{brand}#B#{sku}")
    assert compiled.condition({}) == SortCondition("begins_with", ("A#",))
    assert compiled.condition({"brand": "x"}) == SortCondition("begins_with", ("A#x#B#",))
    assert compiled.condition({"brand": "x", "sku": "y"}) == SortCondition("=", ("A#x#B#y",))
    assert template("METADATA").condition({}) == SortCondition("=", ("METADATA",))
    assert template("{brand}#{sku}").condition({}) is None


def test_alone_in_its_partitions_an_entity_needs_no_guard() -> None:
    deals = template("DEAL#{deal_id}")
    assert deals.condition({}, "<", [ID], alone=True) == SortCondition("<", (f"DEAL#{ID}",))
    assert deals.condition({}, ">=", [ID], alone=True) == SortCondition(">=", (f"DEAL#{ID}",))
    assert deals.condition({}, alone=True) is None
    lines = template("{status}#{entered_at:millis}#{sku}")
    assert lines.bounds({"status": "ACTIVE"}, ">=", [AT], alone=True).high == "ACTIVE$"


def test_a_bucket_is_compared_by_its_bucket() -> None:
    compiled = template("{created_at:day}#{sku}")
    later = SortCondition(">=", ("2024-01-15T00:00:00$",))
    assert compiled.condition({}, ">", [AT]) == later
    assert compiled.lossy == ("created_at",)


def test_a_continued_key_is_escaped_and_ranges_take_its_continuations_along() -> None:
    order = template("ORDER#{order_id}", continued=True)
    assert order.encode({"order_id": "a#b"}) == "ORDER#a$23b"
    assert order.parse("ORDER#a$23b") == {"order_id": "a#b"}
    assert order.condition({}, "=", ["a"]) == SortCondition("=", ("ORDER#a",))
    assert order.condition({}, "<=", ["a"]) == SortCondition("between", ("ORDER#", "ORDER#a$"))


# Keys that are no text


def test_a_bare_number_or_bare_bytes_are_the_key_itself() -> None:
    for name, type in (("score", "N"), ("discount", "N"), ("digest", "B")):
        compiled = template(f"{{{name}}}")
        assert (compiled.type, bare_field(compiled.text)) == (type, name)
        assert compiled.fields == (name,)
        with pytest.raises(ValueRefused, match="is stored as it is, not as text"):
            compiled.encode({name: 1})


def test_the_type_of_the_attribute_decides() -> None:
    as_text = Template("{score}", FIELDS, role="partition", type="S")
    assert as_text.encode({"score": 7}) == "7"
    as_number = Template("{created_at}", FIELDS, role="sort", type="N")
    assert bare_field(as_number.text) is not None and as_number.type == "N"
    for name in ("score", "discount", "digest"):
        with pytest.raises(TemplateError):
            Template(f"{{{name}}}", FIELDS, role="sort", type="S")


def test_only_a_field_alone_is_bare() -> None:
    for text in ("{sku}#", "X{sku}", "METADATA", "{created_at:day}", "{brand}#{sku}"):
        compiled = template(text)
        assert bare_field(compiled.text) is None
    assert bare_field(template("{sku}").text) == "sku"


def test_templates_are_equal_when_they_write_alike() -> None:
    assert template("A#{sku}") == template("A#{sku}")
    assert hash(template("A#{sku}")) == hash(template("A#{sku}"))
    assert template("A#{sku}") != template("A#{sku}", continued=True)
    assert template("A#{sku}#B") != template("A#{sku}#B", "partition")
    assert template("A#{sku}") != Template("A#{sku}", {"sku": Status}, role="sort")


# Declarations that cannot work


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "key in the template '': there is nothing in it; write at least one literal or field"),
        ("A#{nobody}", "'{nobody}' at character 3 in the template 'A#{nobody}': there is no field "
         "'nobody'; use one of deal_id, brand"),
        ("{}", "there is no field ''"),
        ("A#{created_at:dya}", "'{created_at:dya}' at character 3 in the template "
         "'A#{created_at:dya}': datetime has no format 'dya'; write millis"),
        ("A#{brand", "'{' at character 3 in the template 'A#{brand': this brace has no partner; "
         "write a field as {name} or {name:format}"),
        ("A#brand}", "'}' at character 8"),
        ("A#{{brand}}", "'{' at character 3"),
        ("{brand}{sku}", "'{sku}' at character 8 in the template '{brand}{sku}': it follows "
         "another field at once, and one of them has no fixed width; write # between them"),
        ("{created_at:day}{sku}", "one of them has no fixed width"),
        ("{status}{created_at:day}", "one of them has no fixed width"),
        ("{brand}/{sku}", "'/' at character 8 in the template '{brand}/{sku}': where 'brand' ends "
         "before it could not be told from what 'brand' may contain; begin it with #"),
        ("{status}-{sku}", "begin it with #"),
        ("{sku}#{sku}", "field 'sku' in the template '{sku}#{sku}': it is there twice; keep one"),
        ("{created_at:day}#{created_at}", "it is there twice"),
        ("N#{score}", "does not sort as a number in a sort key; pad it, as in {n:08}"),
        ("P#{discount}", "let the field alone be the template of a key attribute of type N"),
    ],
)  # fmt: skip
def test_a_template_that_cannot_work_says_where_and_what_to_write(text: str, words: str) -> None:
    with pytest.raises(TemplateError, match=re.escape(words)):
        template(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SCORE#{score}", "a key attribute of type N holds no text; let the template be one field"),
        ("{score:08}", "a key attribute of type N holds no text"),
        ("{nobody}", "there is no field 'nobody'"),
    ],
)
def test_a_key_of_another_type_is_one_field(text: str, words: str) -> None:
    with pytest.raises(TemplateError, match=words):
        Template(text, FIELDS, role="sort", type="N")


# Values and questions that are refused


@pytest.mark.parametrize(
    ("text", "values", "words"),
    [
        ("ISSUE#{sequence:08}", {"sequence": -1}, "field 'sequence' of the key "
         "'ISSUE#{sequence:08}' is -1, and a padded number cannot be negative"),
        ("{sku}#{sequence:02}", {"sku": "x", "sequence": 100}, "field 'sequence' of the key "
         "'{sku}#{sequence:02}' is 100, which does not fit 2 digits"),
        ("{sku}#{brand}#{sequence:02}", {"sku": "x", "brand": 5, "sequence": 1},
         "field 'brand' of the key '{sku}#{brand}#{sequence:02}' takes text, not 5"),
        ("{created_at}", {"created_at": datetime(2024, 1, 1)}, "which has no time zone"),
        ("{sku}", {"sku": ""}, "field 'sku' of the key '{sku}' is empty, and no key may be"),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_refused_by_name(
    text: str, values: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueRefused, match=re.escape(words)):
        template(text).encode(values)


@pytest.mark.parametrize(
    ("text", "values", "asked", "words"),
    [
        ("A#{brand}#{sku}", {"sku": "x"}, (), "cannot be asked by sku alone: also give brand"),
        ("A#{brand}#{sku}", {"bland": "x"}, (), "has no field 'bland'"),
        (
            "A#{brand}#{sku}",
            {"brand": None},
            (),
            "field 'brand' of the key 'A#{brand}#{sku}' takes",
        ),
        ("A#{sku}", {"sku": "x"}, ("=", "y"), "has no field left to compare"),
        ("METADATA", {}, ("=", "y"), "has no field left to compare"),
        ("A#{sku}", {}, ("=",), "= takes 1 operand(s)"),
        ("A#{sku}", {}, ("between", "x"), "between takes 2 operand(s)"),
        ("A#{sku}", {}, ("between", "y", "x"), "field 'sku': between takes the lower value first"),
        ("A#{sku}", {}, (">", 5), "takes text, not 5"),
        ("A#{created_at}", {}, ("begins_with", "2024"), "is not text: ask by its values"),
        ("A#{score:plain}", {}, (">", 5), "gave up its order: pad it, as in {n:08}"),
    ],
)
def test_a_question_that_no_key_can_answer_is_refused(
    text: str, values: dict[str, Any], asked: tuple[Any, ...], words: str
) -> None:
    with pytest.raises(ValueRefused, match=re.escape(words)):
        template(text).condition(values, asked[0] if asked else None, asked[1:])


def test_a_number_without_order_can_still_be_asked_for() -> None:
    compiled = template("A#{score:plain}#{sku}")
    assert compiled.condition({}, "=", [5]) == SortCondition("begins_with", ("A#5#",))


def test_a_partition_key_has_no_ranges() -> None:
    with pytest.raises(ValueRefused, match="is only ever asked for whole"):
        template("A#{sku}", "partition").condition({}, ">", ["x"])


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("DEAL#{deal_id}", "DEAL#short"),
        ("DEAL#{deal_id}", f"BRAND#{ID}"),
        ("DEAL#{deal_id}", f"DEAL#{ID}#"),
        ("A#{brand}#{sku}", "A#x"),
        ("A#{brand}#{sku}", "A#x y#z"),
        ("A#{brand}#{sku}", "A#x$2#z"),
        ("A#{brand}#{sku}", "A#x$41#z"),
        ("A#{sequence:03}", "A#1"),
        ("A#{sequence:03}", "A#٠٠١"),  # noqa: RUF001
        ("A#{score:plain}", "A#007"),
        ("{created_at:day}", "2024-02-30T00:00:00"),
        ("{created_at:day}", "2024-02-20T01:00:00"),
        ("{created_at}", "2024-02-20T01:00:00.000000+00:00"),
        ("{status}#{sku}", "GONE#x"),
        ("{sku}", ""),
        ("METADATA", "METADATA2"),
    ],
)
def test_a_text_that_the_template_cannot_have_made_is_no_key(text: str, key: str) -> None:
    with pytest.raises(KeyMismatch, match=re.escape(f"is no key of the template {text!r}")):
        template(text).parse(key)


@given(st.timedeltas(timedelta(0), timedelta(days=800)))
def test_a_bucket_parses_to_its_start(later: timedelta) -> None:
    month = template("{created_at:month}#{sku}")
    moment = AT + later
    parsed = month.parse(f"{month.encode({'created_at': moment, 'sku': 'x'})}")
    assert parsed["created_at"] == day_of(moment).replace(day=1)
