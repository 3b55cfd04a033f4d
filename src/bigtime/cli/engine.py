"""`bigtime engine`: the engine as a separate server."""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, TypeAlias, TypedDict

import apsw
import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from bigtime.cli.packages import engines, ssl
from bigtime.cli.screen import refuse, refuse_on, say

DEFAULT_DATA = Path("data/bigtime.db")

Durability: TypeAlias = Literal["full", "relaxed"]
Replication: TypeAlias = Literal["async", "sync"]

engine = typer.Typer(name="engine", help="DynamoDB in a file, for any AWS SDK.")


class EngineSettings(TypedDict):
    regions: list[str]
    replication: Replication
    s3_folder: Path | None


@engine.command()
def serve(
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="PATH",
            help=f"The file that holds the tables; made if missing.  \\[default: {DEFAULT_DATA}]",
        ),
    ] = None,
    memory: Annotated[
        bool,
        typer.Option(
            "--memory", help="Keep the tables in memory; they are gone when the server stops."
        ),
    ] = False,
    host: Annotated[
        str,
        typer.Option(
            "--host",
            help="The address to listen on: loopback, or any with --users and --certificate.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="The port; 0 takes any free one.")
    ] = 8000,
    durability: Annotated[
        Durability,
        typer.Option(
            "--durability",
            help="full: a write is on disk before it is acknowledged. relaxed: faster, but a "
            "power cut may lose the last writes.",
        ),
    ] = "full",
    lock_seconds: Annotated[
        float,
        typer.Option(
            "--lock-seconds",
            min=0,
            envvar="BIGTIME_LOCK_SECONDS",
            help="How long a write waits for another process that is writing the file.",
        ),
    ] = 10.0,
    regions: Annotated[
        str,
        typer.Option(
            "--regions",
            metavar="NAMES",
            help="Regions other than us-east-1 that have their own file, separated by commas. "
            "A region also gets one by its first replica.",
        ),
    ] = "",
    replication: Annotated[
        Replication,
        typer.Option(
            "--replication",
            help="async: replicas follow. sync: a write is acknowledged once it is committed in "
            "every replica of its table.",
        ),
    ] = "async",
    s3: Annotated[
        Path | None,
        typer.Option(
            "--s3",
            metavar="DIR",
            help="The folder that stands in for S3 in exports and imports: a folder in it is a "
            "bucket.  \\[default: beside the data, with -s3 after its name]",
        ),
    ] = None,
    users: Annotated[
        Path | None,
        typer.Option(
            "--users",
            metavar="FILE",
            help="Users with access keys and policies, as JSON: requests must be signed by one of "
            "them, and are denied what their policies do not allow.",
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option("--certificate", metavar="FILE", help="A certificate (PEM), to serve TLS."),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option("--key", metavar="FILE", help="The private key of the certificate (PEM)."),
    ] = None,
    workers: Annotated[
        int, typer.Option("--workers", min=1, help="How many processes serve the port.")
    ] = 1,
) -> None:
    """Serve the DynamoDB API over HTTP, to this machine only, until Ctrl+C or SIGTERM.

    With users and a certificate it can serve other machines too.
    """
    if memory and data is not None:
        refuse("Choose --data PATH or --memory, not both.", code=2)
    if memory and workers > 1:
        refuse("--memory is for one process: choose --data PATH for --workers.", code=2)
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    os.umask(0o077)  # only the owner may read what is stored
    path = None if memory else data or DEFAULT_DATA
    extra: EngineSettings = {
        "regions": [name for name in regions.split(",") if name],
        "replication": replication,
        "s3_folder": s3,
    }
    security = Security(read_access_keys(users), read_certificate(certificate, key), users)
    open_it = partial(open_engine, path, durability, lock_seconds, extra)
    serve_until_stopped(open_it, path, host=host, port=port, security=security, workers=workers)


FILE = typer.Argument(metavar="FILE", help="The data file.", show_default=False)


@engine.command()
def scrub(
    file: Annotated[Path, FILE],
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Repair indexes and counts; damaged items are only reported."
        ),
    ] = False,
) -> None:
    """Check indexes, counts, sizes and streams against the items, while the file is in use.

    The exit code is 1 if something is wrong and was not repaired.
    """
    with sentences(file), Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task(escape(str(file)), total=None)

        def show(what: str, at: int, of: int) -> None:
            bar.update(task, description=escape(what), completed=at, total=of or None)

        findings = engines.scrub_file(file, repair=repair, progress=show)
    for fault in findings.faults:
        mark = "repaired" if fault.is_repaired else "wrong"
        say(f"{mark}: {fault.table}: {fault.what}")
    looked = f"{findings.tables:,} tables, {findings.items:,} items, {findings.entries:,} index"
    left, repaired = len(findings.faults_left), len(findings.faults) - len(findings.faults_left)
    say(
        f"{looked} entries, {findings.records:,} stream records: {left:,} wrong, "
        f"{repaired:,} repaired"
    )
    if left:
        raise typer.Exit(1)


@engine.command()
def compact(file: Annotated[Path, FILE]) -> None:
    """Rewrite the file, without free pages and with a checksum on each page.

    No other process may have it open. The new file is made beside the old one and then takes its
    place, so the disk needs room for both.
    """
    with sentences(file):
        done = engines.compact(file)
    checksums = "with checksums" if done.has_checksums else "without checksums: apsw lacks cksumvfs"
    say(f"{file}: {done.bytes_before:,} bytes before, {done.bytes_after:,} after, {checksums}")


@contextmanager
def sentences(path: Path) -> Iterator[None]:
    """Ends the program with a sentence when a file cannot be opened."""
    try:
        yield
    except OSError as error:
        refuse(f"{path} cannot be opened: {error.strerror}.")
    except apsw.Error as error:
        refuse(f"{path} cannot be opened: {error}.")
    except engines.FileFormatError as error:
        refuse(str(error))


def open_engine(
    path: Path | None, durability: Durability, lock_seconds: float, extra: EngineSettings
) -> engines.Engine:
    s3 = extra["s3_folder"]
    if s3 is not None and not s3.is_dir():
        refuse(f"{s3} is no folder: make it, with a folder in it for each bucket.")
    if path is not None and path.is_dir():
        refuse(f"{path} is a directory; name a file in it.")
    try:
        if path is None:
            return engines.Engine.memory(**extra)
        with sentences(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            return engines.Engine.open(
                path, durability=durability, lock_seconds=lock_seconds, **extra
            )
    except ValueError as error:  # from an invalid region
        refuse(f"{error}.", code=2)


class Security(NamedTuple):
    """Who may use the endpoint, and the certificate that it presents."""

    users: engines.AccessKeys | None
    certificate: ssl.SSLContext | None
    users_file: Path | None


def read_access_keys(file: Path | None) -> engines.AccessKeys | None:
    if file is None:
        return None
    with refuse_on(engines.UsersFileError):
        return engines.read_users(file)


def read_certificate(certificate: Path | None, key: Path | None) -> ssl.SSLContext | None:
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        refuse("--certificate and --key go together: give both files.", code=2)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key)
    except ssl.SSLError as error:
        refuse(
            f"{certificate} and {key} are not a certificate and its private key in PEM: "
            f"{error.reason or error}."
        )
    except OSError as error:
        refuse(f"{certificate} and {key} cannot be read: {error.strerror}.")
    return context


def serve_until_stopped(
    open_it: Callable[[], engines.Engine],
    path: Path | None,
    *,
    host: str,
    port: int,
    security: Security,
    workers: int,
) -> None:
    def announce(port: int) -> None:
        scheme = "http" if security.certificate is None else "https"
        url = f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"
        say(f"The engine listens on {url}", style="bold")
        say(directions(url, path, security.users_file))

    users, certificate, _ = security
    try:
        if workers == 1:
            engines.serve(
                open_it(),
                host=host,
                port=port,
                on_ready=announce,
                users=users,
                certificate=certificate,
            )
            return
        code = engines.serve_workers(
            open_it,
            workers=workers,
            host=host,
            port=port,
            on_ready=announce,
            users=users,
            certificate=certificate,
        )
    except engines.NotLoopback as error:
        refuse(str(error), code=2)
    except OSError as error:
        refuse(why_not(error, port))
    if code:
        raise typer.Exit(code)


def why_not(error: OSError, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} is taken: another program listens there. Choose another with --port."
    if error.errno == errno.EACCES:
        return f"Port {port} is not for ordinary users. Choose one above 1023 with --port."
    return f"The endpoint cannot listen on port {port}: {error.strerror}."


def directions(url: str, path: Path | None, users_file: Path | None) -> str:
    kept = path or "in memory: it goes when this program ends"
    keys = 'aws_access_key_id="local", aws_secret_access_key="local"'
    any_sdk = "any region and any credentials will do: signatures are not checked"
    if users_file is not None:
        keys = "aws_access_key_id=..., aws_secret_access_key=..."
        any_sdk = f"any region; requests are signed with an access key in {users_file}"
    boto3 = f'boto3.client("dynamodb", endpoint_url="{url}", region_name="us-east-1", {keys})'
    return (
        f"\ndata     {kept}"
        f"\nboto3    {boto3}"
        f"\nAWS CLI  aws dynamodb list-tables --endpoint-url {url} --region us-east-1"
        f"\nany SDK  {any_sdk}"
        "\n\nCtrl+C stops it."
    )
