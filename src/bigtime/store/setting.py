"""The one setting that chooses where an application's data is stored.

`BIGTIME_STORE` is one of

    file:shop.db              the engine in this process, on a file
    memory:                   the engine in this process; the data is lost when it ends
    dynamodb:af-south-1       Amazon DynamoDB in a region
    http://127.0.0.1:8000     an endpoint that speaks DynamoDB

The last two use the credentials that botocore finds, unless a boto3 `session`, a `profile` of AWS's
configuration files, or the ARN of a `role` to assume is given. (Over plain HTTP the credentials are
made up.)

The environment is read only when a store is opened, for values that are not given.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from bigtime.store.async_store import AsyncStore, AsyncTransport, SubmittingEngine
from bigtime.store.cache import AsyncCachedTransport, CachedTransport, ItemCache
from bigtime.store.errors import SettingError
from bigtime.store.fence import AsyncFencedTransport, Fence, FencedTransport, read_fence
from bigtime.store.store import Store
from bigtime.store.table_names import (
    AsyncRenamingTransport,
    RenamingTransport,
    TableNames,
    read_table_names,
)
from bigtime.wire import Transport

if TYPE_CHECKING:
    from bigtime.engine import Engine

VARIABLE = "BIGTIME_STORE"
CHOICES = (
    "file:shop.db (a file), memory: (nothing is kept), dynamodb:af-south-1 (a region of AWS) "
    "or http://127.0.0.1:8000 (an endpoint)"
)
# As us-east-1, us-gov-west-1, or eusc-de-east-1 (the AWS European Sovereign Cloud).
REGION = re.compile(r"[a-z]{2,4}(-[a-z]+)+-\d+")

Tables: TypeAlias = TableNames | Mapping[str, str] | str
Kind: TypeAlias = Literal["file", "memory", "dynamodb", "endpoint"]


class Setting(NamedTuple):
    """A kind of store, and its path, region or URL."""

    kind: Kind
    place: str


def open_store(
    setting: str | None = None,
    *,
    cache: ItemCache | None = None,
    session: Any = None,
    profile: str | None = None,
    role: str | None = None,
    tables: Tables | None = None,
    fence: str | None = None,
    region: str | None = None,
    **options: Any,
) -> Store:
    """The store that the setting or else `BIGTIME_STORE` names; closing it closes everything.

    With a cache, eventually consistent reads are answered from it. `tables` maps declared tables to
    their real names (default: `BIGTIME_TABLES`). `fence` names a system (default: `BIGTIME_FENCE`):
    writes are refused in any region but the system's writer. `region` is the region of a file whose
    tables have no replicas yet. `session` is a boto3 session; `profile` is a name in AWS's
    configuration files; `role` is the ARN of a role to assume with the credentials of either. The
    options are those of `Store`.
    """
    names = read_table_names(tables)
    kind, place = read_setting(describe_choice(setting))
    identity = identity_of(kind, session=session, profile=profile, role=role)
    if kind in ("file", "memory"):
        engine = open_engine(place, region)
        guard = fence_of(fence, engine.region, names)
        return blocking_store(engine, cache, names, guard, engine.close, options)

    from bigtime.store.botocore_transport import BotocoreTransport

    transport = BotocoreTransport(**destination(kind, place), **identity)
    guard = fence_of(fence, transport.endpoint.region, names)
    return blocking_store(transport, cache, names, guard, transport.close, options)


def open_async_store(
    setting: str | None = None,
    *,
    cache: ItemCache | None = None,
    session: Any = None,
    profile: str | None = None,
    role: str | None = None,
    tables: Tables | None = None,
    fence: str | None = None,
    **options: Any,
) -> AsyncStore:
    """As `open_store`, for an event loop. The options are those of `AsyncStore`."""
    names = read_table_names(tables)
    kind, place = read_setting(describe_choice(setting))
    identity = identity_of(kind, session=session, profile=profile, role=role)
    if kind in ("file", "memory"):
        engine = open_engine(place)
        close = partial(asyncio.to_thread, engine.close)
        guard = fence_of(fence, engine.region, names)
        return awaiting_store(engine, cache, names, guard, close, options)

    from bigtime.store.http_transport import HttpTransport

    transport = HttpTransport(**destination(kind, place), **identity)
    guard = fence_of(fence, transport.endpoint.region, names)
    return awaiting_store(transport, cache, names, guard, transport.close, options)


def fence_of(system: str | None, region: str, names: TableNames | None) -> Fence | None:
    wanted = read_fence(system)
    return Fence(wanted, region, names) if wanted else None


def identity_of(kind: Kind, **given: Any) -> dict[str, Any]:
    """The arguments given for credentials; raises if they cannot be combined."""
    identity = {name: value for name, value in given.items() if value is not None}
    if identity and kind in ("file", "memory"):
        raise SettingError(
            f"A {' and a '.join(identity)} is for a store on AWS; {kind}: needs no credentials."
        )
    if "session" in identity and "profile" in identity:
        raise SettingError("A session has its profile: give the one or the other.")
    return identity


def blocking_store(
    transport: Transport,
    cache: ItemCache | None,
    names: TableNames | None,
    fence: Fence | None,
    close: Callable[[], None],
    options: dict[str, Any],
) -> Store:
    """The cache lies below the renaming, so that it never answers for a table that was cut over."""
    if cache is not None:
        transport = CachedTransport(transport, cache)
    if fence is not None:
        transport = FencedTransport(transport, fence)
    if names is not None:
        transport = RenamingTransport(transport, names)
    store = Store(transport, closes=[close], **options)
    if names is not None:
        names.on_change.append(store.forget)
    return store


def awaiting_store(
    transport: AsyncTransport | SubmittingEngine,
    cache: ItemCache | None,
    names: TableNames | None,
    fence: Fence | None,
    close: Callable[[], Awaitable[None]],
    options: dict[str, Any],
) -> AsyncStore:
    if cache is not None:
        transport = AsyncCachedTransport(transport, cache)
    if fence is not None:
        transport = AsyncFencedTransport(transport, fence)
    if names is not None:
        transport = AsyncRenamingTransport(transport, names)
    store = AsyncStore(transport, closes=[close], **options)
    if names is not None:
        names.on_change.append(store.forget)
    return store


def describe_choice(setting: str | None) -> str:
    text = os.environ.get(VARIABLE, "") if setting is None else setting
    if not text.strip():
        raise SettingError(f"No store is chosen: set {VARIABLE} to {CHOICES}.")
    return text.strip()


def read_setting(text: str) -> Setting:
    """The store that a setting names; a `SettingError` says what is wrong with it."""
    scheme, colon, place = text.partition(":")
    match scheme.lower(), colon:
        case "file", ":":
            return Setting("file", file_in(place))
        case "memory", ":":
            if place:
                raise SettingError(
                    f"memory: takes nothing after it; to keep the data, file:{place}."
                )
            return Setting("memory", "")
        case "dynamodb", ":":
            return Setting("dynamodb", region_in(place))
        case "http" | "https", ":":
            return Setting("endpoint", endpoint_in(text))
    raise SettingError(f"{text!r} names no store: it may be {CHOICES}.")


def file_in(place: str) -> str:
    if not place:
        raise SettingError("file: needs a path after it, as in file:shop.db.")
    if place.startswith("//"):
        raise SettingError(f"file: takes a plain path, not a URL: file:{place.lstrip('/')}, say.")
    if Path(place).is_dir():
        raise SettingError(f"file:{place} is a directory; name a file in it.")
    return place


def region_in(place: str) -> str:
    if not REGION.fullmatch(place):
        raise SettingError(
            f"dynamodb:{place} names no region of AWS: one looks like dynamodb:af-south-1."
        )
    return place


def endpoint_in(text: str) -> str:
    try:
        parts = urlsplit(text)
        complete = bool(parts.hostname) and parts.port != 0
    except ValueError:
        complete = False
    if "@" in text:
        raise SettingError(
            "An endpoint takes no name and password, and is no endpoint with them: one looks like"
            " http://127.0.0.1:8000, and credentials are where botocore looks for them."
        )
    if not complete or parts.path.strip("/") or parts.query or parts.fragment:
        raise SettingError(f"{text!r} is no endpoint: one looks like http://127.0.0.1:8000.")
    return text.rstrip("/")


def open_engine(path: str, region: str | None = None) -> Engine:
    """The engine on that file, created if it is missing; in memory if the path is empty."""
    settings: dict[str, Any] = {} if region is None else {"region": region}
    import apsw

    from bigtime.engine import Engine, FileFormatError

    if not path:
        return Engine.memory(**settings)
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        return Engine.open(path, **settings)
    except OSError as error:
        raise SettingError(f"file:{path} cannot be opened: {error.strerror}.") from error
    except (apsw.Error, FileFormatError) as error:
        raise SettingError(f"file:{path} cannot be opened: {error}") from error


def destination(kind: Kind, place: str) -> dict[str, Any]:
    return {"region": place} if kind == "dynamodb" else {"url": place}
