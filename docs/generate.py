"""Writes into the guides what is kept elsewhere: examples, charts, figures, the layout.

A part of a guide between `<!-- begin NAME -->` and `<!-- end NAME -->` is generated:

- `example NAME` is docs/examples/NAME.py, and what it prints, docs/examples/NAME.txt, if there is
  such a file; `example NAME 2` is the part of it that is headed by the comment `# 2. ...`, without
  that heading; `output NAME` is what it prints;
- `system NAME` are the charts, the reactions and the errors of one of Bigtime's systems;
- `chart NAME entities` and `chart NAME patterns` are the charts of the SYSTEM in an example;
- `bench` and `proofs` are the tables of docs/figures/NAME.json, which a full run writes: the
  machine, and rows of what was measured, the bar it had to reach, and what was seen;
- `layout` is the first line of every package's and module's docstring.

Nobody types a figure by hand. With `--check` nothing is written, and every guide must already be
what this program would write.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bigtime.model.system import System

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "docs" / "examples"
PATTERNS = """
    complex_attribute duplicated_data composite_primary_key secondary_index hierarchy
    assembled_collection composite_sort_key sparse_filter sparse_entity
    changing_sort both_directions zero_padding
    unique_attributes sequential_numbers reference_count singleton
    pagination write_shards time_buckets
""".split()
SYSTEMS = "deals catalog cart shop sessions accounts portal".split()
GUIDES = {
    "README.md": ["example quickstart", "example tutorial 2", "proofs", "bench"],
    "CONTRIBUTING.md": ["layout"],
    "docs/engine.md": ["example likes", "example faults"],
    "docs/tutorial.md": [
        "chart tutorial patterns",
        "chart tutorial entities",
        *(f"example tutorial {section}" for section in range(1, 6)),
        "output tutorial",
    ],
    "docs/patterns.md": [f"example {name}" for name in PATTERNS],
    "docs/systems.md": [f"system {name}" for name in SYSTEMS],
}


def part(name: str) -> str:
    kind, *words = name.split()
    makers: dict[str, Callable[..., str]] = {
        "example": shown,
        "output": lambda example: fenced("text", output_of(example)),
        "chart": chart,
        "system": described,
        "layout": layout,
    }
    return makers[kind](*words) if kind in makers else figures(name)


# Examples


def shown(example: str, section: str | None = None) -> str:
    if section is not None:
        return fenced("python", sections(source_of(example))[section])
    source = fenced("python", source_of(example))
    if not output_file(example).exists():
        return source
    return f"{source}\n\n{fenced('text', output_of(example))}"


def source_of(example: str) -> str:
    return (EXAMPLES / f"{example}.py").read_text()


def output_file(example: str) -> Path:
    return EXAMPLES / f"{example}.txt"


def output_of(example: str) -> str:
    return output_file(example).read_text()


def fenced(language: str, text: str) -> str:
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


def described(name: str) -> str:
    """A system's charts under headings of this guide, what it reacts to, and what it refuses."""
    from bigtime.advisor.charts import chart as charts
    from bigtime.advisor.charts import markdown

    system: System = import_module(f"bigtime.systems.{name}").SYSTEM
    _, _, body = charts(system).partition("\n\n")
    parts = [re.sub("^#", "##", body.strip(), flags=re.MULTILINE)]
    reactions = [[f"`{one.name}`", one.table.name, one.notes] for one in system.reactions.values()]
    if reactions:
        parts += ["### Reactions", markdown(["reaction", "stream of", "what it does"], reactions)]
    parts += ["### Errors", markdown(["code", "what the person is told"], sorted(errors(name)))]
    return "\n\n".join(parts)


def errors(name: str) -> Iterator[list[str]]:
    from bigtime.model import DomainError

    module = import_module(f"bigtime.systems.{name}.errors")
    for one in vars(module).values():
        if (
            isinstance(one, type)
            and issubclass(one, DomainError)
            and one.__module__ == module.__name__
        ):
            yield [f"`{one.code}`", " ".join((one.sentence or one.__doc__ or "").split())]


# Figures


def figures(name: str) -> str:
    file = ROOT / "docs" / "figures" / f"{name}.json"
    if not file.exists():
        return f"Not measured yet: run `make {name}`."
    run = json.loads(file.read_text())
    parts = [f"`make {name}` on {run['machine']}:"]
    for section, rows in groupby(run["rows"], key=lambda row: row.get("section")):
        found = list(rows)
        parts.append(folded(section, found) if section else table(found))
    return "\n\n".join(parts)


def folded(section: str, rows: list[dict[str, Any]]) -> str:
    """A table that whoever wants to see it unfolds."""
    bars = [row["met"] for row in rows if row["bar"]]
    summary = f"{section}: {sum(bars)} of {len(bars)} bars met"
    return f"<details><summary>{summary}</summary>\n\n{table(rows)}\n\n</details>"


def table(rows: list[dict[str, Any]]) -> str:
    told = [f"| {row['what']} | {row['bar']} | {row['seen']} |" for row in rows]
    return "\n".join(["| what | bar | seen |", "|---|---|---|", *told])


# The layout


def layout() -> str:
    return "\n".join(["| where | what |", "|---|---|", *modules(ROOT / "src" / "bigtime")])


def modules(package: Path) -> Iterator[str]:
    """The package itself first, then its modules, then the packages in it."""
    yield row(package / "__init__.py")
    yield from (row(path) for path in sorted(package.glob("*.py")) if path.stem != "__init__")
    for init in sorted(package.glob("*/__init__.py")):
        yield from modules(init.parent)


def row(module: Path) -> str:
    docstring = ast.get_docstring(ast.parse(module.read_text())) or ""
    name = module.relative_to(ROOT / "src").as_posix().removesuffix("__init__.py")
    return f"| `{name}` | {docstring.partition(chr(10))[0]} |"


def generated(guide: str, names: list[str]) -> str:
    for name in names:
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        before, _, rest = guide.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            raise SystemExit(f"There is nothing between {begin} and {end}")
        guide = f"{before}{begin}\n{part(name)}\n{end}{after}"
    return guide


def main(arguments: list[str]) -> None:
    for name, parts in GUIDES.items():
        guide = ROOT / name
        current = guide.read_text()
        wanted = generated(current, parts)
        if arguments != ["--check"]:
            guide.write_text(wanted)
        elif current != wanted:
            raise SystemExit(f"{name} is not current: run `make docs`")


if __name__ == "__main__":
    main(sys.argv[1:])
