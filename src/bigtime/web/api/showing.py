"""How what steps give is shown: one thing, a page of things, or nothing at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from bigtime.web.api.paging import Listed, listed
from bigtime.web.api.shapes import Shown
from bigtime.web.pages import Site

S = TypeVar("S", bound=Shown)


@dataclass(frozen=True, slots=True)
class Showing:
    """The shape of an answer, and how it is made."""

    model: type[Shown]
    show: Callable[[Site, Any], Shown]


def one(shape: type[S]) -> Showing:
    """A thing as it is, in the fields that its shape names."""
    return Showing(shape, lambda site, found: shape.model_validate(found))


def page_of(shape: type[S]) -> Showing:
    """A page, with the cursor of the next."""
    model: Any = Listed[shape]  # type: ignore[valid-type]
    return Showing(model, lambda site, page: listed(site, page, shape.model_validate))


def made_by(shape: type[S], show: Callable[[Any], S]) -> Showing:
    """A thing that takes some words to show."""
    return Showing(shape, lambda site, found: show(found))
