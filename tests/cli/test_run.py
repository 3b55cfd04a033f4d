"""`bigtime patterns` and `bigtime run`: what is typed, and what is printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from bigtime.cli.systems import all_systems
from tests.cli.program import invoke, run

ROOT = Path(__file__).parents[2]
ORDERS = "tests.cli.orders:SYSTEM"

Order = dict[str, Any]


def do(store: str, pattern: str, *arguments: object) -> Result:
    return invoke("run", f"{ORDERS}.{pattern}", *arguments, store=store)


def output_of(store: str, pattern: str, *arguments: object) -> str:
    done = do(store, pattern, *arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def json_of(store: str, pattern: str, *arguments: object) -> Any:
    return json.loads(output_of(store, pattern, *arguments, "--json"))


def place(store: str, number: int, **more: Any) -> Order:
    order = {"customer": "alex", "number": number, **more}
    placed: Order = json_of(store, "place_order", "--order", json.dumps(order))
    return placed


def lines_of(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


# What there is


def test_patterns_are_listed_with_what_they_take() -> None:
    done = invoke("patterns", ORDERS)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["name", "title", "index", "parameters", "notes"]
    options = "--customer [--newest-first] [--limit] [--since] [--after]"
    (row,) = [line for line in lines if line.startswith("list_orders ")]
    assert options in row and "Page by page." in row
    assert len(lines) == 14


def test_every_system_can_be_listed() -> None:
    for system in all_systems():
        done = invoke("patterns", system.name)
        assert done.exit_code == 0
        assert all(f"\n{name} " in done.stdout for name in system.patterns)


def test_no_parameter_is_called_like_an_option_of_the_program() -> None:
    taken = {"store", "json", "help", "region", "requests", "for_tenant"}
    for system in all_systems():
        for pattern in system.patterns.values():
            assert taken.isdisjoint(parameter.name for parameter in pattern.parameters), (
                pattern.name
            )


# What is typed


def test_an_entity_is_typed_as_json_and_printed_as_a_record(store: str) -> None:
    order = {
        "customer": "alex",
        "number": 7,
        "total": "19.99",
        "status": "shipped",
        "placed_at": "2026-03-10T12:00:00Z",
        "tags": ["b", "a"],
    }
    printed = output_of(store, "place_order", "--order", json.dumps(order))
    assert lines_of(printed) == [
        ["customer", "alex"],
        ["number", "7"],
        ["total", "19.99"],
        ["status", "shipped"],
        ["placed_at", "2026-03-10T12:00:00Z"],
        ["tags", '["a",', '"b"]'],
        ["lines", "[]"],
        ["note"],
    ]
    assert output_of(store, "read_order", "--customer", "alex", "--number", "7") == printed


def test_what_json_prints_can_be_typed_again(store: str) -> None:
    placed = place(store, 1, total="5", tags=["x"], lines=[{"sku": "a", "quantity": 2}])
    output_of(store, "forget_order", "--customer=alex", "--number=1")
    again = json_of(store, "place_order", f"--order={json.dumps(placed)}")
    assert again == placed == json_of(store, "read_order", "--customer", "alex", "--number", "1")


def test_values_are_read_by_the_types_of_the_parameters(store: str) -> None:
    place(store, 1, placed_at="2026-03-10T12:00:00Z")
    place(store, 2, placed_at="2026-03-11T12:00:00Z")
    changed = json_of(
        store, "change_status", "--customer", "alex", "--number", 1, "--status", "shipped"
    )
    assert changed["status"] == "shipped"
    since = ["--customer", "alex", "--since", "2026-03-11T00:00:00Z", "--limit", "9"]
    assert [item["number"] for item in json_of(store, "list_orders", *since)["items"]] == [2]


def test_a_pattern_that_leaves_the_tenant_to_the_store_is_run_for_one(store: str) -> None:
    forge = "tests.cli.forge:SYSTEM"
    assert invoke("tables", "create", forge, store=store).exit_code == 0
    for tenant in ("acme", "beta"):
        add = ("run", f"{forge}.add_repo", "--name", f"site of {tenant}", "--for-tenant", tenant)
        assert invoke(*add, store=store).exit_code == 0
    listed = invoke("run", f"{forge}.list_repos", "--for-tenant", "acme", "--json", store=store)
    assert json.loads(listed.stdout) == [{"tenant": "acme", "name": "site of acme"}]
    unbound = invoke("run", f"{forge}.add_repo", "--name", "x", store=store)
    assert unbound.exit_code == 1
    assert "no tenant is bound here" in unbound.stderr
    unnamed = invoke("run", f"{forge}.add_repo", "--name", "x", "--for-tenant", "", store=store)
    assert unnamed.exit_code == 2
    assert "--for-tenant is empty" in unnamed.stderr


@pytest.mark.parametrize("number", ["--numbers=3", "--numbers", '--numbers=["3"]'])
def test_a_list_is_typed_by_repeating_it_or_as_json(store: str, number: str) -> None:
    for each in (1, 2, 3):
        place(store, each)
    last = [number] if "=" in number else [number, "3"]
    first = [] if "[" in number else ["--numbers", "1"]
    found = json_of(store, "read_orders", "--customer", "alex", *first, *last)
    assert [each["number"] for each in found] == ([3] if "[" in number else [1, 3])


def test_lists_of_records_and_records_in_them_are_json(store: str) -> None:
    place(store, 1)
    each = ["--lines", '{"sku": "a"}', "--lines", '{"sku": "b", "quantity": 3}']
    bounds = ["--bounds", '{"least": 1, "most": "2"}']
    done = json_of(store, "set_lines", "--customer", "alex", "--number", 1, *each, *bounds)
    assert done["lines"] == [{"sku": "a", "quantity": 1}, {"sku": "b", "quantity": 3}]
    together = ["--lines", '[{"sku": "c"}]']
    done = json_of(store, "set_lines", "--customer", "alex", "--number", 1, *together)
    assert done["lines"] == [{"sku": "c", "quantity": 1}]


@pytest.mark.parametrize(
    ("flag", "first"),
    [
        ([], 1),
        (["--newest-first"], 3),
        (["--newest_first"], 3),
        (["--no-newest-first"], 1),
        (["--newest-first=true"], 3),
        (["--newest-first=no"], 1),
    ],
    ids=str,
)
def test_a_yes_or_no_is_an_option_alone(store: str, flag: list[str], first: int) -> None:
    for number in (1, 2, 3):
        place(store, number)
    page = json_of(store, "list_orders", *flag, "--customer", "alex")
    assert page["items"][0]["number"] == first


def test_pages_join_up_by_the_cursor_that_is_printed(store: str) -> None:
    for number in range(5):
        place(store, number)
    seen: list[str] = []
    after: list[str] = []
    while True:
        printed = output_of(store, "list_orders", "--customer", "alex", *after).splitlines()
        seen += [line.split()[1] for line in printed if line.startswith("alex ")]
        if not printed[-1].startswith("There is more: --after "):
            break
        after = printed[-1].removeprefix("There is more: ").split()
    assert seen == ["0", "1", "2", "3", "4"]


# What is printed


def test_secrets_are_not_printed(store: str) -> None:
    order = json.dumps({"customer": "alex", "number": 1, "card": "4111-1111"})
    for how in ([], ["--json"]):
        assert "4111" not in output_of(store, "place_order", "--order", order, *how)
        output_of(store, "forget_order", "--customer", "alex", "--number", 1)


def test_an_empty_column_is_left_out_of_a_list(store: str) -> None:
    place(store, 1, note="first")
    place(store, 2)
    head, first, second = output_of(store, "list_orders", "--customer", "alex").splitlines()[:3]
    assert head.split() == ["customer", "number", "total", "status", "tags", "lines", "note"]
    assert first.split()[-1] == "first" and second.split()[-1] == "[]"


def test_what_does_not_fit_a_cell_follows_under_its_name(store: str) -> None:
    place(store, 1, total="5", lines=[{"sku": "a"}])
    place(store, 2, total="7")
    printed = output_of(store, "view_customer", "--customer", "alex")
    head, _, rest = printed.partition("\n\nlatest:\n")
    assert lines_of(head) == [["customer", "alex"], ["orders", "2"]]
    latest, _, best = rest.partition("\nbest:\n")
    assert '{"sku": "a", "quantity": 1}' in latest
    assert ["total", "7"] in lines_of(best)


def test_parts_of_a_result_stand_apart(store: str) -> None:
    place(store, 1)
    printed = output_of(store, "both_ends", "--customer", "alex")
    first, last = printed.split("\n\n")
    assert lines_of(first)[1][:2] == lines_of(last)[1][:2] == ["alex", "1"]


def test_nothing_is_cut_off_on_a_narrow_screen(store: str) -> None:
    place(store, 1, note="n" * 60)
    printed = invoke(
        "run", f"{ORDERS}.list_orders", "--customer", "alex", store=store, columns=60
    ).stdout
    assert "…" not in printed
    assert printed.count("n") >= 60


@pytest.mark.parametrize(
    ("pattern", "more", "printed"),
    [
        ("count_orders", [], "1\n"),
        ("list_tags", [], "x\ny\n"),
        ("read_orders", ["--numbers", "5"], "none\n"),
        ("read_order", ["--number", "5"], "nothing\n"),
        ("forget_order", ["--number", "5"], "done\n"),
    ],
)
def test_simple_results_are_printed_simply(
    store: str, pattern: str, more: list[str], printed: str
) -> None:
    place(store, 1, tags=["y", "x"])
    assert output_of(store, pattern, "--customer", "alex", *more) == printed


# What goes wrong


def test_an_error_of_the_domain_is_a_sentence_with_its_code(store: str) -> None:
    done = do(store, "change_status", "--customer", "alex", "--number", 1, "--status", "placed")
    assert (done.exit_code, done.stderr) == (1, "There is no such order. (unknown-order)\n")
    done = do(store, "list_orders", "--customer", "alex", "--after", "nonsense")
    assert done.exit_code == 1
    assert "(cursor-error)" in done.stderr


def test_a_cursor_of_another_query_is_refused(store: str) -> None:
    for number in range(3):
        place(store, number)
    page = json_of(store, "list_orders", "--customer", "alex")
    done = do(store, "list_orders", "--customer", "blair", "--after", page["after"])
    assert done.exit_code == 1
    assert done.stderr == "This cursor belongs to another query. (cursor-error)\n"


def test_a_value_that_cannot_be_stored_is_a_sentence(store: str) -> None:
    done = do(store, "read_order", "--customer", "alex", "--number", "-1")
    assert done.exit_code == 1
    assert "number" in done.stderr and done.stderr.endswith(". (value-refused)\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "read_order needs --customer and --number. It takes --customer --number."),
        (["--customer", "alex"], "read_order needs --number."),
        (["--customer", "alex", "--number"], "--number needs a value after it."),
        (["--customer", "alex", "--no", "5"], "read_order has no parameter --no. It takes"),
        (["alex"], "'alex' is no option: say which parameter it is. It takes --customer --number."),
        (["--customer", "A", "--number", "1"], "--customer: String should match pattern"),
        (["--customer", "alex", "--number", "x"], "--number: Input should be a valid integer"),
        (["--customer", "alex", "--no-number"], "read_order has no parameter --no-number."),
    ],
    ids=str,
)
def test_a_mistake_in_a_parameter_names_the_choices(
    store: str, arguments: list[str], sentence: str
) -> None:
    done = do(store, "read_order", *arguments)
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("order", ["{", '{"customer": "alex"}', "5", '{"customer":"alex","no":1}'])
def test_json_that_does_not_fit_is_told_with_an_example(store: str, order: str) -> None:
    done = do(store, "place_order", "--order", order)
    assert done.exit_code == 2
    assert "--order: " in done.stderr
    assert 'It is typed as JSON, such as \'{"customer": "alex", "number": 1' in done.stderr


def test_a_flag_takes_only_yes_or_no(store: str) -> None:
    done = do(store, "list_orders", "--customer", "alex", "--newest-first=maybe")
    assert (done.exit_code, "--newest-first: " in done.stderr) == (2, True)
    done = do(store, "list_orders", "--customer", "alex", "--no-newest-first=yes")
    assert (done.exit_code, done.stderr) == (2, "--no-newest-first takes no value.\n")


def test_what_nobody_can_type_is_told(store: str) -> None:
    done = do(store, "compare_orders", "--customer", "alex", "--judge", "me")
    assert done.exit_code == 2
    assert done.stderr == "--judge cannot be typed: run the pattern from Python.\n"


@pytest.mark.parametrize("name", ["deals", ORDERS, "tests.cli.orders"])
def test_a_system_alone_is_no_pattern(name: str) -> None:
    done = invoke("run", name)
    assert done.exit_code == 2
    assert "SYSTEM.PATTERN" in done.stderr or "There is no system" in done.stderr


def test_an_unknown_pattern_is_told_the_known_ones() -> None:
    done = invoke("run", f"{ORDERS}.read", store="memory:")
    assert done.exit_code == 2
    assert "no pattern 'read'; it has place_order, read_order" in done.stderr


def test_missing_tables_are_told_with_what_makes_them(tmp_path: Path) -> None:
    store = f"file:{tmp_path / 'empty.db'}"
    for where in ([], ["--store", store]):
        done = invoke("run", f"{ORDERS}.count_orders", "--customer", "alex", *where, store=store)
        assert done.exit_code == 1
        verb = " ".join(["bigtime tables create", ORDERS, *where])
        assert done.stderr.startswith(
            f"The store lacks tables of {ORDERS}: make what is missing with `{verb}`. "
        )


def test_a_store_has_to_be_chosen() -> None:
    done = invoke("run", f"{ORDERS}.count_orders", "--customer", "alex")
    assert done.exit_code == 2
    assert "set BIGTIME_STORE to file:shop.db" in done.stderr


def test_a_wrong_parameter_makes_no_file(tmp_path: Path) -> None:
    store = f"file:{tmp_path / 'new.db'}"
    assert invoke("run", f"{ORDERS}.count_orders", "--customer", "A", store=store).exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_pattern_runs_in_a_process_of_its_own(store: str) -> None:
    done = run("run", f"{ORDERS}.count_orders", "--customer", "alex", "--store", store, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")


def test_a_pattern_that_raises_is_explained_with_a_sentence() -> None:
    result = invoke("explain", "tests.cli.broken:SYSTEM.divide")
    assert result.exit_code == 1
    assert "divide cannot be explained: it raises ZeroDivisionError" in result.output
    assert "Traceback" not in result.output


def test_running_on_a_file_that_is_not_there_makes_none(tmp_path: Path) -> None:
    place = tmp_path / "typo" / "shop.db"
    result = invoke("run", "deals.fetch_deal", "--deal-id", "x", "--store", f"file:{place}")
    assert result.exit_code != 0
    assert not place.parent.exists()
