"""`bigtime serve`: the site and its worker, until they are told to stop."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bigtime.cli.engine import refuse


def serve(
    host: Annotated[
        str | None,
        typer.Option("--host", help="The address to listen on.  \\[default: 127.0.0.1]"),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65535, help="The port.  \\[default: 8080]"),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            help="Where the data is, as in BIGTIME_STORE.  \\[default: file:data/bigtime.db]",
        ),
    ] = None,
) -> None:
    """Start the site with its stream consumers; on first start, with tables and demo data."""
    from pydantic import ValidationError

    from bigtime.model import DomainError
    from bigtime.store import SettingError, TransportError
    from bigtime.web import Settings, setting_faults
    from bigtime.web import serve as serving
    from bigtime.wire import DynamoDBError

    given: dict[str, Any] = {"host": host, "port": port, "store": store}
    try:
        settings = Settings(**{name: one for name, one in given.items() if one is not None})
        serving(settings, tell=typer.echo)
    except ValidationError as error:
        refuse("\n".join(setting_faults(error)), code=2)
    except (SettingError, DomainError) as error:
        refuse(str(error), code=2)
    except (TransportError, DynamoDBError) as error:
        refuse(f"The store does not answer: {error}")
    except OSError as error:
        refuse(f"{error.filename or 'The site'} cannot be used: {error.strerror}.")
