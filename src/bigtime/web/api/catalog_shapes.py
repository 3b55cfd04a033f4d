"""The names, texts, numbers and times of the catalogue as requests give them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Final

from pydantic import AwareDatetime, Field, WithJsonSchema

from bigtime.systems.catalog.values import (
    MOST_DESCRIPTION,
    MOST_EMAIL,
    MOST_ID,
    MOST_LINK,
    MOST_NAME,
    Count,
    Description,
    Email,
    Id,
    Link,
    Name,
    Percentage,
    Price,
)
from bigtime.web.api.errors import TOLD
from bigtime.web.api.times import WRITTEN_MOMENT

CREATED: Final = "2024-01-15T10:00:00Z"
FIRST_MOMENT: Final = datetime(1970, 1, 1, tzinfo=UTC)
LAST_MOMENT: Final = datetime(9000, 1, 1, tzinfo=UTC)


Moment = Annotated[AwareDatetime, WRITTEN_MOMENT, Field(ge=FIRST_MOMENT, le=LAST_MOMENT)]
"""A time with its time zone."""
GivenId = Annotated[Id, TOLD, Field(min_length=1, max_length=MOST_ID, examples=["deal-12345"])]
GivenName = Annotated[Name, TOLD, Field(min_length=1, max_length=MOST_NAME)]
GivenDescription = Annotated[Description, TOLD, Field(max_length=MOST_DESCRIPTION)]
GivenEmail = Annotated[
    Email, TOLD, Field(min_length=1, max_length=MOST_EMAIL, examples=["john.doe@example.com"])
]
GivenLink = Annotated[
    Link, TOLD, Field(min_length=1, max_length=MOST_LINK, examples=["https://shop.example/1.png"])
]
GivenPrice = Annotated[
    Price,
    TOLD,
    Field(max_digits=14, decimal_places=2),
    WithJsonSchema({"type": "number", "minimum": 0.01, "maximum": 10**11, "examples": [149.99]}),
]
GivenPercentage = Annotated[
    Percentage,
    TOLD,
    Field(max_digits=6, decimal_places=4),
    WithJsonSchema({"type": "number", "minimum": 0, "exclusiveMaximum": 100, "examples": [50]}),
]
MOST_COUNTED: Final = 10**9
GivenCount = Annotated[Count, TOLD, Field(ge=0, le=MOST_COUNTED)]
