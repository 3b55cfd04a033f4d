"""Times as people write them: pydantic would also take a number of seconds for one."""

from __future__ import annotations

import re
from typing import Any, Final

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

MOMENT: Final = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}")
DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def written_moment(value: Any) -> Any:
    if not (isinstance(value, str) and MOMENT.match(value)):
        raise PydanticCustomError("moment", "A time is written as in 2026-03-10T12:00:00Z.")
    return value


def written_day(value: Any) -> Any:
    if not (isinstance(value, str) and DAY.fullmatch(value)):
        raise PydanticCustomError("day", "A day is written as in 2026-03-10.")
    return value


WRITTEN_MOMENT: Final = BeforeValidator(written_moment)
WRITTEN_DAY: Final = BeforeValidator(written_day)
