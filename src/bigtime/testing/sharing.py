"""What botocore makes anew for each client, shared by the clients that a test suite makes.

A test that makes its client inside `intercept()` pays for it, and again for its first requests:
botocore goes through the service's model, compiles the rules by which an endpoint is found, and
cleans the parts of the user agent letter by letter for each request. All of it is a function of
documents that the session keeps, so while anything is intercepted it is worked out once:

1. `ServiceModel`, with the shapes that requests are checked and answers are parsed by.
2. `EndpointProvider`, with the endpoints that it has found.
3. The cleaned parts of the user agent.
4. The names of events, of which botocore looks up each, for each client, in a list of older names.

The documents are told apart by identity: each session reads its own. The handlers of the session's
events are copied for each client as botocore does, which is a quarter of the work of making one,
but node by node of the tree in which they are kept, whose shape is known.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from bigtime.extras import extra

with extra("aws"):
    from botocore import client, hooks, regions, useragent

KEPT_DOCUMENTS = 8
"""Those of DynamoDB, of its streams, and of a few other services or sessions."""


KEPT_EVENTS = 1_024
"""Their names have the operation in them, and those of other services come through here too."""


class Document:
    """A document of botocore as a key of a cache: equal to itself alone."""

    def __init__(self, content: Any) -> None:
        self.content = content

    def __hash__(self) -> int:
        return id(self.content)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Document) and other.content is self.content


def share(replaced: list[Callable[[], None]]) -> None:
    """Replaces what botocore makes; appends what puts it back."""
    for module, name, sharing in SHARED:
        replaced.append(functools.partial(setattr, module, name, getattr(module, name)))
        setattr(module, name, sharing)


def service_model(service_description: Any, service_name: str | None = None) -> Any:
    """Takes the place of `botocore.client.ServiceModel`."""
    return kept_service_model(Document(service_description), service_name)


@functools.lru_cache(KEPT_DOCUMENTS)
def kept_service_model(description: Document, service_name: str | None) -> Any:
    return MODEL(description.content, service_name)


def endpoint_provider(ruleset_data: Any, partition_data: Any, **others: Any) -> Any:
    """Takes the place of `botocore.regions.EndpointProvider`; only S3 has other arguments."""
    if any(others.values()):
        return PROVIDER(ruleset_data, partition_data, **others)
    return kept_endpoint_provider(Document(ruleset_data), Document(partition_data))


@functools.lru_cache(KEPT_DOCUMENTS)
def kept_endpoint_provider(ruleset: Document, partitions: Document) -> Any:
    return PROVIDER(ruleset.content, partitions.content)


def copy_handlers(trie: Any, members: dict[str, Any]) -> dict[str, Any]:
    """Takes the place of `botocore.hooks._PrefixTrie._recursive_copy`."""
    root = members.get("_root")
    if list(members) != ["_root"] or not isinstance(root, dict) or root.keys() != NODE:
        return botocore_copy(trie, members)
    return {"_root": copy_node(root)}


def copy_node(node: dict[str, Any]) -> dict[str, Any]:
    children, values = node["children"], node["values"]
    return {
        "chunk": node["chunk"],
        "children": {part: copy_node(child) for part, child in children.items()},
        "values": values and hooks.NodeList(values.first[:], values.middle[:], values.last[:]),
    }


def alias_event_name(aliaser: Any, event_name: str) -> str:
    """Takes the place of `botocore.hooks.EventAliaser._alias_event_name`."""
    names: dict[str, str] = aliaser._alias_name_cache
    found = names.get(event_name)
    if found is None:
        usual = aliaser._event_aliases == hooks.EVENT_ALIASES
        found = usual_alias(event_name) if usual else botocore_alias(aliaser, event_name)
        names[event_name] = found
    return found


@functools.lru_cache(KEPT_EVENTS)
def usual_alias(event_name: str) -> str:
    return botocore_alias(ALIASER(None), event_name)


MODEL: Any = client.ServiceModel
PROVIDER: Any = vars(regions)["EndpointProvider"]
TRIE: Any = vars(hooks)["_PrefixTrie"]
NODE = {"chunk", "children", "values"}
ALIASER: Any = hooks.EventAliaser
botocore_copy: Callable[..., dict[str, Any]] = TRIE._recursive_copy
botocore_alias: Callable[..., str] = ALIASER._alias_event_name
SHARED: list[tuple[Any, str, Any]] = [
    (client, "ServiceModel", service_model),
    (regions, "EndpointProvider", endpoint_provider),
    (TRIE, "_recursive_copy", copy_handlers),
    (ALIASER, "_alias_event_name", alias_event_name),
    (
        useragent,
        "sanitize_user_agent_string_component",
        functools.lru_cache(256)(useragent.sanitize_user_agent_string_component),
    ),
]
