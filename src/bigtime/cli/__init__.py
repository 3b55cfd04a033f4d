"""The `bigtime` command."""

from __future__ import annotations

import sys

from bigtime.extras import MissingExtra, extra


def main() -> None:
    """The program `bigtime`; ends with a sentence where a verb's packages are not installed."""
    try:
        with extra("cli"):
            from bigtime.cli.app import main as run
        run()
    except MissingExtra as error:
        sys.exit(f"bigtime: {error}")
