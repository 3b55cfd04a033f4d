"""The real names of declared tables in the database: a prefix for an environment, or a map.

`BIGTIME_TABLES` is JSON, or the path of a JSON file:

    {"*": "staging-*", "Shop": "Shop-2026"}

A listed table has the name given for it; all others follow the entry `*`, in whose value `*`
stands for the declared name. Names are replaced below the steps, so that designs, patterns, cursors
and hooks know only declared names; DynamoDB, its errors and streams use the real ones.

A file is read again when it changes: it is checked at most once a second, so that all processes
cut over within a few seconds. If it can no longer be read, that is logged and the names stay.
"""

from __future__ import annotations

import json
import logging
import os
import re
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic
from typing import Any, Final

from bigtime.store.errors import SettingError
from bigtime.store.middleware import AnswerSteps, AsyncMiddlewareTransport, MiddlewareTransport
from bigtime.wire import DynamoDBError, Request, Response

log = logging.getLogger("bigtime.store")

VARIABLE = "BIGTIME_TABLES"
EVERY_OTHER: Final = "*"
LOOK_EVERY_SECONDS: Final = 1.0
NAME = re.compile(r"[a-zA-Z0-9_.-]{3,255}")
NAMING: Final = ("TableName", "SourceTableName", "TargetTableName", "GlobalTableName")
BY_TABLE: Final = ("Responses", "UnprocessedKeys", "UnprocessedItems", "ItemCollectionMetrics")


class TableNames:
    """The real names of tables by their declared names."""

    def __init__(self, names: Mapping[str, str], *, path: Path | None = None) -> None:
        self.names = check_names(names)
        self.path = path
        self.on_change: list[Callable[[], None]] = []
        self._state = None if path is None else state_of(path)
        self._look_at = monotonic() + LOOK_EVERY_SECONDS
        self._lock = threading.Lock()

    @classmethod
    def read(cls, setting: str) -> TableNames:
        """The names in a setting: JSON, or the path of a JSON file."""
        text = setting.strip()
        if text.startswith("{"):
            return cls(parse_names(text, VARIABLE))
        path = Path(text)
        return cls(read_file(path), path=path)

    def real(self, name: str) -> str:
        """A table's name in the database; an ARN is returned as it is."""
        if self.path is not None and monotonic() >= self._look_at:
            self._look_again()
        found = self.names.get(name)
        if found is None:
            rule = self.names.get(EVERY_OTHER)
            found = name if rule is None or name.startswith("arn:") else rule.replace("*", name)
        return found

    def _look_again(self) -> None:
        with self._lock:
            if self.path is None or monotonic() < self._look_at:
                return
            self._look_at = monotonic() + LOOK_EVERY_SECONDS
            try:
                state = state_of(self.path)
                if state == self._state:
                    return
                names = check_names(read_file(self.path))
            except SettingError as error:
                log.warning("%s; the names of tables stay as they are", error)
                return
            self._state = state
            changed, self.names = names != self.names, names
        if changed:
            log.info("the names of tables have changed: %s", names)
            for tell in self.on_change:
                tell()

    # Requests and responses

    def answer(self, request: Request) -> AnswerSteps:
        """Passes a request on with the real names of its tables."""
        renamed, declared = self.request(request)
        try:
            response: Response = yield renamed
        except DynamoDBError as error:
            note_names(error, declared)
            raise
        return declared_response(response, declared)

    def request(self, request: Request) -> tuple[Request, dict[str, str]]:
        """The request with real names, and the declared name of each real name that differs."""
        declared: dict[str, str] = {}
        params = self._params(request.params, declared)
        renamed = Request(request.operation, params, request.pattern, request.is_metered)
        return renamed, declared

    def _params(self, params: Mapping[str, Any], declared: dict[str, str]) -> dict[str, Any]:
        renamed = {**params}
        for name in NAMING:
            if name in renamed:
                renamed[name] = self._rename(renamed[name], declared)
        if "RequestItems" in renamed:
            renamed["RequestItems"] = {
                self._rename(table, declared): given
                for table, given in renamed["RequestItems"].items()
            }
        if "TransactItems" in renamed:
            renamed["TransactItems"] = [
                {kind: self._params(given, declared) for kind, given in entry.items()}
                for entry in renamed["TransactItems"]
            ]
        return renamed

    def _rename(self, name: str, declared: dict[str, str]) -> str:
        real = self.real(name)
        if real != name:
            declared[real] = name
        return real


def declared_response(response: Response, declared: Mapping[str, str]) -> Response:
    """The response with declared names wherever steps use a table's name as a key."""
    if not declared:
        return response
    renamed = {**response}
    for part in BY_TABLE:
        if isinstance(renamed.get(part), dict):
            renamed[part] = {
                declared.get(table, table): given for table, given in renamed[part].items()
            }
    if capacity := renamed.get("ConsumedCapacity"):
        several = isinstance(capacity, list)
        named = [
            {**each, "TableName": declared.get(each["TableName"], each["TableName"])}
            if "TableName" in each
            else each
            for each in (capacity if several else [capacity])
        ]
        renamed["ConsumedCapacity"] = named if several else named[0]
    return renamed


class RenamingTransport(MiddlewareTransport[TableNames]):
    """For a `Store`."""


class AsyncRenamingTransport(AsyncMiddlewareTransport[TableNames]):
    """For an `AsyncStore`."""


def note_names(error: DynamoDBError, declared: Mapping[str, str]) -> None:
    """Adds a note with the real tables of an error."""
    if declared:
        pairs = (f"{name} is {real} here" for real, name in declared.items())
        error.add_note(f"{VARIABLE}: {', '.join(pairs)}.")


# Reading a setting


def read_table_names(given: TableNames | Mapping[str, str] | str | None) -> TableNames | None:
    """The names given, or else those of `BIGTIME_TABLES`; None if all are as declared."""
    if given is None:
        given = os.environ.get(VARIABLE, "").strip() or None
    if given is None or isinstance(given, TableNames):
        return given
    return TableNames.read(given) if isinstance(given, str) else TableNames(given)


def read_file(path: Path) -> dict[str, str]:
    try:
        text = path.read_text()
    except OSError as error:
        raise SettingError(
            f'{VARIABLE} is neither JSON, as in {{"*": "staging-*"}}, nor a file that can be'
            f" read: {path}: {error.strerror}"
        ) from error
    return parse_names(text, str(path))


def parse_names(text: str, where: str) -> dict[str, str]:
    try:
        names = json.loads(text)
    except ValueError as error:
        raise SettingError(f"{where} has no JSON, as {{}} is: {error}") from None
    if not isinstance(names, dict):
        raise SettingError(f'{where} must be an object of names, as in {{"Shop": "Shop-2"}}')
    return names


def check_names(names: Mapping[str, Any]) -> dict[str, str]:
    taken: dict[str, str] = {}
    for name, real in names.items():
        if not isinstance(real, str):
            raise SettingError(f"the name of table {name} must be a text, not {real!r}")
        if name == EVERY_OTHER and "*" not in real:
            raise SettingError(f"the rule {real!r} would give all tables one name; use staging-*")
        if not NAME.fullmatch(real.replace("*", "Shop") if name == EVERY_OTHER else real):
            raise SettingError(
                f"{real!r} cannot be a table's name: it has 3 to 255 of the characters a-z, A-Z,"
                " 0-9, _, - and ."
            )
        if taken.setdefault(real, name) != name:
            raise SettingError(f"tables {taken[real]} and {name} would both be {real}")
    return dict(names)


def state_of(path: Path) -> tuple[int, int, int]:
    """A value that changes when the file does."""
    try:
        found = path.stat()
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror}") from error
    return found.st_ino, found.st_mtime_ns, found.st_size
