"""The documents say what is true: their examples run, their figures are the measured ones."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path
from pkgutil import iter_modules
from runpy import run_path
from types import ModuleType

import pytest

import bigtime
import bigtime.systems
from bigtime.advisor import ExplainedRequest
from bigtime.engine import Engine
from bigtime.testing import serve_in_thread
from tests.cli.program import invoke
from tests.warm_commands import WarmCommands

ROOT = Path(__file__).parent.parent
DIRECTORY = ROOT / "docs" / "examples"
EXAMPLES = sorted(DIRECTORY.glob("*.py"))
TUTORIAL = DIRECTORY / "tutorial.py"
GUIDES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]


VERBS = """
import importlib, sys
from bigtime.cli.app import app
for verb in sys.argv[1:]:
    importlib.invalidate_caches()
    try:
        app(verb.split(), prog_name="bigtime")
    except SystemExit as end:
        if end.code:
            raise
"""
"""One process for the verbs of a guide: to start one for each takes longer than the verbs."""


def run_python(*arguments: object, cwd: Path, store: str = "memory:") -> str:
    command = [sys.executable, *map(str, arguments)]
    environment = {**os.environ, "BIGTIME_STORE": store}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_every_example_prints_what_the_guides_say(
    example: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BIGTIME_STORE", "memory:")
    run_path(str(example), run_name="__main__")
    printed = capsys.readouterr().out
    said = example.with_suffix(".txt")
    assert printed == (said.read_text() if said.exists() else printed)
    assert printed


@pytest.mark.parametrize("place", ["memory", "file", "endpoint"])
def test_the_tutorial_is_one_program_wherever_the_data_is(
    place: str, tmp_path: Path, engine: Engine
) -> None:
    with serve_in_thread(engine) as url:
        settings = {
            "memory": "memory:",
            "file": f"file:{tmp_path}/brands.db",
            "endpoint": url,
        }
        printed = run_python(TUTORIAL, cwd=tmp_path, store=settings[place])
    assert printed == TUTORIAL.with_suffix(".txt").read_text()


def test_the_verbs_in_the_tutorial_work(tmp_path: Path, commands: WarmCommands) -> None:
    guide = (ROOT / "docs" / "tutorial.md").read_text()
    verbs = re.findall(r"^bigtime (.*tutorial:SYSTEM[^#\n]*)", guide, re.MULTILINE)
    assert len(verbs) == 5
    for verb in verbs:
        variables = {**os.environ, "BIGTIME_STORE": f"file:{tmp_path}/brands.db"}
        done = commands.run("bigtime", *verb.split(), folder=DIRECTORY, variables=variables)
        assert done.returncode == 0, done.stderr
        assert done.stdout


@pytest.mark.parametrize("guide", ["model.md", "operations.md", "systems.md"])
def test_the_python_in_the_manual_runs(guide: str, tmp_path: Path) -> None:
    manual = (ROOT / "docs" / guide).read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", manual, re.MULTILINE | re.DOTALL)
    program = tmp_path / "manual.py"
    program.write_text("\n\n".join(blocks))
    assert run_python(program, cwd=tmp_path)


def test_the_verbs_in_the_guide_to_the_systems_work(tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "systems.md").read_text()
    verbs = re.findall(r"^\$ bigtime (.*)", guide, re.MULTILINE)
    assert len(verbs) == 5
    for verb in verbs:
        done = invoke(*verb.split(), store=f"file:{tmp_path}/systems.db")
        assert done.exit_code == 0 and done.stdout, done.stderr


def test_the_guide_to_existing_tables_works(tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "existing-tables.md").read_text()
    shown, program = re.findall(r"^```python\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    (tmp_path / "library.json").write_bytes((DIRECTORY / "library.json").read_bytes())
    verbs = re.findall(r"^\$ bigtime (.*)", guide, re.MULTILINE)
    assert len(verbs) == 10
    run_python("-c", VERBS, *verbs, cwd=tmp_path)
    assert shown in (tmp_path / "library.py").read_text()
    (tmp_path / "program.py").write_text(program)
    assert "book_id='emma'" in run_python("program.py", cwd=tmp_path)


def test_the_guides_show_the_examples_the_figures_and_the_modules_as_they_are() -> None:
    run_python("docs/generate.py", "--check", cwd=ROOT)


def test_the_charts_of_every_system_are_shown() -> None:
    guide = (ROOT / "docs" / "systems.md").read_text()
    systems = {"site", *(found.name for found in iter_modules(bigtime.systems.__path__))}
    assert set(re.findall(r"^<!-- begin system (\w+) -->", guide, re.MULTILINE)) == systems


def test_the_readme_is_short_and_shows_all_figures_elsewhere() -> None:
    readme = (ROOT / "README.md").read_text()
    assert len(readme.splitlines()) <= 150
    assert len(re.findall(r"!\[", readme)) == 3
    proof = readme.partition("<!-- begin summary -->")[2].partition("<!-- end summary -->")[0]
    assert len(proof.strip().splitlines()) == 8
    figures = (ROOT / "docs" / "figures.md").read_text()
    assert {"figures proofs", "figures bench"} <= set(re.findall("<!-- begin (.*?) -->", figures))


def test_contributing_is_short() -> None:
    assert len((ROOT / "CONTRIBUTING.md").read_bytes()) <= 10_000


def test_contributing_has_every_layer_and_every_target() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    layers = guide.partition("## Layers")[2].partition("## ")[0]
    source = ROOT / "src" / "bigtime"
    packages = {path.stem for path in source.iterdir() if not path.name.startswith(("_", "py."))}
    assert {name for name in packages if not re.search(rf"\b{name}\b", layers)} == set()
    targets = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {name for name in targets if f"`make {name}`" not in guide} == set()


def test_every_module_is_on_the_map() -> None:
    source = ROOT / "src" / "bigtime"
    guide = (ROOT / "docs" / "map.md").read_text()
    modules = [path for path in source.rglob("*.py") if path.name != "__init__.py"]
    assert modules
    links = [f"(../src/bigtime/{path.relative_to(source).as_posix()})" for path in modules]
    assert [link for link in links if link not in guide] == []


@pytest.mark.parametrize("guide", ["CONTRIBUTING.md", "docs/map.md"])
def test_what_the_guides_name_in_the_code_is_there(guide: str) -> None:
    text = (ROOT / guide).read_text()
    named = re.findall(r"\]\((?:\.\./)?(src/bigtime/[\w/]+\.py)\) `(\w+)`", text)
    assert len(named) >= 5
    for module, name in named:
        assert name in defined_in(ROOT / module), f"{guide}: {module} has no {name}"


def defined_in(module: Path) -> set[str]:
    """What a module defines at its top level."""
    names: set[str] = set()
    for node in ast.parse(module.read_text()).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names.update(ast.unparse(target) for target in targets)
    return names


def test_the_map_answers_what_new_readers_ask_first() -> None:
    guide = (ROOT / "docs" / "map.md").read_text()
    asked = re.findall(r"^\| (.*?\?) \|", guide, re.MULTILINE)
    assert {
        "is a like counted?",
        "is the front page dropped from the cache?",
        "would a status be added to an order?",
        "is a page of a query cut at 1 MB?",
    } <= set(asked)
    for first in ("README.md", "CONTRIBUTING.md"):
        assert "(docs/map.md" in (ROOT / first).read_text()


def test_the_glossary_has_at_most_forty_words_each_once() -> None:
    guide = (ROOT / "docs" / "glossary.md").read_text()
    _, *words = re.findall(r"^\| ([\w -]+) \| ", guide, re.MULTILINE)
    assert 20 <= len(words) <= 40
    assert words == sorted(set(words))


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_names_of_bigtime_in_the_guides_are_there(guide: Path) -> None:
    for dotted in re.findall(r"\bbt\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?)", guide.read_text()):
        first, _, second = dotted.partition(".")
        value = getattr(bigtime, first)
        assert not isinstance(value, ModuleType) or not second or hasattr(value, second), dotted


def test_the_quickstart_has_at_most_ten_lines_of_code() -> None:
    source = (ROOT / "docs" / "examples" / "quickstart.py").read_text()
    assert len([line for line in source.splitlines() if line.strip()]) <= 10


MADE_BY_CALLERS = set(
    "Add Amount Append At Attribute Buckets Demo Discard EmailAddress Field IfMissing Index KeyPart"
    " KeyRange Name Position Remove Retries Set Sharding Shards SortBounds System Table Throughput"
    " WebAddress AccessRequest Alarm AsyncConsumer Consumer Consumption Decision Environment"
    " KeyTerm Live Policy Principal Update Branch Lake Retention SearchIndex WRITERS Person"
    " PersonalData".split()
)
"""Values that programs give, or pass on as they are; the manuals say how they are made."""


def test_the_attributes_of_every_returned_object_are_tabled() -> None:
    guide = (ROOT / "docs" / "reference.md").read_text()
    tabled = set(re.findall(r"^<!-- begin attributes \S+ (\w+) -->", guide, re.MULTILINE))
    packages = (bigtime.advisor, bigtime.engine, bigtime.model, bigtime.store)
    values = {
        name
        for package in packages
        for name in package.__all__
        if is_dataclass(getattr(package, name)) or hasattr(getattr(package, name), "_fields")
    }
    assert len(values) > 40
    kinds = {each.__name__ for each in bigtime.model.Violation.__subclasses__()}
    assert all(f"`{kind}`" in guide for kind in kinds & values)
    assert values - MADE_BY_CALLERS - tabled - kinds == set()


def test_a_table_of_attributes_has_what_is_inherited_and_every_field() -> None:
    guide = (ROOT / "docs" / "reference.md").read_text()
    table = guide.partition("<!-- begin attributes bigtime.advisor ExplainedRequest -->")[2]
    table = table.partition("<!-- end")[0]
    for name in (*(field.name for field in fields(ExplainedRequest)), "indexes", "read_units"):
        assert f"| `{name}` | " in table


def test_every_example_is_shown_in_a_guide() -> None:
    guides = "".join(guide.read_text() for guide in GUIDES)
    assert [example.name for example in EXAMPLES if not is_shown(example, guides)] == []


def is_shown(example: Path, guides: str) -> bool:
    """Whole, or part by part under headings of its own."""
    parts = re.split(r"^# \d+\. .*\n", example.read_text(), flags=re.MULTILINE)
    return all(part.strip("\n") in guides for part in parts)


def test_every_make_target_is_documented() -> None:
    targets = re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    guides = "".join(guide.read_text() for guide in GUIDES)
    assert {"serve", "test", "check", "bench", "proofs"} <= set(targets)
    assert [target for target in targets if f"make {target}" not in guides] == []


def test_every_link_between_guides_leads_somewhere() -> None:
    for guide in GUIDES:
        for link in re.findall(r"\]\((?!\w+:)([^)#]+)", guide.read_text()):
            assert (guide.parent / link).exists(), f"{guide.name} points to {link}"


def test_lock_files_name_no_registry() -> None:
    for lock in (ROOT / "locks").glob("*.txt"):
        assert not re.search(r"://|--index|--find-links|--extra-index|@ ", lock.read_text())


def test_whatever_runs_is_tested_with_the_same_versions() -> None:
    runtime, dev = ((ROOT / "locks" / name).read_text() for name in ("runtime.txt", "dev.txt"))
    pin = re.compile(r"^(\S+==\S+)", re.MULTILINE)
    assert set(pin.findall(runtime)) <= set(pin.findall(dev))
