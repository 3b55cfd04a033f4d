"""What is said of the APIs, for programs and for people: made once, and beside the event loop.

To describe a hundred routes takes a second, in which an event loop would answer nobody. So it is
done on a thread, when somebody first asks. Whoever asks meanwhile waits for the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from bigtime.web.api.description import Description
from bigtime.web.pages import Page, Templates


@dataclass(frozen=True, slots=True)
class Documents:
    """The description in OpenAPI, and the page that is made of it."""

    openapi: Page
    docs: Page

    @classmethod
    def of(cls, openapi: dict[str, Any], templates: Templates) -> Documents:
        told = Description(openapi)
        page = templates.page("api/docs.html", subjects=told.subjects(), schemes=told.schemes())
        return cls(Page.json(orjson.dumps(openapi)), page)


class Documentation:
    """Has them made, and keeps them. For one event loop."""

    def __init__(self, describe: Callable[[], dict[str, Any]], templates: Templates) -> None:
        self.describe = describe
        self.templates = templates
        self._making: asyncio.Task[Documents] | None = None

    async def documents(self) -> Documents:
        if self._making is None or has_failed(self._making):
            self._making = asyncio.create_task(asyncio.to_thread(self._make))
        return await asyncio.shield(self._making)  # who goes away takes it from nobody

    def _make(self) -> Documents:
        return Documents.of(self.describe(), self.templates)


def has_failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)
