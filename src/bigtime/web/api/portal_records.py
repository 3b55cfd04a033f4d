"""`/v1.0`: what the bodies of tenants, products, campaigns and orders have in common.

Who changed a record last is for admins: everybody else is told nothing of who works here.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, TypeAlias

from fastapi import Query
from pydantic import Field

from bigtime.web.api.bodies import OPTIONAL, Immutable, RequestBody, ResponseBody

CREATED: Final = "2025-12-19T10:30:00Z"

IncludeInactive: TypeAlias = Annotated[
    bool,
    Query(alias="includeInactive", description="Whether archived ones are listed too; for admins."),
]


class RecordShown(ResponseBody):
    """The fields that the portal fills."""

    id: str
    active: bool = Field(description="Whether it is there; false is what deleting means here.")
    date_created: datetime
    date_last_updated: datetime
    last_updated_by: str | None = Field(description="For admins; null for everybody else.")


class RecordChanged(RequestBody):
    """What no request changes of a record."""

    id: Immutable = OPTIONAL
    date_created: Immutable = OPTIONAL
    date_last_updated: Immutable = OPTIONAL
    last_updated_by: Immutable = OPTIONAL


def visible_fields(fields: dict[str, Any], to_admin: bool) -> dict[str, Any]:
    """The fields of a record, as far as the caller may see them."""
    return {**fields, "last_updated_by": fields["last_updated_by"] if to_admin else None}
