"""Writes into the guides what is kept elsewhere: examples, charts, figures, the map of modules.

A part of a guide between `<!-- begin NAME -->` and `<!-- end NAME -->` is generated:

- `example NAME` is docs/examples/NAME.py, and what it prints, docs/examples/NAME.txt, if there is
  such a file; `example NAME 2` is the part of it that is headed by the comment `# 2. ...`, without
  that heading; `output NAME` is what it prints;
- `system NAME` are the charts, the reactions and the errors of one of Bigtime's systems;
- `chart NAME entities` and `chart NAME patterns` are the charts of the SYSTEM in an example;
- `figures bench` and `figures proofs` are the tables of docs/figures/NAME.json, which a full run
  writes: the machine, and rows of what was measured, the bar it had to reach, and what was seen;
- `cold-start` is the table of docs/figures/cold_start.json, which docs/cold_start.py writes;
- `api` is the guide to the APIs that the site shows at /docs/getting-started;
- `summary` are a few of these figures in sentences;
- `attributes MODULE CLASS` are the public attributes and methods of a class, each with its type and
  the string below it in the code;
- `walk NAME` are the modules that a request goes through, as docs/walks.toml has them, each with
  the first paragraph of its docstring; `others PACKAGE` are those of a package on no walk.

Nobody types a figure by hand. With `--check` nothing is written, and every guide must already be
what this program would write.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from inspect import getsource
from itertools import groupby, pairwise
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bigtime.model import DomainError, System

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "docs" / "examples"
SOURCE = ROOT / "src" / "bigtime"
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
WALKS: dict[str, list[str]] = tomllib.loads((ROOT / "docs" / "walks.toml").read_text())
ON_WALKS = {module for modules in WALKS.values() for module in modules}
SUMMARY = [
    "**A crash loses nothing.** {kills: kills} processes killed amid"
    " {kills: acknowledged writes} acknowledged writes: {kills: violations} violations.",
    "**Nor does a power cut.** {torn: torn files} logs truncated, torn, garbled or bit-flipped:"
    " each opens as a prefix of its commits, with every synced one; {torn: violations} violations.",
    "**No write is acknowledged before its sync**, as strace sees it:"
    " {syncs: acknowledgements by strace} acknowledgements, {syncs: violations} violations.",
    "**Items are linearizable.** {histories: histories} histories of concurrent clients,"
    " {histories: operations} operations: {histories: violations} violations.",
    "**Transactions are strictly serializable**, even while their processes are killed:"
    " {transactions: transactions} transactions, {transactions: kills} kills,"
    " {transactions: violations} violations.",
    "**It answers as AWS documents.** {differential: operations against the model} random"
    " operations compared with a reference model written from AWS's pages:"
    " {differential: violations} unexplained differences.",
    "**It is fast.** CPU time of a GetItem: {In process, beside bare SQLite: GetItem}; faster"
    " than moto by {In process, beside moto: GetItem}; over HTTP {Over HTTP: GetItem}.",
    "**It stays fast.** CPU time of a GetItem among 1,000,000 items: {Growth: GetItem}; a process"
    " that scans all of them needs {Growth: peak memory} of memory.",
]
"""What the README says of the figures; `{proof: count}` and `{section of the bench: what}`."""


def part(name: str) -> str:
    kind, *words = name.split()
    makers: dict[str, Callable[..., str]] = {
        "example": example_text,
        "output": lambda example: code_block("text", output_of(example)),
        "chart": chart,
        "system": system_text,
        "figures": figures,
        "cold-start": cold_start,
        "summary": summary,
        "attributes": attributes,
        "walk": walk,
        "others": others,
        "api": api_guide,
    }
    return makers[kind](*words)


# The APIs


def api_guide() -> str:
    from bigtime.web.api import guide_in_markdown
    from bigtime.web.app import LIMITS

    return guide_in_markdown(LIMITS)


# Examples


def example_text(example: str, section: str | None = None) -> str:
    if section is not None:
        return code_block("python", sections(source_of(example))[section])
    source = code_block("python", source_of(example))
    if not output_file(example).exists():
        return source
    return f"{source}\n\n{code_block('text', output_of(example))}"


def source_of(example: str) -> str:
    return (EXAMPLES / f"{example}.py").read_text()


def output_file(example: str) -> Path:
    return EXAMPLES / f"{example}.txt"


def output_of(example: str) -> str:
    return output_file(example).read_text()


def code_block(language: str, text: str) -> str:
    return f"```{language}\n{text}```"


def sections(source: str) -> dict[str, str]:
    """The parts of a program that has headings, by their numbers."""
    _, *parts = re.split(r"^# (\d+)\. .*\n", source, flags=re.MULTILINE)
    texts = (text.strip("\n") + "\n" for text in parts[1::2])
    return dict(zip(parts[::2], texts, strict=True))


def chart(example: str, kind: str) -> str:
    from bigtime.advisor.charts import entity_chart, pattern_chart

    system = system_of(example)
    if kind == "patterns":
        return pattern_chart(system.patterns.values())
    return "\n\n".join(entity_chart(table) for table in system.tables)


def system_of(example: str) -> System:
    spec = spec_from_file_location(example, EXAMPLES / f"{example}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[example] = module_from_spec(spec)
    spec.loader.exec_module(module)
    system: System = module.SYSTEM
    return system


# Systems


def system_text(name: str) -> str:
    """A system's charts under headings of this guide, what it reacts to, and what it refuses."""
    from bigtime.advisor.charts import chart as charts
    from bigtime.advisor.charts import markdown
    from bigtime.cli.systems import address_of

    package, attribute = address_of(name)
    system: System = getattr(import_module(package), attribute)
    _, _, body = charts(system).partition("\n\n")
    parts = [re.sub("^#", "##", body.strip(), flags=re.MULTILINE)]
    reactions = [
        [f"`{reaction.name}`", reaction.table.name, reaction.notes]
        for reaction in system.reactions.values()
    ]
    if reactions:
        parts += ["### Reactions", markdown(["reaction", "stream of", "what it does"], reactions)]
    parts += ["### Errors", markdown(["code", "message"], sorted(errors_in(package)))]
    return "\n\n".join(parts)


def errors_in(package: str) -> Iterator[list[str]]:
    """Each error that leaves a package: its code, and what the person reads."""
    from bigtime.model import DomainError

    home = f"{package}.errors" if find_spec(f"{package}.errors") else package
    for error in subclasses(DomainError):
        if error.__module__.startswith(home):
            yield [f"`{error.code}`", " ".join((error.sentence or error.__doc__ or "").split())]


def subclasses(kind: type[DomainError]) -> Iterator[type[DomainError]]:
    for each in kind.__subclasses__():
        yield each
        yield from subclasses(each)


# Figures


def figures(name: str) -> str:
    if name == "proofs":
        return dated_table(run_of(name)["rows"])
    run = run_of(name)
    parts = [f"`make {name}` on {run['machine']}:"]
    for section, rows in groupby(run["rows"], key=lambda row: row.get("section")):
        found = list(rows)
        parts.append(folded_table(section, found) if section else table(found))
    return "\n\n".join(parts)


def run_of(name: str) -> dict[str, Any]:
    """What the last full run of `make bench`, `make proofs` or docs/cold_start.py wrote."""
    run: dict[str, Any] = json.loads((ROOT / "docs" / "figures" / f"{name}.json").read_text())
    return run


def folded_table(section: str, rows: list[dict[str, Any]]) -> str:
    """A table that the reader unfolds, with the day on which its section was measured."""
    bars = [row["met"] for row in rows if row["bar"]]
    heading = f"{section}: {sum(bars)} of {len(bars)} bars met, {rows[0]['date']}"
    return f"<details><summary>{heading}</summary>\n\n{table(rows)}\n\n</details>"


def dated_table(rows: list[dict[str, Any]]) -> str:
    """A table whose rows were measured on different days, in the order of the proofs."""
    machines = dict.fromkeys(row["machine"] for row in rows)
    lines = [
        f"| {row['what']} | {row['bar']} | {row['seen']} | {row['length']}, {row['date']} |"
        for row in rows
    ]
    head = ["| what | bar | seen | length, day |", "|---|---|---|---|"]
    return "\n".join([f"`make proofs` on {'; '.join(machines)}:", "", *head, *lines])


def table(rows: list[dict[str, Any]]) -> str:
    lines = [f"| {row['what']} | {row['bar']} | {row['seen']} |" for row in rows]
    return "\n".join(["| what | bar | seen |", "|---|---|---|", *lines])


def cold_start() -> str:
    run = run_of("cold_start")
    lines = [f"| {row['what']} | {row['milliseconds']} ms |" for row in run["rows"]]
    head = ["| a fresh process, from bytecode | CPU time |", "|---|---|"]
    return "\n".join([f"On {run['machine']}, {run['date']}:", "", *head, *lines])


def summary() -> str:
    return "\n".join(f"- {re.sub(r'{(.*?): (.*?)}', figure, line)}" for line in SUMMARY)


def figure(place: re.Match[str]) -> str:
    """One figure: a count of a proof's longest run, its last row, or what the bench saw in the
    first row that begins so.
    """
    where, what = place.groups()
    for row in reversed(run_of("proofs")["rows"]):
        if row["proof"] == where:
            counts = {**row["counts"], "violations": len(row["violations"])}
            return f"{counts[what]:,}"
    for row in run_of("bench")["rows"]:
        if row["section"].startswith(where) and row["what"].startswith(what):
            return str(row["seen"])
    raise SystemExit(f"docs/figures has nothing for {place[0]}: correct SUMMARY in {__file__}")


# The reference


def attributes(module: str, name: str) -> str:
    """The table of a class: its own attributes, then those that it inherits."""
    from bigtime.advisor.charts import markdown

    rows: dict[str, tuple[str, str]] = {}
    for each in getattr(import_module(module), name).__mro__:
        if each.__module__.startswith("bigtime."):
            for attribute, (annotation, text) in members_of(each):
                kept, known = rows.get(attribute, (annotation, ""))
                rows[attribute] = (kept, known or text)
    silent = [each for each, (_, text) in rows.items() if not text]
    if silent:
        raise SystemExit(f"{module}.{name} does not say what these are: {', '.join(silent)}")
    return markdown(
        ["attribute", "type", "what it is"],
        [[f"`{each}`", f"`{kind}`", text] for each, (kind, text) in rows.items()],
    )


def members_of(kind: type) -> Iterator[tuple[str, tuple[str, str]]]:
    """Each public attribute and property in a class's body, and each method that has a docstring:
    its type and its text.
    """
    [body] = ast.parse(dedent(getsource(kind))).body
    assert isinstance(body, ast.ClassDef)
    for node, following in pairwise([*body.body, ast.Pass()]):
        if isinstance(node, ast.AnnAssign) and not ast.unparse(node.target).startswith("_"):
            name = ast.unparse(node.target)
            yield name, (type_text(node.annotation), string_in(following))
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            is_property = any(ast.unparse(each) == "property" for each in node.decorator_list)
            called = node.name if is_property else f"{node.name}({', '.join(parameters(node))})"
            first_paragraph = (ast.get_docstring(node) or "").partition("\n\n")[0]
            if is_property or first_paragraph:
                yield called, (type_text(node.returns), " ".join(first_paragraph.split()))


def type_text(annotation: ast.expr | None) -> str:
    text = "None" if annotation is None else ast.unparse(annotation).strip("'")
    return re.sub(r"^ClassVar\[(.*)\]$", r"\1", text.replace("wire.", ""))


def parameters(function: ast.FunctionDef) -> Iterator[str]:
    return (each.arg for each in function.args.args[1:])


def string_in(node: ast.AST) -> str:
    """A string that stands by itself, as one line."""
    match node:
        case ast.Expr(ast.Constant(str(text))):
            return " ".join(text.split())
    return ""


# The map


def walk(name: str) -> str:
    """The modules that a request goes through, in order."""
    return "\n".join(f"{number}. {entry(module)}" for number, module in enumerate(WALKS[name], 1))


def others(package: str) -> str:
    """The modules of a package that no walk names."""
    modules = (path.relative_to(SOURCE).as_posix() for path in sorted(modules_of(package)))
    return "\n".join(f"- {entry(module)}" for module in modules if module not in ON_WALKS)


def modules_of(package: str) -> Iterator[Path]:
    """`.` are the modules that lie in no package."""
    for path in SOURCE.glob("*.py") if package == "." else (SOURCE / package).rglob("*.py"):
        if path.name != "__init__.py":
            yield path


def entry(module: str) -> str:
    docstring = ast.get_docstring(ast.parse((SOURCE / module).read_text())) or ""
    first_paragraph = " ".join(docstring.partition("\n\n")[0].split())
    return f"[`{module}`](../src/bigtime/{module}): {first_paragraph}"


def check_walks() -> None:
    """Modules come and go: say which lines are to be corrected, all at once."""
    gone = sorted(module for module in ON_WALKS if not (SOURCE / module).exists())
    if gone:
        raise SystemExit(f"docs/walks.toml names modules that are not there: {', '.join(gone)}")


def fill_parts(guide: str) -> str:
    names = re.findall(r"^<!-- begin (.*?) -->$", guide, re.MULTILINE)
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SystemExit(f"These are in one guide twice: {', '.join(twice)}")
    for name in names:
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        before, _, rest = guide.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            raise SystemExit(f"There is nothing between {begin} and {end}")
        guide = f"{before}{begin}\n{part(name)}\n{end}{after}"
    return guide


def main(arguments: list[str]) -> None:
    check_walks()
    for guide in GUIDES:
        current = guide.read_text()
        wanted = fill_parts(current)
        if arguments != ["--check"]:
            guide.write_text(wanted)
        elif current != wanted:
            raise SystemExit(f"{guide.relative_to(ROOT)} is not current: run `make docs`")


if __name__ == "__main__":
    main(sys.argv[1:])
