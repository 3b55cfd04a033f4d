"""Tries out a draft: runs its source as the module will be run, and records what the kit refuses.

Each table, entity, view and pattern is run separately, in order. Anything that the kit refuses is
written as a comment with the kit's message; then everything is tried again, because an index may
have lost its last entity. A table with no entity left gets a plain one, whose fields are its key
attributes. Sample rows that their entity cannot read are left out. Finally `bigtime check` runs on
the system: its findings come from the source's design, so they are accepted, with a note; a pattern
that cannot even be dry-run becomes a comment.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from types import ModuleType

from bigtime import model as bt
from bigtime.advisor.imports import module_text
from bigtime.advisor.imports.completion import complete_table, plain_entity
from bigtime.advisor.imports.draft import (
    CannotImport,
    Draft,
    EntityDraft,
    Note,
    PatternDraft,
    TableDraft,
)
from bigtime.advisor.imports.names import class_name
from bigtime.advisor.system_check import check_system

NUMBERS = count(1)
ACCEPTED = "as it was imported"


@dataclass(frozen=True, slots=True)
class ImportedModule:
    """A module made from a source: its text, and what a person should review."""

    text: str
    """The Python module."""
    notes: tuple[Note, ...]
    """What a person should review."""


def finished_module(draft: Draft) -> ImportedModule:
    """The module for a draft, after everything that cannot work has been found."""
    if not draft.tables:
        raise CannotImport(draft.source, "there is no table in it", "give a source that has one")
    while refuse_entities(draft):
        for table in draft.tables:
            keep_one(draft, table)
            complete_table(draft, table)
    refuse_patterns(draft)
    leave_out_rows(draft)
    accept_findings(draft)
    with scratch_module() as module:
        run_source(module, module_text.module_text(draft))
    return ImportedModule(module_text.module_text(draft), tuple(dict.fromkeys(draft.notes)))


# Running source


@contextmanager
def scratch_module() -> Iterator[ModuleType]:
    """A temporary module with a unique name, which pydantic can find while classes are created."""
    module = ModuleType(f"bigtime_import_{next(NUMBERS)}")
    sys.modules[module.__name__] = module
    try:
        head = "\n".join(line for _, line in module_text.IMPORTS)
        run_source(module, f"{head}\nfrom bigtime import model as bt")
        yield module
    finally:
        del sys.modules[module.__name__]


def run_source(module: ModuleType, text: str) -> None:
    exec(compile(text, module.__name__, "exec"), module.__dict__)


def run_design(draft: Draft, module: ModuleType) -> None:
    """Runs the tables and the entities that are not refused."""
    for table in draft.tables:
        run_source(module, module_text.table_text(table))
        for entity in table.accepted_entities:
            run_source(module, module_text.entity_text(table, entity))


def run_patterns(draft: Draft, module: ModuleType) -> None:
    for view in draft.views:
        run_source(module, module_text.view_text(view))
    for pattern in draft.patterns:
        if pattern.refusal is None:
            run_source(module, module_text.pattern_text(pattern))


# Entities


def refuse_entities(draft: Draft) -> bool:
    """Marks the entities that the kit refuses; returns whether there were any, to try again."""
    is_refused = False
    with scratch_module() as module:
        for table in draft.tables:
            run_table(module, table)
            for entity in table.accepted_entities:
                try:
                    run_source(module, module_text.entity_text(table, entity))
                except bt.DesignError as error:
                    refuse(draft, entity, error)
                    is_refused = True
    return is_refused


def run_table(module: ModuleType, table: TableDraft) -> None:
    try:
        run_source(module, module_text.table_text(table))
    except bt.DesignError as error:
        raise CannotImport(table.place, f"{error}", "correct the source") from None


def refuse(draft: Draft, entity: EntityDraft | PatternDraft, error: Exception) -> None:
    entity.refusal = f"{error}"
    draft.tell(
        entity.place,
        f"{entity.name} cannot be declared so ({error})",
        "it is a comment in the module; correct it there",
    )


def keep_one(draft: Draft, table: TableDraft) -> None:
    """Gives a table without entities a plain one."""
    if table.accepted_entities:
        return
    if any(entity.about == "Any item of the table." for entity in table.entities):
        raise CannotImport(
            table.place, f"{table.entities[-1].refusal}", "declare this table by hand"
        )
    names = {entity.name for each in draft.tables for entity in each.entities}
    entity = plain_entity(table, class_name(f"{table.table.name} item", names))
    table.table.type_attribute = None
    table.entities.append(entity)
    draft.tell(
        table.place,
        "none of its kinds of items can be declared as they are",
        f"{entity.name} stands for all of them; split it up",
    )


# Patterns and rows


def refuse_patterns(draft: Draft) -> None:
    known = {entity.name for table in draft.tables for entity in table.accepted_entities}
    draft.views = [view for view in draft.views if view.of in known]
    known |= {view.name for view in draft.views}
    with scratch_module() as module:
        run_design(draft, module)
        for view in list(draft.views):
            try:
                run_source(module, module_text.view_text(view))
            except bt.DesignError as error:
                draft.views.remove(view)
                known.discard(view.name)
                draft.tell(view.index, f"what it projects has no view ({error})", "declare one")
        for pattern in draft.patterns:
            lacking = [name for name in pattern.uses if name not in known]
            if pattern.refusal is None and lacking:
                missing = bt.DesignError(f"it needs {', '.join(lacking)}, which is a comment")
                refuse(draft, pattern, missing)


def leave_out_rows(draft: Draft) -> None:
    """Removes sample rows that their entities cannot read, or that are too many."""
    with scratch_module() as module:
        run_design(draft, module)
        for table in draft.tables:
            for entity in table.accepted_entities:
                made: type[bt.Entity] = getattr(module, entity.name)
                entity.rows = list(readable_rows(draft, entity, made))


def readable_rows(
    draft: Draft, entity: EntityDraft, made: type[bt.Entity]
) -> Iterator[tuple[str, dict[str, dict[str, object]]]]:
    if len(entity.rows) > module_text.MOST_ROWS:
        draft.tell(
            entity.place,
            f"{entity.name} has {len(entity.rows):,} sample rows",
            f"the module has the first {module_text.MOST_ROWS}; load the others with"
            " `bigtime data load`",
        )
    for place, item in entity.rows[: module_text.MOST_ROWS]:
        try:
            made.from_item(item).to_item()
        except (bt.ItemMismatch, bt.ValueRefused, bt.DomainError) as error:
            draft.tell(place, f"{entity.name} cannot read it ({error})", "it is left out")
        else:
            yield place, item


# Findings


def accept_findings(draft: Draft) -> None:
    """Runs `bigtime check`, and accepts each finding, or refuses the pattern it is about."""
    patterns = {pattern.name: pattern for pattern in draft.patterns}
    with scratch_module() as module:
        run_design(draft, module)
        run_patterns(draft, module)
        run_source(module, module_text.system_text(draft, 0))
        findings = check_system(module.SYSTEM)
    for finding in findings:
        pattern = patterns.get(finding.subject)
        if pattern is not None and finding.code == "dry-run":
            refuse(draft, pattern, bt.DesignError(finding.sentence))
            continue
        draft.tell(finding.key, finding.sentence, finding.remedy)
        if pattern is not None:
            pattern.accepted[finding.code] = ACCEPTED
        else:
            draft.accepted[finding.key] = ACCEPTED
