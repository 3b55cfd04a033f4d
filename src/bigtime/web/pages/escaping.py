"""What a template puts out, escaped.

Jinja2 wraps every text that it escapes in an object which says that it is escaped, and unwraps it
to join the page. A page of deals has hundreds of them, and that is half of what it costs. So the
code that templates are compiled to calls `shown` instead, which gives plain text: what is put out
is joined at once, and nobody asks of it any more whether it is escaped.

The same code asks for hundreds of attributes, each by a call that knows what else a name might
mean. Nearly all are plain attributes, and those it takes without that call.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from typing import Any, Final

from jinja2 import Environment
from jinja2.compiler import CodeGenerator, Frame
from jinja2.nodes import Expr, Getattr

from bigtime.web.pages.page import CLOSES, OPENS

NOT_PLAIN: Final = re.compile(f"[&<>'\"{CLOSES}]").search


def shown(value: Any) -> str:
    """A value as a page has it: escaped, unless it is HTML already.

    Whatever somebody has written, it makes no gap in a page.
    """
    if type(value) is str:
        text = value
    elif hasattr(value, "__html__"):
        return str(value.__html__())
    else:
        text = str(value)
    if NOT_PLAIN(text) is None and OPENS not in text:
        return text
    return escaped(text.replace(OPENS, "").replace(CLOSES, ""))


def escaped(text: str) -> str:
    """Fit for between tags, and for an attribute in quotes of either kind."""
    return (
        text.replace("&", "&amp;")
        .replace(">", "&gt;")
        .replace("<", "&lt;")
        .replace("'", "&#39;")
        .replace('"', "&#34;")
    )


class Shows(CodeGenerator):
    """Compiles templates to code that puts everything out with `shown`."""

    def _output_child_pre(
        self, node: Expr, frame: Frame, finalize: CodeGenerator._FinalizeInfo
    ) -> None:
        self.write("environment.shown(")

    def _output_child_post(
        self, node: Expr, frame: Frame, finalize: CodeGenerator._FinalizeInfo
    ) -> None:
        self.write(")")

    def visit_Getattr(self, node: Getattr, frame: Frame) -> None:  # noqa: N802, as Jinja2 has it
        """Looks for an attribute itself; only what has none is asked in Jinja2's other ways."""
        self.write("(found if (found := getattr(")
        self.visit(node.node, frame)
        self.write(f", {node.attr!r}, missing)) is not missing else ")
        super().visit_Getattr(node, frame)
        self.write(")")


class ShowingEnvironment(Environment):
    """Templates that escape whatever they are given."""

    code_generator_class = Shows
    shown = staticmethod(shown)

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """One dict: the chain of two that Jinja2 makes is copied for each page, at some cost."""
        return {**self.globals, **(d or {})}
