"""`bigtime patterns`: the access patterns of a system, as they are typed."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from bigtime.cli.systems import SystemName, system_named


def patterns(system: SystemName) -> None:
    """List a system's access patterns: name, title, index, parameters and notes."""
    from bigtime.cli.parameters import options_text
    from bigtime.cli.results import screen_for_tables

    listed = system_named(system).patterns
    table = Table(box=None, pad_edge=False)
    table.add_column("name", min_width=max(map(len, listed), default=0))
    for heading in ("title", "index", "parameters", "notes"):
        table.add_column(heading)
    for one in listed.values():
        table.add_row(*map(Text, (one.name, one.title, one.index, options_text(one), one.notes)))
    screen_for_tables().print(table)
