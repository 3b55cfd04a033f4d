"""The stores of an environment: whether a setting belongs to it, and a store for each region.

On AWS each region has its own endpoint. A custom endpoint is asked for a region by the signature. A
file holds the home region, and the file beside it the other one (`shop.eu-west-1.db`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bigtime import store
from bigtime.model import Environment
from bigtime.wire import Transport

if TYPE_CHECKING:
    from bigtime.engine import Engine

HURRIED = store.Retries(attempts=3)
"""A region that does not answer may be lost, which has to be noticed quickly."""


def check_store(environment: Environment, setting: str | None) -> None:
    """Refuses a store on AWS in another region or account than the environment's.

    A file, an engine in memory and an endpoint have no account, and pass.
    """
    kind, place = store.read_setting(store.describe_choice(setting))
    if kind != "dynamodb":
        return
    if place not in environment.regions:
        raise store.SettingError(
            f"dynamodb:{place} is not where {environment.name} is: its tables are in"
            f" {' and '.join(environment.regions)}. Name one of these, or another environment."
        )
    if environment.account is None:
        return
    found = caller_account(place)
    if found != environment.account:
        raise store.SettingError(
            f"The credentials are for account {found}, and {environment.name} is account"
            f" {environment.account}: choose the profile or role of {environment.name}."
        )


def caller_account(region: str) -> str:
    """The account that the credentials belong to, according to STS."""
    from botocore.exceptions import BotoCoreError, ClientError
    from botocore.session import get_session

    try:
        client: Any = get_session().create_client("sts", region_name=region)
        account: str = client.get_caller_identity()["Account"]
    except (BotoCoreError, ClientError) as error:
        raise store.SettingError(
            f"AWS does not tell whose credentials these are: {error}"
        ) from error
    return account


# All regions


@contextmanager
def open_regions(
    setting: str | None, environment: Environment, *, without: str | None = None
) -> Iterator[Mapping[str, store.Store]]:
    """The stores of the regions, by region; `without` is left out, and not contacted."""
    kind, place = store.read_setting(store.describe_choice(setting))
    wanted = [region for region in environment.regions if region != without]
    if kind == "memory":
        raise store.SettingError(
            "memory: has no second region that lasts: name a file, as file:shop.db."
        )
    with ExitStack() as stack:
        if kind == "file":
            transports = stack.enter_context(region_files(Path(place), environment, wanted))
        else:
            url = None if kind == "dynamodb" else place
            transports = {
                region: stack.enter_context(closing(store.BotocoreTransport(region, url=url)))
                for region in wanted
            }
        yield {region: store_of(transport) for region, transport in transports.items()}


def store_of(transport: Transport) -> store.Store:
    names = store.read_table_names(None)
    if names is not None:
        transport = store.RenamingTransport(transport, names)
    return store.Store(transport, retries=HURRIED)


@contextmanager
def region_files(
    path: Path, environment: Environment, wanted: list[str]
) -> Iterator[dict[str, Transport]]:
    """Transports to the files: one engine for all, if the home region is among them."""
    from bigtime.engine import Engine

    home, *others = environment.regions
    base = home_file(path, others)
    files = [base, *(region_file(base, region) for region in others)]
    if not any(file.is_file() for file in files):
        names = " or ".join(map(str, files))
        raise store.SettingError(
            f"file:{path} does not answer: there is no file {names}. Check --store and"
            " BIGTIME_STORE; if the tables were never made, `bigtime tables create` makes them."
        )
    there = {
        region: file
        for region, file in zip(environment.regions, files, strict=True)
        if region in wanted and file.is_file()
    }
    with ExitStack() as stack:
        if there.pop(home, None) is None:
            yield {
                region: stack.enter_context(Engine.open(file, region=region))
                for region, file in there.items()
            }
        else:
            engine = stack.enter_context(Engine.open(base, region=home))
            check_home(engine, home)
            yield {home: engine, **{region: engine.in_region(region) for region in there}}


def check_home(engine: Engine, home: str) -> None:
    if engine.region != home:
        raise store.SettingError(
            f"The tables in {engine.path} have replicas as tables of {engine.region}, and the"
            f" environment is in {home}: delete their replicas, then let `bigtime tables create`"
            " make them with --environment."
        )


def region_file(base: Path, region: str) -> Path:
    return base.with_name(f"{base.stem}.{region}{base.suffix}")


def home_file(path: Path, others: list[str]) -> Path:
    """The file of the home region, even if the path is another region's."""
    for region in others:
        if path.stem.endswith(f".{region}"):
            return path.with_name(path.stem.removesuffix(f".{region}") + path.suffix)
    return path
