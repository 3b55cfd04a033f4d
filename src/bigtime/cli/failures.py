"""What goes wrong while a pattern runs, each told in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import ValidationError

from bigtime.cli.engine import refuse
from bigtime.model import DesignError, DomainError, ItemMismatch, ValueRefused
from bigtime.wire import ResourceNotFoundException


@contextmanager
def failures_as_sentences(system: str, store: str | None = None) -> Iterator[None]:
    """Ends the program with a sentence; `system` and `store` are as they were typed."""
    try:
        yield
    except DomainError as error:
        refuse(f"{sentence(str(error))} ({error.code})")
    except ValidationError as error:
        refuse(f"{error.title} cannot be so: {fault_text(error)}. (value-refused)")
    except ValueRefused as error:
        refuse(f"{sentence(str(error))} (value-refused)")
    except ItemMismatch as error:
        refuse(f"{sentence(str(error))} (item-mismatch)")
    except DesignError as error:
        refuse(f"{sentence(str(error))} (design-error)")
    except ResourceNotFoundException:
        refuse(f"The store lacks tables of {system}: {remedy(system, store)}")


def remedy(system: str, store: str | None) -> str:
    place = "" if store is None else f" --store {store}"
    return f"make what is missing with `bigtime tables create {system}{place}`."


def sentence(text: str) -> str:
    """Errors of the kit have no full stop, those of a domain may have one."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def fault_text(error: ValidationError) -> str:
    """What is wrong with a value, and where in it."""
    found = error.errors()
    places = (".".join(map(str, one["loc"])) for one in found)
    told = (one["msg"].removeprefix("Value error, ") for one in found)
    return "; ".join(
        f"{where}: {what}" if where else what for where, what in zip(places, told, strict=True)
    )
