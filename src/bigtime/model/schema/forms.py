"""The stored forms of an entity's fields: by their types, and where a field is a key, by that."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bigtime.model.errors import DesignError, ValueRefused
from bigtime.model.schema.attribute import field_annotation, read_when_absent, stored_form
from bigtime.model.schema.keys import KeyPart
from bigtime.model.schema.stored import Stored

if TYPE_CHECKING:
    from bigtime.model.schema.layout import Layout


def stored_forms(layout: Layout) -> dict[str, Stored]:
    entity, forms = layout.entity, {}
    for name in layout.names:
        try:
            form = stored_form(field_annotation(entity, name), layout.table.naming)
            layout.absent.update(read_when_absent(entity, name, form))
        except DesignError as error:
            raise DesignError(f"{entity.__name__}.{name}: {error}") from None
        forms[name] = form
    return forms


def key_forms(layout: Layout) -> dict[str, Stored]:
    """The forms of fields whose attribute is a key: the key's template writes and reads them."""
    fields = {stored: name for name, stored in layout.names.items()}
    return {
        fields[part.attribute.name]: key_form(layout, fields[part.attribute.name], part)
        for key in layout.keys.values()
        for part in key.parts
        if part.attribute.name in fields
    }


def key_form(layout: Layout, name: str, part: KeyPart) -> Stored:
    template, declared = part.template, layout.declared_forms[name]
    if template.fields != (name,) or template.lossy:
        raise DesignError(
            f"{layout.entity.__name__}: attribute {part.attribute.name} is both the field {name}"
            f" and a key of index {part_index(layout, part)} with the template {template.text!r},"
            " from which the field could not be read back; rename one"
        )
    if part.attribute.type == "N":
        return declared

    def write(value: Any) -> Any:
        try:
            return part.value({name: value})
        except ValueRefused as error:
            raise ValueRefused(str(error).removeprefix(f"field {name!r} ")) from None

    if part.form is not None:
        return replace(declared, write=write)

    def read(value: Any) -> Any:
        return template.parse(value["S"])[name]

    as_it_is = declared.tag == "S" and len(template.parts) == 1 and not template.continued
    return replace(declared, tag="S", write=write, read=declared.read if as_it_is else read)


def part_index(layout: Layout, part: KeyPart) -> str:
    return next(name for name, key in layout.keys.items() if part in key.parts)
