"""Tenants: a field that begins every partition key, and is bound once per store.

    class Repo(Entity, table=FORGE):
        keys = Keys(main=("T#{tenant}#REPO#{name}", "REPO"))
        tenant: str = tenant()
        name: str

    acme = store.for_tenant("acme")

Code that runs on a store bound to a tenant need not name it: keys, key ranges and entities made
there have it already. A request that addresses another tenant's items is refused before it is
sent, and so is a scan. That the tenant begins every partition key is checked when the entity is
declared; IAM's `dynamodb:LeadingKeys` relies on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from bigtime.model.errors import DesignError, Forbidden, ValueRefused
from bigtime.model.schema.table import MAIN
from bigtime.wire import TENANT, AnyTenant, Item

if TYPE_CHECKING:
    from bigtime.model.schema.entity import Entity
    from bigtime.model.schema.layout import Layout


class WrongTenant(Forbidden):
    """This belongs to another tenant."""


def tenant() -> Any:
    """The field that holds an item's tenant: `tenant: str = tenant()`."""
    return Field(default_factory=bound_tenant)


def bound_tenant() -> str:
    """The tenant that the running store is bound to."""
    bound = TENANT.get()
    if bound is None:
        raise ValueRefused(
            "no tenant is bound here; give it, or make this in steps that run on"
            " store.for_tenant(...)"
        )
    return bound


def tenant_field(entity: type[Entity]) -> str | None:
    names = [
        name for name, field in entity.model_fields.items() if field.default_factory is bound_tenant
    ]
    if len(names) > 1:
        raise DesignError(f"{entity.__name__} has two tenants, {' and '.join(names)}; keep one")
    return names[0] if names else None


def check_tenant_keys(layout: Layout) -> None:
    """Checks that every partition key begins with the tenant, after at most a fixed literal."""
    for key in layout.keys.values():
        text = key.hash[0].template.text
        if (
            layout.tenant
            and f"{{{layout.tenant}}}" != text[text.find("{") :][: len(layout.tenant) + 2]
        ):
            raise DesignError(
                f"{layout.entity.__name__}, index {key.index.name}: its partition key {text!r} does"
                f" not begin with the tenant; write it as 'T#{{{layout.tenant}}}#...'"
            )


def closed_by_tenant(layout: Layout) -> frozenset[tuple[str, str]]:
    """Partition keys that end with the tenant: none may look like another tenant's longer key."""
    if layout.tenant is None:
        return frozenset()
    return frozenset(
        (name, layout.table.index(name).hash[0].name)
        for name, (texts, _) in layout.declared.declared.items()
        if texts[0].endswith(f"{{{layout.tenant}}}")
    )


def leading_texts(layout: Layout) -> list[str]:
    """The literals before the tenant in the partition keys of an entity."""
    keys = layout.keys.values()
    return list(dict.fromkeys(key.hash[0].template.text.partition("{")[0] for key in keys))


def check_bound(layout: Layout, item: Item | None, index: str = MAIN) -> None:
    """Refuses another tenant's item, or, without an item, a scan of all tenants."""
    bound = TENANT.get()
    if bound is None or isinstance(bound, AnyTenant) or layout.tenant is None:
        return
    if item is None:
        raise WrongTenant(
            f"A scan of {layout.entity.__name__} reads all tenants; run it on a store without one."
        )
    part = layout.keys[index].hash[0]
    if part.parse(item[part.attribute.name])[layout.tenant] != bound:
        raise WrongTenant
