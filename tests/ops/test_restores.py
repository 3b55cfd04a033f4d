"""A system brought back: from a backup, and to a moment, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from bigtime import model as bt
from bigtime import ops
from bigtime.advisor import diff
from bigtime.engine import Engine
from bigtime.ops import BackupFault, FolderPlace, Restore, RestoreFault
from bigtime.ops.table_settings import read_settings
from bigtime.store import RenamingTransport, Store, TableNames, consume
from bigtime.systems import portal
from bigtime.testing import Clock
from bigtime.wire import Request, Response, Steps
from tests.ops.shop import START, SYSTEM, Book, Library


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    library = Library(tmp_path / "library.db")
    yield library
    library.close()


def yes(name: str) -> bool:
    return True


def restore_of(library: Library, names: TableNames | None = None, **options: str) -> Restore:
    return Restore(library.store, SYSTEM, names or TableNames({}), **options)


def pages(restore: Restore, pair: ops.Pair) -> list[ops.Difference]:
    found: list[ops.Difference] = []
    restore.compare(pair, found.append)
    return found


# From a backup


@pytest.mark.parametrize("kind", ["engine", "requests"])
def test_a_backup_is_restored_into_an_empty_store(
    library: Library, tmp_path: Path, kind: str
) -> None:
    library.add(*map(str, range(60)))
    place = FolderPlace(tmp_path / "vault")
    made = ops.create_backup(library.source(), place, moment=START)
    with Engine.memory(housekeeping=False) as engine:
        store = Store(engine, sleep=lambda _: engine.tidy())
        given = engine if kind == "engine" else None
        done = ops.restore_backup(place, made.name, store, engine=given)
        assert [(table.target, table.items) for table in done] == [("Books", 60), ("Loans", 60)]
        for table in ("Books", "Loans"):
            restored = engine(Request("Scan", {"TableName": table}))["Items"]
            original = library.engine(Request("Scan", {"TableName": table}))["Items"]
            assert sorted(map(str, restored)) == sorted(map(str, original))
        described = engine(Request("DescribeTable", {"TableName": "Loans"}))["Table"]
        assert described["StreamSpecification"]["StreamViewType"] == "NEW_AND_OLD_IMAGES"
        assert (
            "GlobalSecondaryIndexes"
            in engine(Request("DescribeTable", {"TableName": "Books"}))["Table"]
        )
        arn = described["TableArn"]
        assert engine(Request("ListTagsOfResource", {"ResourceArn": arn})).get("Tags", []) == []
        with pytest.raises(BackupFault, match="There is a table Books already, with about 60"):
            ops.restore_backup(place, made.name, store, engine=given)


class Interrupted(Exception):
    pass


class BreakingOff:
    """A transport that raises instead of carrying out the request of that number."""

    def __init__(self, engine: Engine, number: int) -> None:
        self.engine = engine
        self.left = number

    def __call__(self, request: Request) -> Response:
        self.left -= 1
        if self.left == 0:
            raise Interrupted
        return self.engine(request)


def tags_of(engine: Engine, table: str) -> dict[str, str]:
    arn = engine(Request("DescribeTable", {"TableName": table}))["Table"]["TableArn"]
    tags = engine(Request("ListTagsOfResource", {"ResourceArn": arn}))["Tags"]
    return {tag["Key"]: tag["Value"] for tag in tags}


def find_unmarked(engine: Engine, tables: Sequence[str]) -> list[str]:
    """The tables that are there, are filled, and do not say what they were restored from."""
    found: list[str] = []
    for name in engine(Request("ListTables", {}))["TableNames"]:
        table = engine(Request("DescribeTable", {"TableName": name}))["Table"]
        is_active = name in tables and table["TableStatus"] == "ACTIVE"
        if is_active and "bigtime:restored-from" not in tags_of(engine, name):
            found.append(name)
    return found


def delete_by_hand(engine: Engine, tables: Sequence[str]) -> None:
    for name in tables:
        engine(Request("DeleteTable", {"TableName": name}))


@pytest.mark.parametrize("kind", ["engine", "requests"])
def test_an_interrupted_restore_goes_on(library: Library, tmp_path: Path, kind: str) -> None:
    """Wherever it is: a table that was ready, and not marked yet, must be deleted by hand."""
    library.add(*map(str, range(60)))
    place = FolderPlace(tmp_path / "vault")
    made = ops.create_backup(library.source(), place, moment=START)
    went_on = by_hand = 0
    for number in count(1):
        with Engine.memory(housekeeping=False) as engine:
            given = engine if kind == "engine" else None
            store = Store(engine, sleep=partial(tidy, engine))
            broken = Store(BreakingOff(engine, number), sleep=partial(tidy, engine))
            try:
                ops.restore_backup(place, made.name, broken, engine=given)
                break
            except Interrupted:
                left = find_unmarked(engine, ("Books", "Loans"))
            if left:
                with pytest.raises(BackupFault, match=f"a table {left[0]} already.*by hand"):
                    ops.restore_backup(place, made.name, store, engine=given)
                delete_by_hand(engine, left)
            ops.restore_backup(place, made.name, store, engine=given)
            for table in ("Books", "Loans"):
                assert engine(Request("Scan", {"TableName": table}))["Count"] == 60
                assert tags_of(engine, table) == {}
            went_on += not left
            by_hand += bool(left)
    assert went_on > 20 and by_hand == (5 if kind == "engine" else 1)


def tidy(engine: Engine, _: float) -> None:
    engine.tidy()


def test_a_damaged_backup_is_not_restored(library: Library, tmp_path: Path) -> None:
    place = FolderPlace(tmp_path / "vault")
    made = ops.create_backup(library.source(), place, moment=START)
    place.file(made.name, "Loans.backup").write_bytes(b"bigtime backup 1\n")
    with Engine.memory() as engine:
        with pytest.raises(BackupFault, match=r"cannot be used: Loans\.backup is damaged"):
            ops.restore_backup(place, made.name, Store(engine), engine=engine)
        assert engine(Request("ListTables", {}))["TableNames"] == []


# To a moment


def test_all_tables_come_back_as_they_were_at_one_moment(library: Library, tmp_path: Path) -> None:
    library.recover()
    library.clock.advance(minutes=1)
    library.add("1", "2")
    moment = library.clock()
    library.clock.advance(minutes=1)
    library.add("3")
    library.store.run(bt.put(Book(id="1", author="B")))
    library.store.run(bt.delete(Book.key(id="2")))
    restore = restore_of(library)
    pairs = restore.restore(moment)
    assert [pair.target for pair in pairs] == ["Books_restored", "Loans_restored"]
    assert library.ids("Books_restored") == library.ids("Loans_restored") == ["1", "2"]
    assert restore.restore(moment) == pairs  # again: nothing is left to do

    books = pages(restore, pairs[0])
    assert sorted((each.kind, each.key["PK"]["S"]) for each in books) == [
        ("changed", "BOOK#1"),
        ("only in the source", "BOOK#3"),
        ("only in the target", "BOOK#2"),
    ]
    assert {each.attributes for each in books} == {(), ("author",)}

    path = tmp_path / "tables.json"
    done = restore.cut_over(path)
    assert "Loans_restored has a stream of NEW_AND_OLD_IMAGES" in done
    assert "Loans_restored has time to live by ends_at" in done
    assert "Books_restored has point-in-time recovery of 35 days" in done
    names = TableNames.read(str(path))
    after = restore_of(library, names)
    assert after.cut_over(path) == []  # again
    assert after.finish(yes) == ["Books", "Loans"]
    assert after.finish(yes) == []  # again
    tables = library.engine(Request("ListTables", {}))["TableNames"]
    assert tables == ["Books_restored", "Codes", "Loans_restored"]


def test_a_consumer_goes_on_after_the_cut_over(library: Library, tmp_path: Path) -> None:
    library.recover()
    path = tmp_path / "tables.json"
    path.write_text("{}")
    names = TableNames.read(str(path))
    store = Store(
        RenamingTransport(library.engine, names),
        clock=library.clock,
        sleep=lambda _: library.engine.tidy(),
    )
    seen: list[str] = []

    def handle(record: Response) -> Steps[None]:
        seen.append(record["dynamodb"]["Keys"]["PK"]["S"])
        return
        yield

    consumer = consume(store, "Loans", handle, name="test")
    library.add("1")
    consumer.run_once()
    library.clock.advance(minutes=5)
    restore = restore_of(library)
    restore.restore()
    restore.cut_over(path)
    names._look_at = 0.0  # else it is looked at once a second
    library.clock.advance(minutes=5)
    store.run(bt.put(Book(id="2", author="A")))
    store.send(
        Request("PutItem", {"TableName": "Loans", "Item": {"PK": {"S": "2"}, "SK": {"S": "2"}}})
    )
    consumer.run_once()
    assert seen == ["BOOK#1", "2"]
    assert library.ids("Books_restored") == ["1", "2"]
    assert library.ids() == ["1"]


def test_wrong_times_and_unfinished_restores_get_a_sentence(
    library: Library, tmp_path: Path
) -> None:
    restore = restore_of(library)
    with pytest.raises(RestoreFault, match="Books has no point-in-time recovery"):
        restore.restore()
    library.recover()
    library.clock.advance(minutes=1)
    for wrong in (START - timedelta(days=1), library.clock() + timedelta(seconds=1)):
        with pytest.raises(RestoreFault, match="to any moment from 2026-01-01T00:00:00"):
            restore.restore(wrong)
    with pytest.raises(RestoreFault, match="There is no restored table Books_restored yet"):
        restore.cut_over(tmp_path / "tables.json")
    moment = library.clock()
    params = {"SourceTableName": "Books", "TargetTableName": "Books_restored"}
    at = {"RestoreDateTime": moment.timestamp()}
    library.engine(Request("RestoreTableToPointInTime", {**params, **at}))
    with pytest.raises(RestoreFault, match="Books_restored is still being restored"):
        restore.cut_over(tmp_path / "tables.json")
    library.clock.advance(minutes=1)
    with pytest.raises(RestoreFault, match="Books_restored is there already, as Books was at"):
        restore.restore(library.clock())
    restore.restore(moment)
    with pytest.raises(RestoreFault, match="Books, Loans still are the tables of before"):
        restore.finish(yes)
    assert restore.abandon(lambda name: False) == []
    assert restore.abandon(yes) == ["Books_restored", "Loans_restored"]
    assert not (tmp_path / "tables.json").exists()


def test_some_tables_are_restored_and_later_the_others(library: Library, tmp_path: Path) -> None:
    library.recover()
    library.clock.advance(minutes=1)
    library.add("1")
    moment = library.clock()
    library.clock.advance(minutes=1)
    library.add("2")
    restore = restore_of(library, suffix="_2")
    with pytest.raises(RestoreFault, match="no saved table 'Codes'; it has Books, Loans"):
        restore.restore(moment, ["Loans", "Codes"])
    assert restore.restored_pairs() == []
    assert [pair.name for pair in restore.restore(moment, ["Loans"])] == ["Loans"]
    assert restore.states()[0] == "Books: is Books, and not restored"
    again = r"Books_2 yet: tables belong together, and `bigtime restore library --suffix _2` makes"
    with pytest.raises(RestoreFault, match=again):
        restore.cut_over(tmp_path / "tables.json")
    with pytest.raises(RestoreFault, match="Loans_2 is there already"):
        restore.restore(library.clock(), ["Books"])
    assert [pair.name for pair in restore.restore()] == ["Books", "Loans"]
    assert library.ids("Books_2") == ["1"]
    restore.cut_over(tmp_path / "tables.json")


def test_a_table_of_that_name_is_not_written_over(library: Library) -> None:
    library.recover()
    keys = [{"AttributeName": "PK", "KeyType": "HASH"}]
    attributes = [{"AttributeName": "PK", "AttributeType": "S"}]
    library.engine(
        Request(
            "CreateTable",
            {
                "TableName": "Loans_restored",
                "KeySchema": keys,
                "AttributeDefinitions": attributes,
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
    )
    restore = restore_of(library)
    with pytest.raises(RestoreFault, match=r"Loans_restored that does not say .* by hand"):
        restore.restore()
    assert "Loans_restored that does not say" in restore.states()[1]
    assert "Books_restored" not in library.engine(Request("ListTables", {}))["TableNames"]
    assert restore_of(library, suffix="_2").restore()[0].target == "Books_2"


def test_a_table_restored_from_another_is_not_written_over(library: Library) -> None:
    library.recover()
    params = {"SourceTableName": "Codes", "TargetTableName": "Loans_restored"}
    latest = {"UseLatestRestorableTime": True}
    library.engine(Request("RestoreTableToPointInTime", {**params, **latest}))
    with pytest.raises(RestoreFault, match="Loans_restored that was not restored from Loans"):
        restore_of(library).restore()


def test_a_restored_table_keeps_the_moment_to_the_microsecond(library: Library) -> None:
    """Its RestoreSummary is gone once it is ACTIVE."""
    library.recover()
    library.clock.advance(minutes=1)
    library.clock.stop(library.clock() + timedelta(microseconds=123_457))
    moment = library.clock()
    library.clock.advance(minutes=1)
    restore = restore_of(library)
    pairs = restore.restore(moment)
    assert [restore.moment_of(pair) for pair in pairs] == [moment, moment]
    table = library.engine(Request("DescribeTable", {"TableName": "Books_restored"}))["Table"]
    assert "RestoreSummary" not in table
    assert tags_of(library.engine, "Books_restored") == {
        "bigtime:restored-from": "Books",
        "bigtime:restored-at": "2026-01-01T00:01:00.123457+00:00",
    }


def test_a_restore_to_a_moment_goes_on_wherever_it_was_stopped(library: Library) -> None:
    """Only a table that was ready, and not marked yet, must be deleted by hand."""
    library.recover()
    library.clock.advance(minutes=1)
    library.add("1")
    moment = library.clock()
    library.clock.advance(minutes=1)
    library.add("2")
    went_on = by_hand = 0
    for number in count(1):
        suffix = f"_{number}"
        targets = [f"Books{suffix}", f"Loans{suffix}"]
        transport = BreakingOff(library.engine, number)
        broken = Store(transport, clock=library.clock, sleep=partial(tidy, library.engine))
        try:
            Restore(broken, SYSTEM, TableNames({}), suffix).restore(moment)
            break
        except Interrupted:
            left = find_unmarked(library.engine, targets)
        restore = restore_of(library, suffix=suffix)
        if left:
            with pytest.raises(RestoreFault, match=f"{left[0]} that does not say .* by hand"):
                restore.restore(moment)
            delete_by_hand(library.engine, left)
        assert [pair.target for pair in restore.restore(moment)] == targets
        assert library.ids(targets[0]) == library.ids(targets[1]) == ["1"]
        assert [restore.moment_of(pair) for pair in restore.pairs()] == [moment, moment]
        assert restore.abandon(yes) == targets
        went_on += not left
        by_hand += bool(left)
    assert (went_on, by_hand) == (10, 4)


def test_tags_that_show_late_are_waited_for(library: Library) -> None:
    """AWS: "ListTagsOfResource API will only reflect the changes after a few seconds"."""
    library.recover()
    library.clock.advance(minutes=1)
    blind = 0

    def answer(request: Request) -> Response:
        nonlocal blind
        if request.operation == "TagResource":
            blind = 5
        if request.operation == "ListTagsOfResource" and blind:
            blind -= 1
            return {"Tags": []}
        return library.engine(request)

    store = Store(answer, clock=library.clock, sleep=partial(tidy, library.engine))
    restore = Restore(store, SYSTEM, TableNames({}))
    pairs = restore.restore()
    assert restore.moment_of(pairs[0]) == library.clock()


def test_what_a_table_was_restored_from_is_no_setting_of_it(
    library: Library, tmp_path: Path
) -> None:
    library.recover()
    path = tmp_path / "tables.json"
    restore_of(library).restore()
    restore_of(library).cut_over(path)
    names = TableNames.read(str(path))
    renamed = Store(RenamingTransport(library.engine, names))
    assert [each for each in renamed.run(diff(SYSTEM)) if "bigtime" in each.sentence] == []
    assert library.store.run(read_settings("Books_restored")).tags == {}

    again = restore_of(library, names, suffix="_2")
    again.restore()
    again.cut_over(path)
    assert tags_of(library.engine, "Books_restored_2")["bigtime:restored-from"] == "Books_restored"
    last = restore_of(library, TableNames.read(str(path)), suffix="_2")
    assert last.finish(yes) == ["Books_restored", "Loans_restored"]
    assert last.finish(yes) == []


def test_a_protected_old_table_is_removed_only_by_its_name(
    library: Library, tmp_path: Path
) -> None:
    library.recover()
    protect = {"TableName": "Books", "DeletionProtectionEnabled": True}
    library.engine(Request("UpdateTable", protect))
    restore = restore_of(library)
    restore.restore()
    path = tmp_path / "tables.json"
    assert "Books_restored has deletion protection" in restore.cut_over(path)
    after = restore_of(library, TableNames.read(str(path)))
    asked: list[str] = []

    def refuse_all(name: str) -> bool:
        asked.append(name)
        return False

    assert after.finish(refuse_all) == []
    assert asked == ["Books", "Loans"]
    assert after.finish(yes) == ["Books", "Loans"]


def test_a_cut_over_gives_back_the_table_class(library: Library, tmp_path: Path) -> None:
    """AWS restores every table to the class STANDARD."""
    library.recover()
    rare = "STANDARD_INFREQUENT_ACCESS"
    library.engine(Request("UpdateTable", {"TableName": "Loans", "TableClass": rare}))
    restore = restore_of(library)
    restore.restore()
    done = restore.cut_over(tmp_path / "tables.json")
    assert f"Loans_restored has table class {rare}" in done
    assert not [each for each in done if each.startswith("Books_restored has table class")]
    loans = library.engine(Request("DescribeTable", {"TableName": "Loans_restored"}))["Table"]
    assert loans["TableClassSummary"]["TableClass"] == rare


# Single records

MONTHLY = portal.BillingCycle.MONTHLY


@pytest.fixture
def portal_store() -> Iterator[Store]:
    clock = Clock()
    clock.stop(datetime(2026, 1, 1, tzinfo=UTC))
    with Engine.memory(clock=clock.seconds) as engine:
        store = Store(engine, clock=clock)
        store.run(bt.setup(portal.SYSTEM))
        yield store


def broken(store: Store) -> list[portal.Broken]:
    found: list[portal.Broken] = []
    place: portal.Place | None = portal.Place()
    while place is not None:
        page = store.run(portal.verify_chains(place))
        found += page.broken
        place = page.next
    return found


def test_a_record_comes_back_as_an_entry_of_its_chain(portal_store: Store) -> None:
    by = "admin@example.com"
    run: Callable[..., object] = portal_store.run
    product = portal_store.run(
        portal.create_product(
            name="Site", description="A site", price=Decimal("99.99"), billing_cycle=MONTHLY, by=by
        )
    )
    run(portal.update_product(product.id, {"price": "1.00"}, by=by))
    run(portal.soft_delete_product(product.id, by=by))
    back = portal_store.run(portal.bring_back(product, by="ops@example.com", reason="drill"))
    assert (back.price, back.active) == (product.price, True)
    entries = portal_store.run(portal.audit_log(portal.Audited.PRODUCTS, product.id)).items
    assert entries[0].action == "RESTORED" and entries[0].actor == "ops@example.com"
    assert entries[0].reason == "drill"
    assert portal_store.run(portal.bring_back(product, by=by)) == back
    assert len(portal_store.run(portal.audit_log(portal.Audited.PRODUCTS, product.id)).items) == 4
    assert broken(portal_store) == []
    portal_store.send(
        Request(
            "DeleteItem",
            {
                "TableName": "products",
                "Key": {"PK": {"S": f"PRODUCT#{product.id}"}, "SK": {"S": "METADATA"}},
            },
        )
    )
    assert broken(portal_store) != []
    portal_store.run(portal.bring_back(product, by="ops@example.com"))
    assert broken(portal_store) == []
