"""The examples of AWS's pages on PartiQL, as they stand there.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.html
"""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.wire import ConditionalCheckFailedException, DuplicateItemException
from tests.engine.calls import call, make_table, n, s
from tests.engine.partiql.statements import items, make_music, refusal, run

ROCKS = "WHERE Artist='Acme Band' AND SongTitle='PartiQL Rocks'"
KEY: Any = {"Artist": s("Acme Band"), "SongTitle": s("PartiQL Rocks")}


@pytest.fixture
def music(engine: Engine) -> Engine:
    make_music(engine)
    text = "INSERT INTO \"Music\" value {'Artist' : 'Acme Band','SongTitle' : 'PartiQL Rocks'}"
    assert run(engine, text) == {"Items": []}
    return engine


@pytest.fixture
def orders(engine: Engine) -> Engine:
    """Orders 1 to 4 and 100, with a total that is also a key of the table's index."""
    make_table(engine, {"OrderID": "N", "Total": "N"}, name="Orders", keys=("OrderID", "Total"))
    for order, total in ((1, 100), (2, 250), (3, 600), (4, 700), (100, 900)):
        item = {"OrderID": n(order), "Total": n(total), "Address": s("some address")}
        call(engine, "PutItem", TableName="Orders", Item=item)
    return engine


def test_insert_refuses_a_key_that_exists(music: Engine) -> None:
    with pytest.raises(DuplicateItemException, match="Duplicate primary key exists in table"):
        run(music, "INSERT INTO Music VALUE {'Artist': ?, 'SongTitle': ?}", *KEY.values())
    assert call(music, "Scan", TableName="Music")["Items"] == [KEY]


def test_update_adds_a_number_and_a_map(music: Engine) -> None:
    text = f"UPDATE \"Music\" SET AwardsWon=1 SET AwardDetail={{'Grammys':[2020, 2018]}} {ROCKS}"
    assert run(music, text) == {"Items": []}
    assert call(music, "GetItem", TableName="Music", Key=KEY)["Item"] == {
        **KEY,
        "AwardsWon": n(1),
        "AwardDetail": {"M": {"Grammys": {"L": [n(2020), n(2018)]}}},
    }


def test_update_returns_what_it_is_asked_for(music: Engine) -> None:
    run(music, f"UPDATE Music SET AwardsWon=1, Label='X' {ROCKS}")
    asked = f'UPDATE "Music" SET AwardsWon=AwardsWon + 2 {ROCKS} RETURNING'
    assert items(music, f"{asked} ALL OLD *") == [{**KEY, "AwardsWon": n(1), "Label": s("X")}]
    assert items(music, f"{asked} MODIFIED OLD *") == [{"AwardsWon": n(3)}]
    assert items(music, f"{asked} ALL NEW *") == [{**KEY, "AwardsWon": n(7), "Label": s("X")}]
    assert items(music, f"{asked} modified new *") == [{"AwardsWon": n(9)}]


def test_update_of_lists_maps_and_sets(music: Engine) -> None:
    run(music, f"UPDATE Music SET AwardDetail={{'Grammys':[2020, 2018]}} {ROCKS}")
    for change, name, expected in (
        (
            "SET AwardDetail.Grammys =list_append(AwardDetail.Grammys,[2016])",
            "AwardDetail",
            {"M": {"Grammys": {"L": [n(2020), n(2018), n(2016)]}}},
        ),
        (
            "REMOVE AwardDetail.Grammys[2]",
            "AwardDetail",
            {"M": {"Grammys": {"L": [n(2020), n(2018)]}}},
        ),
        (
            "SET AwardDetail.BillBoard=[2020]",
            "AwardDetail",
            {"M": {"Grammys": {"L": [n(2020), n(2018)]}, "BillBoard": {"L": [n(2020)]}}},
        ),
        (
            "SET BandMembers =<<'member1', 'member2'>>",
            "BandMembers",
            {"SS": ["member1", "member2"]},
        ),
        (
            "SET BandMembers =set_add(BandMembers, <<'newmember'>>)",
            "BandMembers",
            {"SS": ["member1", "member2", "newmember"]},
        ),
        (
            "SET BandMembers = SET_DELETE(BandMembers, <<'member1', 'member2'>>)",
            "BandMembers",
            {"SS": ["newmember"]},
        ),
    ):
        (item,) = items(music, f'UPDATE "Music" {change} {ROCKS} RETURNING ALL NEW *')
        assert item[name] == expected


def test_a_response_can_be_changed_without_changing_the_statement(music: Engine) -> None:
    text = f"UPDATE Music SET Tags = {{'a': [1]}} {ROCKS} RETURNING MODIFIED NEW *"
    for _ in range(2):
        (item,) = items(music, text)
        assert item == {"Tags": {"M": {"a": {"L": [n(1)]}}}}
        item["Tags"]["M"]["a"]["L"].clear()


def test_update_wants_the_item(music: Engine) -> None:
    with pytest.raises(ConditionalCheckFailedException):
        run(music, "UPDATE Music SET a=1 WHERE Artist='Nobody' AND SongTitle='None'")
    assert len(call(music, "Scan", TableName="Music")["Items"]) == 1


def test_every_type_of_the_page_on_data_types(engine: Engine) -> None:
    make_table(engine, {"primarykey": "S"}, name="TypesTable", keys=("primarykey",))
    run(
        engine,
        """INSERT INTO TypesTable value {'primarykey':'1',
        'NumberType':1,
        'MapType' : {'entryname1': 'value', 'entryname2': 4},
        'ListType': [1,'stringval'],
        'NumberSetType':<<1,34,32,4.5>>,
        'StringSetType':<<'stringval','stringval2'>>
        }""",
    )
    run(
        engine,
        """UPDATE TypesTable
        SET NumberType=NumberType + 100
        SET MapType.NewMapEntry=[2020, 'stringvalue', 2.4]
        SET ListType = LIST_APPEND(ListType, [4, <<'string1', 'string2'>>])
        SET NumberSetType= SET_ADD(NumberSetType, <<345, 48.4>>)
        SET StringSetType = SET_ADD(StringSetType, <<'stringsetvalue1', 'stringsetvalue2'>>)
        WHERE primarykey='1'""",
    )
    (item,) = items(
        engine,
        """UPDATE TypesTable
        SET NumberType=NumberType - 1
        REMOVE ListType[1]
        REMOVE MapType.NewMapEntry
        SET NumberSetType = SET_DELETE( NumberSetType, <<345>>)
        SET StringSetType = SET_DELETE( StringSetType, <<'stringsetvalue1'>>)
        WHERE primarykey='1' RETURNING ALL NEW *""",
    )
    assert item == {
        "primarykey": s("1"),
        "NumberType": n(100),
        "MapType": {"M": {"entryname1": s("value"), "entryname2": n(4)}},
        "ListType": {"L": [n(1), n(4), {"SS": ["string1", "string2"]}]},
        "NumberSetType": {"NS": ["1", "4.5", "32", "34", "48.4"]},
        "StringSetType": {"SS": ["stringsetvalue2", "stringval", "stringval2"]},
    }


def test_scalars_that_have_no_quotes(engine: Engine) -> None:
    make_table(engine, {"p": "N"}, name="Scalars", keys=("p",))
    run(
        engine, "INSERT INTO Scalars VALUE {'p': -1.50, 'a': TRUE, 'b': false, 'c': nUlL, 'd': 1e2}"
    )
    assert items(engine, "SELECT * FROM Scalars WHERE p = -1.5") == [
        {"p": n(-1.5), "a": {"BOOL": True}, "b": {"BOOL": False}, "c": {"NULL": True}, "d": n(100)}
    ]


def test_delete_returns_the_item(music: Engine) -> None:
    assert items(music, f'DELETE FROM "Music" {ROCKS} RETURNING ALL OLD *') == [KEY]
    assert items(music, f'DELETE FROM "Music" {ROCKS} RETURNING ALL OLD *') == []


def test_delete_judges_its_condition_where_there_is_an_item(music: Engine) -> None:
    with pytest.raises(ConditionalCheckFailedException):
        run(music, f"DELETE FROM Music {ROCKS} AND AwardsWon > 1")
    nobody = "WHERE Artist='Nobody' AND SongTitle='None' AND AwardsWon > 1"
    assert run(music, f"DELETE FROM Music {nobody}") == {"Items": []}


def test_a_failed_condition_shows_the_item_if_asked(music: Engine) -> None:
    with pytest.raises(ConditionalCheckFailedException) as caught:
        run(
            music,
            f"UPDATE Music SET a = 1 {ROCKS} AND AwardsWon > 1",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    assert caught.value.item == KEY


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("OrderID = 1", [1]),
        ("OrderID = 100 and Address='some address'", [100]),
        ("OrderID = 100 or OrderID = 2", [100, 2]),
        ("OrderID IN [100, 3, 234]", [100, 3]),
        ("OrderID IN [1, 2, 3] ORDER BY OrderID DESC", [3, 2, 1]),
        ("OrderID > 1 ", [2, 3, 4, 100]),
        ("Address='some address'", [1, 2, 3, 4, 100]),
        ("OrderID = 100 OR Address='some address'", [1, 2, 3, 4, 100]),
        ("Total > 500", [3, 4, 100]),
        ("Total IN [500, 600]", [3]),
        ("Total BETWEEN 500 AND 600", [3]),
    ],
)
def test_the_selects_of_the_page(orders: Engine, where: str, found: list[int]) -> None:
    seen = [
        int(item["OrderID"]["N"]) for item in items(orders, f'SELECT * FROM "Orders" WHERE {where}')
    ]
    if "Total" in where or "Address" in where or ">" in where:
        seen.sort()
    assert seen == found


def test_the_functions_of_the_page(music: Engine) -> None:
    run(music, f"UPDATE Music SET Awards = [1] {ROCKS}")
    for condition, holds in (
        ("attribute_type(\"Artist\", 'S')", True),
        ("begins_with(\"Artist\", 'Acme')", True),
        ("contains(\"SongTitle\", 'Rocks')", True),
        ('"Awards" is MISSING', False),
        ('"Awards" is not MISSING', True),
        ('size("Artist") >= 9', True),
        ("SIZE(Awards) <> 1", False),
        ("size(Awards) != 2", True),
    ):
        assert bool(items(music, f'SELECT * FROM "Music" WHERE {condition}')) is holds, condition


def test_exists_is_for_transactions(music: Engine) -> None:
    assert refusal(music, f'EXISTS( SELECT * FROM "Music" {ROCKS} AND Awards IS MISSING)') == (
        "EXISTS can only be used in ExecuteTransaction write requests."
    )
