"""BatchExecuteStatement: each statement on its own."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.wire import Response, SerializationException
from tests.engine.calls import add_index, call, key_schema, make_table, n, refusal_of, s
from tests.engine.partiql.statements import make_music

ALL = {"ProjectionType": "ALL"}
KEY_WANTED = (
    "Select statements within BatchExecuteStatement must specify the primary key "
    "in the where clause."
)


@pytest.fixture
def music(engine: Engine) -> Engine:
    make_music(engine)
    for number in range(3):
        item = {"Artist": s("Acme Band"), "SongTitle": s(f"Song {number}"), "Plays": n(number)}
        call(engine, "PutItem", TableName="Music", Item=item)
    return engine


def batch(engine: Engine, *statements: str | dict[str, Any], **settings: Any) -> Response:
    requests = [{"Statement": each} if isinstance(each, str) else each for each in statements]
    return call(engine, "BatchExecuteStatement", Statements=requests, **settings)


def song(number: int) -> str:
    return f"WHERE Artist = 'Acme Band' AND SongTitle = 'Song {number}'"


def test_reads_answer_in_their_order(music: Engine) -> None:
    answer = batch(
        music,
        f"SELECT Plays FROM Music {song(2)}",
        f"SELECT Plays FROM Music {song(9)}",
        {
            "Statement": "SELECT SongTitle FROM Music WHERE Artist = ? AND SongTitle = ?",
            "Parameters": [s("Acme Band"), s("Song 0")],
            "ConsistentRead": True,
        },
        ReturnConsumedCapacity="TOTAL",
    )
    assert answer == {
        "Responses": [
            {"TableName": "Music", "Item": {"Plays": n(2)}},
            {"TableName": "Music"},
            {"TableName": "Music", "Item": {"SongTitle": s("Song 0")}},
        ],
        "ConsumedCapacity": [{"TableName": "Music", "CapacityUnits": 2.0}],
    }


def test_a_read_that_fails_spoils_no_other(music: Engine) -> None:
    responses = batch(
        music,
        "SELECT * FROM Music WHERE Artist = 'Acme Band'",
        "SELECT * FROM Nope WHERE a = 1",
        "SELECT * FROM Music WHERE",
        f"SELECT Plays FROM Music {song(1)}",
    )["Responses"]
    assert responses[0] == {"Error": {"Code": "ValidationError", "Message": KEY_WANTED}}
    assert responses[1] == {
        "Error": {"Code": "ResourceNotFound", "Message": "Requested resource not found"}
    }
    assert responses[2]["Error"]["Code"] == "ValidationError"
    assert responses[3]["Item"] == {"Plays": n(1)}


def test_a_read_of_a_batch_goes_by_the_key_of_the_table(music: Engine) -> None:
    index = {"IndexName": "ByPlays", "KeySchema": key_schema("Plays"), "Projection": ALL}
    add_index(music, "Music", index, Plays="N")
    for text in (
        "SELECT * FROM Music",
        "SELECT * FROM Music WHERE Plays = 1",
        "SELECT * FROM Music.ByPlays WHERE Plays = 1",
        f"SELECT * FROM Music {song(1)} AND Plays = 1",
    ):
        (response,) = batch(music, text)["Responses"]
        assert response["Error"] == {"Code": "ValidationError", "Message": KEY_WANTED}


def test_a_key_in_a_list_of_one_is_a_key(music: Engine) -> None:
    """(Seen on AWS: https://github.com/floci-io/floci/pull/3798)"""
    text = "SELECT Plays FROM Music WHERE Artist = 'Acme Band' AND SongTitle IN ['Song 1']"
    assert batch(music, text)["Responses"] == [{"TableName": "Music", "Item": {"Plays": n(1)}}]


def test_the_table_is_named_where_its_item_was_reached(music: Engine) -> None:
    """(Seen on AWS: https://github.com/floci-io/floci/pull/3798)"""
    responses = batch(
        music,
        "UPDATE Music SET a = 1 WHERE Artist = 'x'",
        "UPDATE Music SET a = 1 WHERE Artist = 'x' AND SongTitle = 'y'",
        "UPDATE Music SET a = 1 WHERE Artist = 1 AND SongTitle = 'y'",
        f"UPDATE Music SET a = nothing {song(1)}",
        "INSERT INTO Music VALUE {'Artist': 'x'}",
        "INSERT INTO Music VALUE {'Artist': 'Acme Band', 'SongTitle': 'Song 1'}",
        f"UPDATE Nope SET a = 1 {song(1)}",
    )["Responses"]
    assert [(each["Error"]["Code"], "TableName" in each) for each in responses] == [
        ("ValidationError", False),
        ("ConditionalCheckFailed", True),
        ("ValidationError", False),
        ("ValidationError", False),
        ("ValidationError", False),
        ("DuplicateItem", True),
        ("ResourceNotFound", False),
    ]


def test_writes_are_done_or_say_why_not(music: Engine) -> None:
    insert = {
        "Statement": "INSERT INTO Music VALUE {'Artist':?,'SongTitle':?}",
        "Parameters": [s("Acme Band"), s("Best Song")],
    }
    answer = batch(
        music,
        insert,
        insert,
        f"UPDATE Music SET AwardsWon=1, AwardDetail={{'Grammys':[2020, 2018]}} {song(0)}",
        {
            "Statement": f"UPDATE Music SET Plays = 0 {song(1)} AND Plays = 7",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        },
        f"DELETE FROM Music {song(2)} RETURNING ALL OLD *",
        f"DELETE FROM Music {song(2)}",
        f"EXISTS(SELECT * FROM Music {song(0)})",
        "oops",
        ReturnConsumedCapacity="INDEXES",
    )
    old = {"Artist": s("Acme Band"), "SongTitle": s("Song 1"), "Plays": n(1)}
    deleted = {"Artist": s("Acme Band"), "SongTitle": s("Song 2"), "Plays": n(2)}
    first, second, third, fourth, fifth, sixth, seventh, eighth = answer["Responses"]
    assert first == third == sixth == {"TableName": "Music"}
    assert second == {
        "TableName": "Music",
        "Error": {"Code": "DuplicateItem", "Message": "Duplicate primary key exists in table"},
    }
    assert fourth == {
        "TableName": "Music",
        "Error": {
            "Code": "ConditionalCheckFailed",
            "Message": "The conditional request failed",
            "Item": old,
        },
    }
    assert fifth == {"TableName": "Music", "Item": deleted}
    assert seventh["Error"]["Code"] == eighth["Error"]["Code"] == "ValidationError"
    assert answer["ConsumedCapacity"] == [
        {"TableName": "Music", "CapacityUnits": 4.0, "Table": {"CapacityUnits": 4.0}}
    ]
    titles = {item["SongTitle"]["S"] for item in call(music, "Scan", TableName="Music")["Items"]}
    assert titles == {"Best Song", "Song 0", "Song 1"}


def test_capacity_is_told_by_table(music: Engine) -> None:
    make_table(music, {"p": "S"}, name="Other", keys=("p",))
    used = batch(
        music,
        "INSERT INTO Other VALUE {'p': 'a'}",
        "INSERT INTO Music VALUE {'Artist': 'a', 'SongTitle': 'b'}",
        "INSERT INTO Other VALUE {'p': 'b'}",
        ReturnConsumedCapacity="TOTAL",
    )["ConsumedCapacity"]
    assert used == [
        {"TableName": "Other", "CapacityUnits": 2.0},
        {"TableName": "Music", "CapacityUnits": 1.0},
    ]


def test_reads_and_writes_do_not_mix(music: Engine) -> None:
    statements = [f"SELECT * FROM Music {song(0)}", f"DELETE FROM Music {song(0)}"]
    requests = [{"Statement": each} for each in statements]
    assert "either read statements or write statements" in refusal_of(
        music, "BatchExecuteStatement", Statements=requests
    )
    assert call(music, "Scan", TableName="Music")["Count"] == 3


def test_a_batch_has_25_statements_at_most(music: Engine) -> None:
    requests = [{"Statement": f"SELECT * FROM Music {song(0)}"}] * 26
    assert "less than or equal to 25" in refusal_of(
        music, "BatchExecuteStatement", Statements=requests
    )
    assert len(batch(music, *requests[:25])["Responses"]) == 25


def test_a_throttled_statement_spoils_no_other(music: Engine) -> None:
    music.faults.throttle(next=1)
    first, second = batch(
        music, f"SELECT Plays FROM Music {song(0)}", f"SELECT Plays FROM Music {song(1)}"
    )["Responses"]
    assert first["Error"]["Code"] == "ProvisionedThroughputExceeded"
    assert second["Item"] == {"Plays": n(1)}
    music.faults.throttle(next=1)
    first, second = batch(
        music, f"UPDATE Music SET a = 1 {song(0)}", f"UPDATE Music SET a = 1 {song(1)}"
    )["Responses"]
    assert first["Error"]["Code"] == "ProvisionedThroughputExceeded"
    assert second == {"TableName": "Music"}


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM Music WHERE Artist = 'Acme Band' AND SongTitle = ?",
        "DELETE FROM Music WHERE Artist = 'Acme Band' AND SongTitle = ?",
    ],
)
def test_what_no_json_can_hold_is_refused_with_its_batch(music: Engine, text: str) -> None:
    """BatchStatementError has no code for it.

    https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchStatementError.html
    """
    half_of_a_pair = {"Statement": text, "Parameters": [s("\ud800")]}
    with pytest.raises(SerializationException):
        batch(music, half_of_a_pair)
