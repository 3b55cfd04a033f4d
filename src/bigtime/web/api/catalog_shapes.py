"""The names, texts, numbers and times of the catalogue as requests give them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Final

from pydantic import AwareDatetime, Field, WithJsonSchema

from bigtime.systems import catalog
from bigtime.web.api.errors import TOLD
from bigtime.web.api.times import WRITTEN_MOMENT

CREATED: Final = "2024-01-15T10:00:00Z"
FIRST_MOMENT: Final = datetime(1970, 1, 1, tzinfo=UTC)
LAST_MOMENT: Final = datetime(9000, 1, 1, tzinfo=UTC)


Moment = Annotated[AwareDatetime, WRITTEN_MOMENT, Field(ge=FIRST_MOMENT, le=LAST_MOMENT)]
"""A time with its time zone."""
GivenId = Annotated[
    catalog.Id, TOLD, Field(min_length=1, max_length=catalog.MOST_ID, examples=["deal-12345"])
]
GivenName = Annotated[catalog.Name, TOLD, Field(min_length=1, max_length=catalog.MOST_NAME)]
GivenDescription = Annotated[catalog.Description, TOLD, Field(max_length=catalog.MOST_DESCRIPTION)]
GivenEmail = Annotated[
    catalog.Email,
    TOLD,
    Field(min_length=1, max_length=catalog.MOST_EMAIL, examples=["john.doe@example.com"]),
]
GivenLink = Annotated[
    catalog.Link,
    TOLD,
    Field(min_length=1, max_length=catalog.MOST_LINK, examples=["https://shop.example/1.png"]),
]
GivenPrice = Annotated[
    catalog.Price,
    TOLD,
    Field(max_digits=14, decimal_places=2),
    WithJsonSchema({"type": "number", "minimum": 0.01, "maximum": 10**11, "examples": [149.99]}),
]
GivenPercentage = Annotated[
    catalog.Percentage,
    TOLD,
    Field(max_digits=6, decimal_places=4),
    WithJsonSchema({"type": "number", "minimum": 0, "exclusiveMaximum": 100, "examples": [50]}),
]
MOST_COUNTED: Final = 10**9
GivenCount = Annotated[catalog.Count, TOLD, Field(ge=0, le=MOST_COUNTED)]
