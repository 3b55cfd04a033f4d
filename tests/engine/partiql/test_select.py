"""SELECT: what it reads, in which order, in which pages, and what it costs."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.wire import ProvisionedThroughputExceededException, ResourceNotFoundException
from tests.engine.calls import call, index, key_schema, make_table, n, s
from tests.engine.partiql.statements import all_pages, items, refusal, run


@pytest.fixture
def table(engine: Engine) -> Engine:
    """Three partitions of twelve items; `color` is a global index, `rank` a local one."""
    make_table(
        engine,
        {"p": "S", "s": "N", "color": "S", "rank": "N"},
        name="Things",
        local=(index("by_rank", key_schema("p", "rank"), ["shown"]),),
        globally=(index("by_color", key_schema("color", "s"), "KEYS_ONLY"),),
    )
    for partition in "abc":
        for number in range(12):
            item = {
                "p": s(partition),
                "s": n(number),
                "color": s("red" if number % 2 else "blue"),
                "rank": n(100 - number),
                "shown": s("yes"),
                "info": {"M": {"list": {"L": [n(number), s("x")]}, "size": n(1)}},
            }
            call(engine, "PutItem", TableName="Things", Item=item)
    return engine


def numbers(found: list[Any]) -> list[int]:
    return [int(item["s"]["N"]) for item in found]


def test_a_whole_key_is_a_get_item(table: Engine) -> None:
    text = 'SELECT * FROM "Things" WHERE s = ? AND p = ?'
    plain = call(
        table,
        "GetItem",
        TableName="Things",
        Key={"p": s("a"), "s": n(3)},
        ReturnConsumedCapacity="TOTAL",
    )
    seen = run(table, text, n(3), s("a"), ReturnConsumedCapacity="TOTAL", Limit=1)
    assert seen == {"Items": [plain["Item"]], "ConsumedCapacity": plain["ConsumedCapacity"]}
    twice = run(table, text, n(3), s("a"), ReturnConsumedCapacity="TOTAL", ConsistentRead=True)
    assert twice["ConsumedCapacity"]["CapacityUnits"] == 1.0
    assert run(table, text, n(99), s("a")) == {"Items": []}


def test_a_whole_key_with_a_filter_or_a_projection(table: Engine) -> None:
    where = "WHERE p = 'a' AND s = 3"
    assert items(table, f"SELECT s FROM Things {where}") == [{"s": n(3)}]
    assert items(table, f"SELECT s FROM Things {where} AND color = 'blue'") == []
    page = run(table, f"SELECT s FROM Things {where} AND color = 'red'", Limit=1)
    assert page == {"Items": [{"s": n(3)}]}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("s = 3", [3]),
        ("s < 2", [0, 1]),
        ("2 > s", [0, 1]),
        ("s <= 1", [0, 1]),
        ("s > 9", [10, 11]),
        ("s >= 10 AND s < 11", [10]),
        ("s BETWEEN 2 AND 4", [2, 3, 4]),
        ("s NOT BETWEEN 2 AND 10", [0, 1, 11]),
        ("s IN (1, 5)", [1, 5]),
        ("s NOT IN [0, 1, 2, 3, 4, 5, 6, 7, 8]", [9, 10, 11]),
        ("(NOT (s > 2)) AND (s) <> 1", [0, 2]),
        ("(s = 1 OR (s = 2)) AND NOT NOT color = 'blue'", [2]),
        ('info."list"[0] = 7', [7]),
        ("info['list'][0] = 7", [7]),
        ('"info"."list"[0] = 7', [7]),
        ('info."size" = 1 AND s = 0', [0]),
        ("nothing IS NULL", []),
        ("nothing IS NOT NULL AND s = 4", [4]),
    ],
)
def test_a_query_by_partition(table: Engine, condition: str, expected: list[int]) -> None:
    page = run(
        table, f"SELECT * FROM Things WHERE p = 'b' AND {condition}", ReturnConsumedCapacity="TOTAL"
    )
    assert numbers(page["Items"]) == expected
    assert page["ConsumedCapacity"]["CapacityUnits"] == 0.5


def test_order_by_the_sort_key(table: Engine) -> None:
    text = "SELECT s FROM Things WHERE p = 'a' AND s > 8 ORDER BY s"
    assert numbers(items(table, text)) == [9, 10, 11]
    assert numbers(items(table, f"{text} asc")) == [9, 10, 11]
    assert numbers(items(table, f"{text} DESC")) == [11, 10, 9]
    assert numbers(items(table, f"{text.replace('BY s', 'BY p, s')} DESC")) == [11, 10, 9]


def test_order_by_needs_the_key(table: Engine) -> None:
    assert refusal(table, "SELECT * FROM Things ORDER BY s") == (
        "Must have WHERE clause in the statement when using ORDER BY clause."
    )
    assert refusal(table, "SELECT * FROM Things WHERE s = 1 ORDER BY s") == (
        "Must have at least one non-optional hash key condition in WHERE clause when using "
        "ORDER BY clause."
    )
    assert refusal(table, "SELECT * FROM Things WHERE p = 'a' ORDER BY color") == (
        "Attribute color in ORDER BY clause must be part of the primary key"
    )
    for where in ("p IN ['a', 'b']", "p = 'a' OR p = 'b'"):
        assert refusal(table, f"SELECT * FROM Things WHERE {where} ORDER BY s") == (
            "Must have hash key in ORDER BY clause when more than one hash key condition "
            "specified in WHERE clause."
        )


@pytest.mark.parametrize("order", ["p", "p ASC", "p DESC"])
def test_order_by_the_partition_key_alone_reverses_the_sort_key(table: Engine, order: str) -> None:
    """(Seen on AWS: https://github.com/floci-io/floci/pull/3798)"""
    text = f"SELECT p, s FROM Things WHERE p IN ['b', 'a'] AND s < 2 ORDER BY {order}"
    partitions = "ba" if "DESC" in order else "ab"
    assert [(each["p"]["S"], int(each["s"]["N"])) for each in all_pages(table, text)] == [
        (partition, number) for partition in partitions for number in (1, 0)
    ]
    text = f"SELECT s FROM Things WHERE p = 'a' ORDER BY {order}"
    assert numbers(items(table, text)) == list(reversed(range(12)))


def test_several_partitions_come_in_pages_of_ten(table: Engine) -> None:
    text = "SELECT p, s FROM Things WHERE p IN ['c', 'a', 'nothing']"
    first = run(table, text)
    assert [item["p"]["S"] for item in first["Items"]] == ["c"] * 10
    everything = all_pages(table, text)
    assert [(item["p"]["S"], int(item["s"]["N"])) for item in everything] == [
        (partition, number) for partition in "ca" for number in range(12)
    ]
    assert all_pages(table, text, Limit=3) == everything
    ordered = all_pages(table, f"{text} ORDER BY p ASC, s DESC")
    assert [(item["p"]["S"], int(item["s"]["N"])) for item in ordered] == [
        (partition, number) for partition in "ac" for number in reversed(range(12))
    ]


@pytest.mark.parametrize(("limit", "first_page"), [(None, 10), (1, 1), (3, 3), (100, 10)])
def test_partitions_of_one_item_each_come_in_pages_too(
    engine: Engine, limit: int | None, first_page: int
) -> None:
    make_table(engine, {"p": "N"}, name="Plain", keys=("p",))
    for number in range(13):
        call(engine, "PutItem", TableName="Plain", Item={"p": n(number)})
    text = f"SELECT * FROM Plain WHERE p IN [{', '.join(f'{key}.0' for key in range(20))}]"
    settings = {} if limit is None else {"Limit": limit}
    assert len(run(engine, text, **settings)["Items"]) == first_page
    assert all_pages(engine, text, **settings) == [{"p": n(number)} for number in range(13)]


def test_the_capacity_of_several_partitions_is_added_up(table: Engine) -> None:
    page = run(
        table,
        "SELECT * FROM Things WHERE p IN ['a', 'b', 'c'] AND s = 1",
        ReturnConsumedCapacity="INDEXES",
    )
    assert page["ConsumedCapacity"] == {
        "TableName": "Things",
        "CapacityUnits": 1.5,
        "Table": {"CapacityUnits": 1.5},
    }


@pytest.mark.parametrize("where", ["", "WHERE p = 'a'", "WHERE color = 'red'", "WHERE p IN ['b']"])
@pytest.mark.parametrize("limit", [1, 5, 12, 100])
def test_pages_join_up_to_the_whole(table: Engine, where: str, limit: int) -> None:
    text = f"SELECT p, s FROM Things {where}"
    assert all_pages(table, text, Limit=limit) == all_pages(table, text)


def in_list(attribute: str, count: int) -> str:
    return f"{attribute} IN [{', '.join(map(str, range(count)))}]"


@pytest.mark.parametrize("where", ["{}", "NOT {}", "s = 1 AND ({} OR s = 2)"])
def test_in_takes_a_hundred_values_wherever_it_stands(table: Engine, where: str) -> None:
    """(Seen on AWS, as the next two: https://github.com/floci-io/floci/pull/3798)"""
    run(table, f"SELECT * FROM Things WHERE {where.format(in_list('shown', 100))}")
    text = f"SELECT * FROM Things WHERE {where.format(in_list('shown', 101))}"
    assert refusal(table, text) == (
        "The IN operator is provided with too many operands; number of operands: 101"
    )


@pytest.mark.parametrize(
    ("where", "count", "is_refused"),
    [
        ("n IN ({})", 50, False),
        ("n IN ({})", 51, True),
        ("shown = 1 AND n IN ({}) AND shown = 2", 51, True),
        ("n IN ({}) OR n = 1000", 49, False),
        ("n IN ({}) OR n = 1000", 50, True),
        ("n = 1 AND m IN ({})", 50, False),
        ("n = 1 AND m IN ({})", 51, True),
        ("n IN (1000, 1001) AND m IN ({})", 26, True),
        ("n IN ({0}) AND m IN ({0})", 40, True),
        ("NOT n IN ({})", 51, False),
        ("m IN ({})", 51, False),
        ("shown = 1 OR n IN ({})", 51, False),
    ],
)
def test_a_statement_has_fifty_reads_at_most(
    engine: Engine, where: str, count: int, is_refused: bool
) -> None:
    make_table(engine, {"n": "N", "m": "N"}, name="Wide", keys=("n", "m"))
    text = f"SELECT * FROM Wide WHERE {where.format(', '.join(map(str, range(count))))}"
    if is_refused:
        assert refusal(engine, text) == ("Too many decomposed read operations for a given query.")
    else:
        assert items(engine, text) == []


@pytest.mark.parametrize(
    ("where", "is_refused"),
    [
        ("p IN ['a', 'b', 'a']", True),
        ("p = 'a' OR p = 'a'", True),
        ("p = 'a' AND s IN [1, 2, 1.0]", True),
        ("p = 'a' AND (s > 1 OR s < 3)", True),
        ("p = 'a' AND (s > 3 OR s < 3)", False),
        ("p = 'a' AND (s >= 3 OR s <= 3)", True),
        ("p = 'a' AND (s BETWEEN 1 AND 5 OR s = 5)", True),
        ("p = 'a' AND (s BETWEEN 1 AND 5 OR s = 6)", False),
        ("p = 'a' AND (s > 5 OR color = 'red')", True),
        ("(p = 'a' AND s > 5) OR (p = 'a' AND s < 7 AND s < 4)", False),
        ("(p = 'a' AND s > 5) OR (p = 'b' AND s < 7)", False),
        ("(p = 'a' AND s > 5 AND s < 2) OR p = 'a'", False),
        ("p = 'a' AND p = 'b' AND (s > 1 OR s < 3)", False),
        ("s > 1 OR s < 3", False),
        ("p = 'a' AND NOT (s > 1 OR s < 3)", False),
        ("p = 'a' OR color = 'red' OR p = 'a'", False),
    ],
)
def test_no_two_reads_overlap(table: Engine, where: str, is_refused: bool) -> None:
    text = f"SELECT * FROM Things WHERE {where}"
    if is_refused:
        assert refusal(table, text) == (
            "Overlapping conditions with range keys are not supported in where clause"
        )
    else:
        run(table, text)


@pytest.mark.parametrize(
    ("where", "keys", "reads"),
    [
        ("(p = 'c' AND s = 1) OR (p = 'a' AND s > 10)", ["c1", "a11"], 2),
        ("(p = 'b' AND s = 3) OR (p = 'b' AND s = 1)", ["b3", "b1"], 2),
        (
            "(p = 'b' AND rank > 98 AND s < 4) OR (s = 1 AND p IN ['c', 'a'])",
            ["b0", "b1", "c1", "a1"],
            3,
        ),
        ("((p = 'a' AND s = 1) OR (p = 'b' AND s = 2)) AND color = 'red'", ["a1"], 2),
        ("(p = 'a' AND s > 5 AND s < 2) OR (p = 'a' AND s = 4)", ["a4"], 1),
    ],
)
def test_an_or_of_partitions_reads_no_others(
    table: Engine, where: str, keys: list[str], reads: int
) -> None:
    """Its capacity is that of its reads: a Scan would cost half a unit."""
    text = f"SELECT p, s FROM Things WHERE {where}"
    page = run(table, text, ReturnConsumedCapacity="TOTAL")
    assert page["ConsumedCapacity"]["CapacityUnits"] == 0.5 * reads
    assert [item["p"]["S"] + item["s"]["N"] for item in page["Items"]] == keys
    assert all_pages(table, text, Limit=1) == page["Items"]


def test_a_part_of_an_or_with_two_partitions_finds_nothing(table: Engine) -> None:
    text = "SELECT p, s FROM Things WHERE (p = 'a' AND p = 'b') OR (p = 'a' AND s < 3) OR p = 'a'"
    assert numbers(all_pages(table, text, Limit=5)) == list(range(12))


def test_an_or_of_partitions_is_not_ordered(table: Engine) -> None:
    """(Seen on AWS: https://github.com/floci-io/floci/pull/3798)"""
    text = "SELECT * FROM Things WHERE (p = 'a' AND s = 1) OR (p = 'b' AND s = 2) ORDER BY p"
    assert "non-optional hash key condition" in refusal(table, text)


def test_parameters_overlap_too(table: Engine) -> None:
    text = "SELECT p, s FROM Things WHERE p IN [?, ?] AND s = 1"
    assert len(items(table, text, s("a"), s("b"))) == 2
    assert "Overlapping" in refusal(table, text, s("a"), s("a"))


def test_several_partitions_are_ordered_by_their_key_first(table: Engine) -> None:
    text = "SELECT p, s FROM Things WHERE p IN ['b', 'a'] AND s < 2"
    for order in ("p, s DESC", "s DESC, p"):
        found = all_pages(table, f"{text} ORDER BY {order}")
        assert [(item["p"]["S"], item["s"]["N"]) for item in found] == [
            ("a", "1"),
            ("a", "0"),
            ("b", "1"),
            ("b", "0"),
        ]


def test_limit_counts_the_items_looked_at(table: Engine) -> None:
    page = run(table, "SELECT s FROM Things WHERE p = 'a' AND color = 'red'", Limit=3)
    assert numbers(page["Items"]) == [1]
    assert page["LastEvaluatedKey"] == {"p": s("a"), "s": n(2)}


@pytest.mark.parametrize(
    "text",
    [
        "SELECT s FROM Things WHERE p = 'a' AND s = 1;",
        "-- of one item\nSELECT s FROM Things -- its place\nWHERE p = 'a' AND s = 1",
        "SELECT s /* its place;\n alone */ FROM Things WHERE p = 'a' AND s = 1 ;\n",
    ],
)
def test_a_statement_may_end_with_a_semicolon_and_have_comments(table: Engine, text: str) -> None:
    assert numbers(items(table, text)) == [1]


def test_what_looks_like_a_comment_in_a_string_is_text(table: Engine) -> None:
    assert items(table, "SELECT s FROM Things WHERE p = '--a' OR p = '/*a*/'") == []


def test_a_token_is_good_for_its_statement_alone(table: Engine) -> None:
    text = "SELECT * FROM Things WHERE p = ?"
    token = run(table, text, s("a"), Limit=1)["NextToken"]
    assert run(table, text, s("a"), Limit=2, NextToken=token)["Items"]
    for other, parameter in (
        (text, s("b")),
        ("SELECT s FROM Things WHERE p = ?", s("a")),
    ):
        assert refusal(table, other, parameter, NextToken=token) == (
            "NextToken does not match request"
        )
    for given in (token[:-8], "é", "W10="):
        assert refusal(table, text, s("a"), NextToken=given) == "Invalid NextToken"


def test_a_global_index_shows_what_it_projects(table: Engine) -> None:
    found = items(table, 'SELECT * FROM "Things"."by_color" WHERE color = \'red\' AND s = 1')
    assert [set(item) for item in found] == [{"p", "s", "color"}] * 3
    text = "SELECT s FROM Things.by_color WHERE color = 'red' AND p = 'a'"
    assert numbers(items(table, text)) == [1, 3, 5, 7, 9, 11]
    text = "SELECT shown FROM Things.by_color WHERE color = 'red'"
    assert "does not project [shown]" in refusal(table, text)
    text = "SELECT s FROM Things.by_color WHERE color = 'red'"
    assert refusal(table, text, ConsistentRead=True) == (
        "Strongly consistent read is not supported on Global Secondary Indexes"
    )


def test_the_columns_that_an_index_lacks_are_in_their_order(table: Engine) -> None:
    """(Seen on AWS: https://github.com/floci-io/floci/pull/2953)"""
    text = "SELECT shown, p, info.size2, s FROM Things.by_color"
    assert refusal(table, text) == (
        "One or more parameter values were invalid: "
        "Global secondary index by_color does not project [shown, info]"
    )


@pytest.mark.parametrize(
    ("where", "missing"),
    [
        ("color = 'red' AND shown = 'yes'", ["shown"]),
        ("color = 'red' AND (NOT shown = 'yes' OR info.a = 1)", ["shown", "info"]),
        ("color IN ['red', 'blue'] AND shown = 'yes'", ["shown"]),
        ("(color = 'red' AND shown = 'x') OR (color = 'blue' AND info = 'x')", ["shown"]),
        ("(color = 'blue' AND shown = 'x') OR (color = 'red' AND info = 'x')", ["info"]),
        ("(color = 'red' AND shown = 'x') OR color = 'blue'", []),
        ("shown = 'yes'", []),
        ("color > 'a' AND shown = 'yes'", []),
        ("color = 'red' AND s > 1 AND p = 'nothing'", []),
    ],
)
def test_a_filter_by_what_an_index_lacks(table: Engine, where: str, missing: list[str]) -> None:
    """A Scan finds nothing. (Seen on AWS: https://github.com/floci-io/floci/pull/3798)"""
    text = f"SELECT p FROM Things.by_color WHERE {where}"
    if not missing:
        found = items(table, text)
        assert found == [] or "OR color" in where
        return
    told = refusal(table, text)
    assert told.startswith(
        "One or more parameter values were invalid: "
        "Secondary index by_color does not project one or more filter attributes: ["
    )
    assert sorted(told[told.index("[") + 1 : -1].split(", ")) == sorted(missing)


def test_a_filter_of_a_local_index_sees_what_it_projects(table: Engine) -> None:
    text = "SELECT s FROM Things.by_rank WHERE p = 'a' AND color = 'red'"
    assert refusal(table, text) == (
        "One or more parameter values were invalid: "
        "Secondary index by_rank does not project one or more filter attributes: [color]"
    )
    assert items(table, "SELECT s FROM Things.by_rank WHERE color = 'red'") == []
    assert items(table, "SELECT s, info FROM Things.by_rank WHERE color = 'red'") == []


def test_attributes_are_named_in_the_order_of_a_java_hash_set(table: Engine) -> None:
    """Of 16 buckets, "q" and "a" share one, in the statement's order; "b" and "z" come later."""
    where = " AND ".join(f"{name} = 1" for name in ("b", "q", "a", "z"))
    told = refusal(table, f"SELECT p FROM Things.by_color WHERE color = 'red' AND {where}")
    assert told.endswith("attributes: [q, a, b, z]")


def test_an_index_with_a_key_of_many_attributes(engine: Engine) -> None:
    keys = [
        {"AttributeName": "a", "KeyType": "HASH"},
        {"AttributeName": "b", "KeyType": "HASH"},
        {"AttributeName": "c", "KeyType": "RANGE"},
        {"AttributeName": "d", "KeyType": "RANGE"},
    ]
    name = make_table(
        engine,
        {"p": "N", "a": "S", "b": "S", "c": "N", "d": "N"},
        keys=("p",),
        globally=(index("wide", keys),),
    )
    for number in range(8):
        item = {"p": n(number), "a": s("x"), "b": s("y"), "c": n(number // 4), "d": n(number)}
        call(engine, "PutItem", TableName=name, Item=item)

    def select_numbers(where: str) -> list[int]:
        text = f'SELECT p FROM "{name}"."wide" WHERE {where}'
        return [int(item["p"]["N"]) for item in all_pages(engine, text, Limit=2)]

    assert select_numbers("b = 'y' AND a = 'x'") == [0, 1, 2, 3, 4, 5, 6, 7]
    assert select_numbers("b = 'y' AND a = 'x' AND c = 1 AND d > 5") == [6, 7]
    assert select_numbers("b = 'y' AND a = 'x' AND d > 5") == [6, 7]
    assert select_numbers("b = 'y' AND a = 'x' AND c <= 0 AND d > 1 ORDER BY c DESC, d DESC") == [
        3,
        2,
    ]
    assert select_numbers("a = 'x' AND d IN [2, 5]") == [2, 5]
    assert select_numbers("b = 'y' AND a = 'x' AND c = 1 ORDER BY b, d DESC") == [7, 6, 5, 4]
    for order in ("d", "d, c", "d DESC, c DESC"):
        text = f"SELECT p FROM \"{name}\".\"wide\" WHERE a = 'x' AND b = 'y' ORDER BY {order}"
        assert refusal(engine, text) == (
            "ORDER BY must name the attributes of the key in their order: c, d"
        )


def test_a_local_index_orders_and_fetches(table: Engine) -> None:
    text = "SELECT s, info.\"list\" FROM Things.by_rank WHERE p = 'a' AND rank < 92 ORDER BY rank"
    assert items(table, text) == [
        {"s": n(number), "list": {"L": [n(number), s("x")]}} for number in (11, 10, 9)
    ]
    assert run(table, text, ConsistentRead=True)["Items"]


def test_an_index_that_is_not_there_is_not_named(table: Engine) -> None:
    for consistent in (False, True):
        text = "SELECT * FROM Things.nope"
        assert refusal(table, text, ConsistentRead=consistent) == (
            "The table does not have the specified index"
        )


def test_a_path_is_called_by_its_last_name(table: Engine) -> None:
    paths = 'info."list"[0], info."list"[7], info."size", shown'
    text = f"SELECT {paths} FROM Things WHERE p='a' AND s=5"
    assert items(table, text) == [{"list[0]": n(5), "size": n(1), "shown": s("yes")}]


@pytest.mark.parametrize(
    ("where", "name", "wrong"),
    [
        ("p = {}", "p", "5"),
        ("p = {} AND s = 1", "p", "5"),
        ("p = 'a' AND s = {}", "s", "'b'"),
        ("p IN ['a', {}]", "p", "1"),
        ("p = 'a' AND s BETWEEN 1 AND {}", "s", "'b'"),
        ("p = 'a' AND begins_with(s, {})", "s", "'1'"),
        ("s > {}", "s", "'b'"),
        ("shown = 'x' OR s = {}", "s", "'b'"),
    ],
)
def test_a_key_of_another_type_is_refused(table: Engine, where: str, name: str, wrong: str) -> None:
    """(Seen on AWS: https://github.com/floci-io/floci/pull/3798)"""
    assert refusal(table, f"SELECT * FROM Things WHERE {where.format(wrong)}") == (
        f"Key attribute's data type should match its data type in table's schema: Key {name}"
    )
    if "begins_with" not in where:
        for value, tag in (("TRUE", "BOOL"), ("[1]", "L"), ("<<'x'>>", "SS"), ("NULL", "NULL")):
            assert refusal(table, f"SELECT * FROM Things WHERE {where.format(value)}") == (
                f"Key value must be of type S, N, or B. Key name: {name}, Key type: {tag}"
            )


def test_a_type_is_free_where_it_is_no_key_condition(table: Engine) -> None:
    for where in ("NOT s = 'b'", "p <> 5", "p > 5", "s <> 'b'", "contains(s, 'x')"):
        run(table, f"SELECT * FROM Things WHERE {where}")


def test_a_changed_table_makes_a_new_plan(engine: Engine) -> None:
    text = "SELECT * FROM Moving WHERE a = 'x'"
    make_table(engine, {"a": "S"}, name="Moving", keys=("a",))
    call(engine, "PutItem", TableName="Moving", Item={"a": s("x")})
    assert items(engine, text) == [{"a": s("x")}]
    call(engine, "DeleteTable", TableName="Moving")
    with pytest.raises(ResourceNotFoundException):
        run(engine, text)
    make_table(engine, {"b": "S"}, name="Moving", keys=("b",))
    call(engine, "PutItem", TableName="Moving", Item={"b": s("1"), "a": s("x")})
    assert items(engine, text) == [{"b": s("1"), "a": s("x")}]


def test_faults_meet_statements_too(table: Engine) -> None:
    for text in (
        "SELECT * FROM Things WHERE p = 'a' AND s = 1",
        "SELECT * FROM Things WHERE p = 'a'",
        "SELECT * FROM Things",
        "INSERT INTO Things VALUE {'p': 'new', 's': 1}",
    ):
        table.faults.throttle(next=1)
        with pytest.raises(ProvisionedThroughputExceededException):
            run(table, text)
        run(table, text)


def test_a_table_may_be_named_by_its_arn(table: Engine) -> None:
    arn = call(table, "DescribeTable", TableName="Things")["Table"]["TableArn"]
    assert len(items(table, f"SELECT * FROM \"{arn}\" WHERE p = 'a' AND s = 1")) == 1
    assert len(items(table, f"SELECT s FROM \"{arn}\" WHERE p = 'a'")) == 12
