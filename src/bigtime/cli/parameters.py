"""A pattern's arguments, from the options that a person types.

A parameter `brand_name` is the option `--brand-name "Acme"`, or `--brand-name=Acme`; pydantic
parses the text by the parameter's annotation.

- For a list, the option is repeated.
- An entity, or another value with fields, is typed as JSON. The JSON that `bigtime run` prints can
  be typed back in; computed fields in it are ignored.
- The position where a page begins is the cursor that was printed with the page before.
- A boolean is `--ascending` or `--no-ascending`; a time zone is given by name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from datetime import tzinfo
from inspect import Parameter
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError

from bigtime.advisor import CannotSample, sample_value
from bigtime.cli.results import cursors, fault_text, plain
from bigtime.cli.screen import refuse
from bigtime.model import Pattern, Position, unwrap

VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


def parse_arguments(pattern: Pattern[..., Any], typed: Sequence[str]) -> dict[str, Any]:
    """The typed arguments, each converted to its parameter's type."""
    known = parameters_of(pattern)
    return {
        name: parse_texts(known[name], texts) for name, texts in typed_texts(pattern, typed).items()
    }


def check_complete(pattern: Pattern[..., Any], arguments: Mapping[str, object]) -> None:
    missing = [
        option_of(parameter.name)
        for parameter in parameters_of(pattern).values()
        if parameter.default is Parameter.empty and parameter.name not in arguments
    ]
    if missing:
        refuse(f"{pattern.name} needs {' and '.join(missing)}. {choices(pattern)}", code=2)


def parameters_of(pattern: Pattern[..., Any]) -> dict[str, Parameter]:
    return {
        parameter.name: parameter
        for parameter in pattern.parameters
        if parameter.kind not in VARIADIC
    }


def cursor_option(pattern: Pattern[..., Any]) -> str:
    """The option for the cursor of a page, such as `--after`."""
    taking = (parameter.name for parameter in pattern.parameters if takes_cursor(parameter))
    return option_of(next(taking, "after"))


# Options


def typed_texts(pattern: Pattern[..., Any], typed: Sequence[str]) -> dict[str, list[str]]:
    """The texts typed for each parameter."""
    known = parameters_of(pattern)
    texts: dict[str, list[str]] = {}
    rest = list(typed)
    while rest:
        option, equals, text = rest.pop(0).partition("=")
        name, is_no = find_parameter(pattern, option)
        if is_flag(known[name]) and not equals:
            text = "false" if is_no else "true"
        elif is_no:
            refuse(f"{option} takes no value.", code=2)
        elif not equals:
            text = rest.pop(0) if rest else refuse(f"{option} needs a value after it.", code=2)
        texts.setdefault(name, []).append(text)
    return texts


def find_parameter(pattern: Pattern[..., Any], option: str) -> tuple[str, bool]:
    """The parameter of an option, and whether the option negates it."""
    if not option.startswith("--"):
        refuse(f"{option!r} is no option: say which parameter it is. {choices(pattern)}", code=2)
    known = parameters_of(pattern)
    name = option[2:].replace("-", "_")
    positive = name.removeprefix("no_")
    is_no = name not in known and positive in known and is_flag(known[positive])
    if name not in known and not is_no:
        refuse(f"{pattern.name} has no parameter {option}. {choices(pattern)}", code=2)
    return positive if is_no else name, is_no


def choices(pattern: Pattern[..., Any]) -> str:
    return f"It takes {options_text(pattern) or 'none'}."


def options_text(pattern: Pattern[..., Any]) -> str:
    """Every parameter as an option; optional ones are in brackets."""
    return " ".join(
        option_of(name) if parameter.default is Parameter.empty else f"[{option_of(name)}]"
        for name, parameter in parameters_of(pattern).items()
    )


def option_of(name: str) -> str:
    return f"--{name.replace('_', '-')}"


# Values


def parse_texts(parameter: Parameter, texts: list[str]) -> object:
    option, annotation = option_of(parameter.name), parameter.annotation
    if takes_cursor(parameter):
        return cursors().read(texts[-1])
    if single_type(annotation) is tzinfo:
        return zone_named(option, texts[-1])
    try:
        return value_of(TypeAdapter(annotation), annotation, texts)
    except ValidationError as error:
        refuse(f"{option}: {fault_text(error)}.{json_hint(annotation)}", code=2)
    except PydanticSchemaGenerationError:
        refuse(f"{option} cannot be typed: run the pattern from Python.", code=2)


def value_of(adapter: TypeAdapter[Any], annotation: object, texts: list[str]) -> object:
    if is_text(annotation):
        return adapter.validate_strings(texts[-1])
    member = member_type(annotation)
    if member is None or (len(texts) == 1 and texts[0].lstrip().startswith("[")):
        return adapter.validate_json(without_computed(annotation, texts[-1]))
    if is_text(member):
        return adapter.validate_python(texts)
    return adapter.validate_json(f"[{','.join(texts)}]")


def without_computed(annotation: object, text: str) -> str:
    """A record's JSON without its computed fields."""
    kind = single_type(annotation)
    if not (isinstance(kind, type) and issubclass(kind, BaseModel) and kind.model_computed_fields):
        return text
    try:
        record = json.loads(text)
    except ValueError:
        return text  # pydantic says what is wrong with it
    if not isinstance(record, dict):
        return text
    computed = kind.model_computed_fields
    return json.dumps({name: value for name, value in record.items() if name not in computed})


def zone_named(option: str, text: str) -> tzinfo:
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        refuse(
            f"{option}: there is no time zone {text!r}; one is called Africa/Johannesburg.", code=2
        )


def is_flag(parameter: Parameter) -> bool:
    return single_type(parameter.annotation) is bool


def takes_cursor(parameter: Parameter) -> bool:
    return single_type(parameter.annotation) is Position


def single_type(annotation: object) -> object:
    """The type that an annotation allows besides None; None if there are several."""
    kind, _ = unwrap(annotation)
    if get_origin(kind) not in (Union, UnionType):
        return kind
    others = [arg for arg in get_args(kind) if arg is not type(None)]
    return single_type(others[0]) if len(others) == 1 else None


def is_text(annotation: object) -> bool:
    """Whether a value of this type can be parsed from plain text."""
    kind, _ = unwrap(annotation)
    if get_origin(kind) in (Union, UnionType):
        return all(is_text(arg) for arg in get_args(kind) if arg is not type(None))
    if get_origin(kind) is Literal:
        return True
    if not isinstance(kind, type) or get_origin(kind) is not None:
        return False
    is_container = issubclass(kind, Iterable) and not issubclass(kind, (str, bytes))
    return not (is_container or is_dataclass(kind) or issubclass(kind, BaseModel))


def member_type(annotation: object) -> object:
    """The type of the members of a list or a set; None if it is neither."""
    kind = single_type(annotation)
    origin = get_origin(kind)
    if not isinstance(origin, type) or issubclass(origin, Mapping):
        return None
    return get_args(kind)[0] if issubclass(origin, Iterable) else None


def json_hint(annotation: object) -> str:
    if is_text(annotation):
        return ""
    try:
        example = json.dumps(plain(sample_value(annotation)), ensure_ascii=False)
    except CannotSample:
        return " It is typed as JSON."
    return f" It is typed as JSON, such as '{example}'."
