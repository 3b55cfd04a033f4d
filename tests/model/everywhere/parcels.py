"""A design with a field of every type, keys of every type, and all that a table can have."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel

from bigtime.model import (
    Entity,
    EpochSeconds,
    Keys,
    Ksuid,
    Millis,
    Secret,
    System,
    Table,
    View,
    binary,
    camel_case,
    global_index,
    local_index,
    number,
)

PARCELS = Table(
    "Parcels",
    "sender",
    number("weight"),
    indexes=[
        global_index("ByDigest", binary("digest"), number("price"), include=["senderName"]),
        global_index("ByState", "state", "parcelId", keys_only=True),
        local_index("ByDay", "day"),
    ],
    naming=camel_case,
    ttl="expiresAt",
    stream="NEW_AND_OLD_IMAGES",
    deletion_protection=True,
    tags={"Team": "post", "Cost centre": "12"},
)


class State(StrEnum):
    SENT = "SENT"
    LOST = "LOST"


class Place(BaseModel):
    city: str
    lines: list[str] = []
    codes: set[int] = set()


class Parcel(Entity, table=PARCELS):
    keys = Keys(
        main=("{sender}", "{weight}"),
        ByDigest=("{digest}", "{price}"),
        ByState=("{state}", "{parcel_id}"),
        ByDay=("{sender}", "{day}"),
    )
    sender: UUID
    weight: Decimal
    parcel_id: Ksuid
    state: State = State.SENT
    digest: bytes | None = None
    price: Decimal | None = None
    day: date | None = None
    sender_name: str | None = None
    is_fragile: bool = False
    count: int = 1
    sent_at: datetime | None = None
    seen_at: Annotated[datetime, Millis] | None = None
    expires_at: Annotated[datetime, EpochSeconds] | None = None
    target: Place | None = None
    stops: list[Place] = []
    notes: dict[str, str] = {}
    tags: set[str] = set()
    numbers: set[Decimal] = set()
    seals: set[bytes] = set()
    pin: Annotated[str | None, Secret] = None


class Priced(View, of=Parcel, index="ByDigest"):
    sender: UUID
    weight: Decimal
    price: Decimal
    sender_name: str | None = None


class Stated(View, of=Parcel, index="ByState"):
    parcel_id: Ksuid
    sender: UUID


SYSTEM = System("parcels", (PARCELS,))
