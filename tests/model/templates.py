"""Templates, fields and values for the tests of key templates."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from bigtime.model.schema.encoding import Role
from bigtime.model.schema.ksuid import Ksuid
from bigtime.model.schema.template import Template


class Status(StrEnum):
    ACTIVE = "ACTIVE"
    PURCHASED = "PURCHASED"
    SAVED = "SAVED"


FIELDS: dict[str, Any] = {
    "deal_id": Ksuid,
    "brand": str,
    "category": str,
    "username": str,
    "email": str,
    "order_id": str,
    "item_id": str,
    "created_at": datetime,
    "status": Status,
    "entered_at": datetime,
    "sku": str,
    "sequence": int,
    "shard": int,
    "table": str,
    "id": str,
    "active": bool,
    "country": str,
    "state": str,
    "city": str,
    "zip_code": str,
    "timestamp": str,
    "activity_id": str,
    "purpose": str,
    "score": int,
    "discount": Decimal,
    "digest": bytes,
    "left_on": date | None,
}


def template(text: str, role: Role = "sort", *, continued: bool = False) -> Template:
    return Template(text, FIELDS, role=role, continued=continued)


def day_of(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)
