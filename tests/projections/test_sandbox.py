"""The SQL of others reads the lake and nothing else, writes nothing, and ends in time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bigtime.engine import Engine
from bigtime.projections.lake import FolderPlace, LakeFault, Limits, QueryFailed, run_query
from bigtime.testing import Clock
from tests.projections.conftest import LAKES, Scene

SHORT = Limits(seconds=120, memory_megabytes=256)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> FolderPlace:
    """A lake with three lines."""
    path = tmp_path_factory.mktemp("sandbox")
    clock = Clock()
    place = FolderPlace(path / "lake")
    with Engine.memory(clock=clock.seconds) as engine:
        scene = Scene(path, engine, clock, place)
        scene.shop("alex", "LAMP", "TEA", "SOAP")
        with scene.writer() as writer:
            writer.drain()
            writer.maintain()
    return place


def files(place: FolderPlace) -> dict[str, int]:
    return place.sizes("")


REFUSED = {
    "copy": "COPY cart_lines TO '{lake}/out.csv'",
    "copy in a CTE": "WITH x AS (COPY (SELECT 1) TO '{lake}/out.csv') SELECT 1",
    "insert in a CTE": "WITH x AS (INSERT INTO cart_lines VALUES (1) RETURNING 1) SELECT 1",
    "read_csv": "SELECT * FROM read_csv('/etc/passwd')",
    "read_text": "SELECT * FROM read_text('/etc/passwd')",
    "read_blob in a subquery": "SELECT (SELECT content FROM read_blob('/etc/passwd'))",
    "read_parquet of the lake": "SELECT * FROM read_parquet('{lake}/**/*.parquet')",
    "a file as a table": "FROM '/etc/passwd'",
    "a file of the lake as a table": "FROM '{lake}/CartTable/_manifest.json'",
    "glob": "SELECT * FROM glob('/*')",
    "attach": "ATTACH '{lake}/x.db' AS x",
    "install": "INSTALL httpfs",
    "load": "LOAD json",
    "set": "SET memory_limit='100GB'",
    "pragma": "PRAGMA enable_external_access",
    "getenv": "SELECT getenv('HOME')",
    "settings": "SELECT * FROM duckdb_settings()",
    "current_setting": "SELECT current_setting('temp_directory')",
    "query()": "SELECT * FROM query('SELECT 1')",
    "query_table()": "SELECT * FROM query_table('cart_lines')",
    "two statements": "SELECT 1; DROP VIEW cart_lines",
    "two selects": "SELECT 1; SELECT 2",
    "create": "CREATE TABLE x AS SELECT 1",
    "export": "EXPORT DATABASE '{lake}/x'",
    "catalogue": "SELECT * FROM information_schema.tables",
    "another catalogue": "SELECT * FROM system.main.duckdb_tables",
    "prepared": "EXECUTE x",
}


@pytest.mark.parametrize("attack", REFUSED)
def test_what_is_no_select_over_the_lake_is_refused(place: FolderPlace, attack: str) -> None:
    before = files(place)
    with pytest.raises(QueryFailed) as failed:
        run_query(place, LAKES, REFUSED[attack].format(lake=place.folder), SHORT)
    assert "\n" not in str(failed.value) and "root:" not in str(failed.value)
    assert "takes" not in str(failed.value)  # refused, and not given up
    assert files(place) == before


HEAVY = {
    "one large text": "SELECT length(repeat('x', 4000000000::BIGINT))",
    "a large answer": "SELECT repeat('x', 400000000::BIGINT)",
    "a large list": "SELECT max(x) FROM (SELECT list(range(300000000)) AS x)",
    "endless recursion": "WITH RECURSIVE r AS (SELECT 1 a UNION ALL SELECT a + 1 FROM r)"
    " SELECT max(a) FROM r",
    "a large product": "SELECT count(*) FROM range(1000000000) t(i), range(100000) u(j)"
    " WHERE (i * j) % 7 = 3",
}


@pytest.mark.proof
@pytest.mark.parametrize("attack", HEAVY)
def test_what_takes_too_much_ends(place: FolderPlace, attack: str) -> None:
    with pytest.raises(QueryFailed) as failed:
        run_query(place, LAKES, HEAVY[attack], Limits(seconds=6, memory_megabytes=256))
    assert "\n" not in str(failed.value)


def test_time_is_limited(place: FolderPlace) -> None:
    with pytest.raises(QueryFailed, match="longer than 2 seconds"):
        run_query(place, LAKES, HEAVY["a large product"], Limits(seconds=2))


CONFINED = """
import duckdb, sys
from pathlib import Path
from bigtime.confinement import confine_to, limit_resources
from bigtime.projections.lake.sandbox import READ_BY_DUCKDB
lake = Path(sys.argv[1])
limit_resources(3 * 2**30, 20)
print(confine_to(lake, *READ_BY_DUCKDB))
connection = duckdb.connect(":memory:")
for sql in (f"SELECT count(*) FROM read_parquet('{lake}/*/current/*/*.parquet')",
            "SELECT * FROM read_text('/etc/passwd')",
            f"COPY (SELECT 1) TO '{lake}/out.csv' (USE_TMP_FILE false)",
            f"COPY (SELECT 1) TO '{lake}/CartTable/_manifest.json'"
            " (FORMAT csv, USE_TMP_FILE false)"):
    try:
        print(connection.execute(sql).fetchall())
    except Exception as error:
        print("refused", type(error).__name__)
"""


def test_the_kernel_confines_even_duckdb_without_its_settings(place: FolderPlace) -> None:
    before = files(place)
    done = subprocess.run(
        [sys.executable, "-c", CONFINED, str(place.folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    is_confined, *answers = done.stdout.splitlines()
    if is_confined != "True":
        pytest.skip("this kernel has no Landlock")
    assert answers[0] == "[(3,)]"
    assert [answer.partition(" ")[0] for answer in answers[1:]] == ["refused"] * 3
    assert files(place) == before


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELEC 1", 'Parser Error: syntax error at or near "SELEC"'),
        ("SELECT nothing FROM cart_lines", 'Binder Error: Referenced column "nothing" not found'),
        ("SELECT * FROM cart_line", "Catalog Error: Table with name cart_line does not exist!"),
        ("SELECT 1 / 'x'", "Conversion Error"),
    ],
)
def test_errors_are_those_of_duckdb_in_one_line(place: FolderPlace, sql: str, said: str) -> None:
    with pytest.raises(QueryFailed) as failed:
        run_query(place, LAKES, sql, SHORT)
    assert str(failed.value).startswith(said) and "\n" not in str(failed.value)


def test_values_of_every_kind_come_back(place: FolderPlace) -> None:
    sql = """SELECT 1.50::DECIMAL(9,2), DATE '2026-01-02', TIMESTAMPTZ '2026-01-02 03:04:05+00',
      [1, 2], {'a': 'b'}, 'x'::BLOB, 2::HUGEINT ** 70, NULL, true, INTERVAL 1 DAY"""
    (row,) = run_query(place, LAKES, sql, SHORT).rows
    assert row[:2] == ["1.50", "2026-01-02"] and row[2].startswith("2026-01-02 03:04:05")
    assert row[3:6] == [[1, 2], {"a": "b"}, "78"] and row[7:9] == [None, True]


def test_a_result_is_cut_and_says_so(place: FolderPlace) -> None:
    found = run_query(place, LAKES, "SELECT * FROM range(500)", Limits(most_rows=100))
    assert len(found.rows) == 100 and found.is_cut


def test_without_a_lake_a_sentence_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(LakeFault, match="bigtime analytics rebuild"):
        run_query(FolderPlace(tmp_path / "none"), LAKES, "SELECT 1")
