"""ExecuteTransaction: all statements, or none."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.wire import (
    IdempotentParameterMismatchException,
    Response,
    TransactionCanceledException,
)
from tests.engine.calls import call, index, key_schema, make_table, n, refusal_of, s
from tests.engine.partiql.statements import make_music, run

AWARDS_MISSING = (
    "EXISTS(SELECT * FROM \"Music\" where Artist='No One You Know' and SongTitle='Call Me Today'"
    " and Awards is MISSING)"
)
INSERT: Any = {
    "Statement": "INSERT INTO Music value {'Artist':?,'SongTitle':?}",
    "Parameters": [s("Acme Band"), s("Best Song")],
}
UPDATE = (
    "UPDATE \"Music\" SET AwardsWon=1 SET AwardDetail={'Grammys':[2020, 2018]}"
    " where Artist='Acme Band' and SongTitle='PartiQL Rocks'"
)


@pytest.fixture
def music(engine: Engine) -> Engine:
    make_music(engine)
    for artist, title in (("No One You Know", "Call Me Today"), ("Acme Band", "PartiQL Rocks")):
        put(engine, artist, title)
    return engine


def put(engine: Engine, artist: str, title: str, **attributes: Any) -> None:
    item = {"Artist": s(artist), "SongTitle": s(title), **attributes}
    call(engine, "PutItem", TableName="Music", Item=item)


def transact(engine: Engine, *statements: str | dict[str, Any], **settings: Any) -> Response:
    requests = [{"Statement": each} if isinstance(each, str) else each for each in statements]
    return call(engine, "ExecuteTransaction", TransactStatements=requests, **settings)


def reasons(engine: Engine, *statements: str | dict[str, Any]) -> list[Any]:
    before = call(engine, "Scan", TableName="Music")
    with pytest.raises(TransactionCanceledException) as caught:
        transact(engine, *statements)
    assert call(engine, "Scan", TableName="Music") == before
    return caught.value.reasons


@pytest.mark.parametrize(
    "text",
    [
        f"{UPDATE} RETURNING ALL NEW *",
        "DELETE FROM Music WHERE Artist = 'a' AND SongTitle = 'b' RETURNING ALL OLD *",
    ],
)
def test_a_transaction_of_writes_returns_nothing(music: Engine, text: str) -> None:
    statements = [INSERT, {"Statement": text}]
    before = call(music, "Scan", TableName="Music")
    assert "RETURNING" in refusal_of(music, "ExecuteTransaction", TransactStatements=statements)
    assert call(music, "Scan", TableName="Music") == before


def test_the_example_of_the_page(music: Engine) -> None:
    answer = transact(music, AWARDS_MISSING, INSERT, UPDATE, ReturnConsumedCapacity="TOTAL")
    assert answer["Responses"] == [{}, {}, {}]
    assert answer["ConsumedCapacity"] == [
        {"TableName": "Music", "CapacityUnits": 6.0, "WriteCapacityUnits": 6.0}
    ]
    found = transact(
        music,
        "SELECT AwardsWon FROM Music WHERE Artist='Acme Band' AND SongTitle='PartiQL Rocks'",
        "SELECT * FROM Music WHERE Artist='Acme Band' AND SongTitle='Best Song'",
        "SELECT * FROM Music WHERE Artist='Acme Band' AND SongTitle='None'",
        ReturnConsumedCapacity="TOTAL",
    )
    assert found == {
        "Responses": [
            {"Item": {"AwardsWon": n(1)}},
            {"Item": {"Artist": s("Acme Band"), "SongTitle": s("Best Song")}},
            {},
        ],
        "ConsumedCapacity": [
            {"TableName": "Music", "CapacityUnits": 6.0, "ReadCapacityUnits": 6.0}
        ],
    }


def test_each_failure_has_its_reason(music: Engine) -> None:
    put(music, "No One You Know", "Call Me Today", Awards=n(1))
    put(music, "Acme Band", "Best Song")
    failed = reasons(music, AWARDS_MISSING, INSERT, UPDATE)
    assert [reason["Code"] for reason in failed] == [
        "ConditionalCheckFailed",
        "DuplicateItem",
        "None",
    ]
    assert failed[1]["Message"] == "Duplicate primary key exists in table"


def test_exists_and_update_want_the_item(music: Engine) -> None:
    absent = "Artist='Nobody' AND SongTitle='None'"
    for text in (
        f"EXISTS(SELECT * FROM Music WHERE {absent} AND Awards IS MISSING)",
        f"UPDATE Music SET a = 1 WHERE {absent}",
    ):
        assert [reason["Code"] for reason in reasons(music, INSERT, text)] == [
            "None",
            "ConditionalCheckFailed",
        ]
    transact(music, INSERT, f"DELETE FROM Music WHERE {absent} AND Awards = 1")


def test_a_failed_condition_shows_the_item_if_asked(music: Engine) -> None:
    check = {
        "Statement": UPDATE + " AND AwardsWon > 5",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    _, failed = reasons(music, INSERT, check)
    assert failed["Item"] == {"Artist": s("Acme Band"), "SongTitle": s("PartiQL Rocks")}


def test_an_invalid_statement_cancels(music: Engine) -> None:
    _, failed = reasons(music, INSERT, UPDATE.replace("AwardsWon=1", "AwardsWon=Nothing"))
    assert failed["Code"] == "ValidationError"


def test_a_token_does_it_once(music: Engine) -> None:
    count = UPDATE.replace("AwardsWon=1", "Plays=?")
    first = {"Statement": count, "Parameters": [n(1)]}
    transact(music, INSERT, first, ClientRequestToken="once")
    put(music, "Acme Band", "PartiQL Rocks", Plays=n(5))
    replay = transact(music, INSERT, first, ClientRequestToken="once")
    assert replay["Responses"] == [{}, {}]
    key = {"Artist": s("Acme Band"), "SongTitle": s("PartiQL Rocks")}
    assert call(music, "GetItem", TableName="Music", Key=key)["Item"]["Plays"] == n(5)
    with pytest.raises(IdempotentParameterMismatchException):
        transact(
            music, INSERT, {"Statement": count, "Parameters": [n(2)]}, ClientRequestToken="once"
        )


def test_a_token_is_of_its_operation(music: Engine) -> None:
    """(Seen on AWS: https://github.com/nubo-db/dynoxide/pull/125)"""
    song: Any = {"Artist": s("The Acme Band"), "SongTitle": s("Once")}
    text = "INSERT INTO Music VALUE {'Artist': 'The Acme Band', 'SongTitle': 'Twice'}"
    puts = [{"Put": {"TableName": "Music", "Item": song}}]
    call(music, "TransactWriteItems", TransactItems=puts, ClientRequestToken="t")
    for _ in range(2):
        statements = [{"Statement": text}]
        call(music, "ExecuteTransaction", TransactStatements=statements, ClientRequestToken="t")
    call(music, "TransactWriteItems", TransactItems=puts, ClientRequestToken="t")
    found = run(music, "SELECT * FROM Music WHERE Artist = 'The Acme Band'")["Items"]
    assert [each["SongTitle"] for each in found] == [s("Once"), s("Twice")]


def test_what_is_wrong_with_the_request(music: Engine) -> None:
    select = "SELECT * FROM Music WHERE Artist='Acme Band' AND SongTitle='PartiQL Rocks'"
    for statements, expected in (
        ([select, UPDATE], "both read and write operations"),
        ([select, AWARDS_MISSING], "both read and write operations"),
        ([UPDATE, UPDATE], "cannot include multiple operations on one item"),
        ([select, select], "cannot include multiple operations on one item"),
        ([UPDATE, "oops"], "Statement wasn't well formed"),
        ([select] * 101, "less than or equal to 100"),
    ):
        requests = [{"Statement": each} for each in statements]
        assert expected in refusal_of(music, "ExecuteTransaction", TransactStatements=requests)


def test_a_statement_that_no_transaction_takes_is_named_by_its_place(engine: Engine) -> None:
    make_table(
        engine,
        {"p": "N", "a": "S"},
        name="Many",
        keys=("p",),
        globally=(index("by_a", key_schema("a"), "ALL"),),
    )
    read = "SELECT * FROM Many WHERE p = 1"
    write = "INSERT INTO Many VALUE {'p': 1}"
    for statements, expected in (
        (
            [read, "SELECT * FROM Many.by_a WHERE a = 'x'"],
            "Validation failed in TransactStatements[1]: "
            "Reads on indices are not supported within transactions.",
        ),
        (
            [write, "UPDATE Many SET b = 1 WHERE p = 2 RETURNING ALL NEW *"],
            "Validation failed in TransactStatements[1]: "
            "RETURNING clause is not supported in ExecuteTransaction.",
        ),
    ):
        requests = [{"Statement": each} for each in statements]
        assert refusal_of(engine, "ExecuteTransaction", TransactStatements=requests) == expected


KEY_MISMATCH = {
    "Code": "ValidationError",
    "Message": "The provided key element does not match the schema",
}
NOT_FOUND = {"Code": "ResourceNotFound", "Message": "Requested resource not found"}
NOTHING = {"Code": "None"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("oops", "Statement wasn't well formed, can't be processed: Expected data manipulation"),
        (
            "DELETE FROM Music WHERE Artist = ? AND SongTitle = 'x'",
            "Number of parameters in request and statement don't match.",
        ),
        (
            "UPDATE Music SET a = set_add(a, 1) WHERE Artist = 'x' AND SongTitle = 'y'",
            "The second argument to SET_ADD must be a value with type SET at 1:30:1",
        ),
        (
            "UPDATE Music SET a = 'x' + 1 WHERE Artist = 'x' AND SongTitle = 'y'",
            "Incorrect operand type for operator or function; "
            "operator or function: +, operand type: S",
        ),
        (
            "DELETE FROM Music WHERE Artist = 'x' AND SongTitle = 'y' AND a < TRUE",
            "Incorrect operand type for operator or function; "
            "operator or function: <, operand type: BOOL",
        ),
        (
            "EXISTS(SELECT * FROM Music WHERE Artist = 'Acme Band' AND SongTitle = 'Rocks')",
            "EXISTS() must contain a single item read with additional condition",
        ),
        (
            "EXISTS(SELECT * FROM Music WHERE Artist = 'Acme Band' AND Plays = 1)",
            "EXISTS() must contain a single item read with additional condition",
        ),
        (
            "EXISTS(SELECT * FROM Music WHERE Artist IN ['a'] AND SongTitle = 'b' AND Plays = 1)",
            "EXISTS() must contain a single item read with additional condition",
        ),
        (
            "EXISTS(SELECT * FROM Music)",
            "EXISTS() must contain a single item read with additional condition",
        ),
    ],
)
def test_a_statement_that_no_write_transaction_takes(
    music: Engine, text: str, expected: str
) -> None:
    """(Seen on AWS: https://github.com/floci-io/floci/pull/3798)"""
    requests = [INSERT, {"Statement": text}]
    assert refusal_of(music, "ExecuteTransaction", TransactStatements=requests) == (
        f"Validation failed in TransactStatements[1]: {expected}"
    )


@pytest.mark.parametrize(
    "where",
    [
        "Artist = 'Acme Band'",
        "Artist = 'Acme Band' AND SongTitle > 'a'",
        "Artist = 'Acme Band' AND SongTitle = 'PartiQL Rocks' AND AwardsWon IS MISSING",
        "Artist IN ['Acme Band', 'x'] AND SongTitle = 'PartiQL Rocks'",
    ],
)
def test_a_transaction_reads_items_by_their_key_alone(music: Engine, where: str) -> None:
    """(Seen on AWS: https://github.com/floci-io/floci/pull/3798)"""
    requests = [{"Statement": f"SELECT * FROM Music WHERE {where}"}]
    assert refusal_of(music, "ExecuteTransaction", TransactStatements=requests) == (
        "Validation failed in TransactStatements[0]: Select statements within "
        "ExecuteTransaction must specify the primary key in the where clause."
    )


def test_a_key_in_a_list_of_one_is_a_key(music: Engine) -> None:
    text = "SELECT * FROM Music WHERE Artist IN ['Acme Band'] AND SongTitle IN ('PartiQL Rocks')"
    (response,) = transact(music, text)["Responses"]
    assert response == {"Item": {"Artist": s("Acme Band"), "SongTitle": s("PartiQL Rocks")}}


def test_every_statement_with_a_wrong_key_is_reported(music: Engine) -> None:
    """TransactWriteItems reports the first alone.

    (Seen on AWS: https://github.com/floci-io/floci/pull/3674)
    """
    failed = reasons(
        music,
        "UPDATE Music SET a = 1 WHERE Artist = 'x'",
        "DELETE FROM Music WHERE Artist = 5 AND SongTitle = 'y'",
        INSERT,
        "UPDATE Music SET a = 1 WHERE Artist = 'x' AND SongTitle = 'y' AND Artist = 'z'",
        "INSERT INTO Music VALUE {'Artist': 'x'}",
        "UPDATE Nowhere SET a = 1 WHERE p = 1",
    )
    missing = "One or more parameter values were invalid: Missing the key SongTitle in the item"
    assert failed == [
        KEY_MISMATCH,
        KEY_MISMATCH,
        NOTHING,
        KEY_MISMATCH,
        {"Code": "ValidationError", "Message": missing},
        NOT_FOUND,
    ]
    failed = reasons(
        music,
        "SELECT * FROM Music WHERE Artist = 'x' AND SongTitle = 'y'",
        "SELECT * FROM Music WHERE Artist = 1 AND SongTitle = 'y'",
        "SELECT * FROM Nowhere WHERE p = 1",
        "SELECT * FROM Music WHERE Artist = 'x' AND SongTitle = 2",
    )
    assert failed == [NOTHING, KEY_MISMATCH, NOT_FOUND, KEY_MISMATCH]


def test_a_hundred_statements_commit_together(engine: Engine) -> None:
    make_table(engine, {"p": "N"}, name="Many", keys=("p",))
    statements = [f"INSERT INTO Many VALUE {{'p': {number}}}" for number in range(100)]
    transact(engine, *statements)
    assert call(engine, "Scan", TableName="Many")["Count"] == 100


def test_more_than_4_mb_is_refused(engine: Engine) -> None:
    make_table(engine, {"p": "N"}, name="Many", keys=("p",))
    requests = [
        {
            "Statement": "INSERT INTO Many VALUE {'p': ?, 'v': ?}",
            "Parameters": [n(number), s("x" * 390_000)],
        }
        for number in range(11)
    ]
    assert "cannot exceed 4 MB" in refusal_of(
        engine, "ExecuteTransaction", TransactStatements=requests
    )


def test_conflicts_meet_transactions_of_statements(music: Engine) -> None:
    music.faults.conflict(next=1)
    (failed,) = reasons(music, UPDATE)
    assert failed["Code"] == "TransactionConflict"
