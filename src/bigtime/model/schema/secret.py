"""Secrets: fields that are stored, and displayed nowhere.

`Annotated[X, Secret]` makes a field of any type secret, wherever the mark stands in the type:
`SecretText | None`, `list[SecretText]`, a field of a model inside an entity. `repr` omits it, and
where the kit displays an item or a key, in errors and explanations, it shows `***` instead.

Requests, responses, items and positions contain the real value: logging them reveals it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel

HIDDEN = "***"


class Secret:
    """Marks a field as never displayed: `hash: Annotated[str, Secret]`."""


SecretText = Annotated[str, Secret]


def hide(named: Mapping[str, Any], hidden: Collection[str]) -> dict[str, Any]:
    """Named values for display, with `***` for those that are hidden."""
    return {name: HIDDEN if name in hidden else value for name, value in named.items()}


def is_secret(annotation: Any) -> bool:
    """Whether the mark occurs anywhere in a type."""
    return any(each is Secret for each in parts_of(annotation))


def hide_secrets(model: type[BaseModel]) -> None:
    """Keeps a model's secrets out of its `repr`, wherever in their types the mark stands."""
    for field in model.model_fields.values():
        if is_secret(field.annotation) or any(each is Secret for each in field.metadata):
            field.repr = False


def secret_fields(
    model: type[BaseModel], seen: frozenset[type[BaseModel]] = frozenset()
) -> frozenset[str]:
    """Hides secrets from `repr`; returns the fields that are secret or hold a model with one."""
    hide_secrets(model)
    seen |= {model}
    return frozenset(
        name
        for name, field in model.model_fields.items()
        if not field.repr
        or any(
            secret_fields(each, seen) for each in models_in(field.annotation) if each not in seen
        )
    )


def models_in(annotation: Any) -> list[type[BaseModel]]:
    parts = parts_of(annotation)
    return [part for part in parts if isinstance(part, type) and issubclass(part, BaseModel)]


def parts_of(annotation: Any, seen: tuple[Any, ...] = ()) -> Iterator[Any]:
    """A type and all its parts; a recursive alias is not followed again."""
    yield annotation
    if get_origin(annotation) is Literal or any(annotation is each for each in seen):
        return
    # A NewType has a `__supertype__`, a type alias a `__value__`.
    behind = getattr(annotation, "__supertype__", getattr(annotation, "__value__", None))
    for each in (*get_args(annotation), *([] if behind is None else [behind])):
        yield from parts_of(each, (*seen, annotation))
