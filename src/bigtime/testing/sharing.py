"""Shares between a test suite's clients what botocore would otherwise build for each.

A test that creates its client inside `intercept()` pays for it, and again for each request:
botocore walks the service's model, compiles the endpoint rules, and sanitises the parts of the user
agent character by character. All of it is a function of documents that the session keeps, so during
an interception it is computed once:

1. `ServiceModel`, with the shapes for validating requests and parsing responses.
2. The functions of a client's operations; each client still has a class of its own.
3. `EndpointProvider`, with the endpoints that it has resolved, and which of its parameters an
   operation sets.
4. The parts of the user agent.
5. The names of events, each of which botocore looks up, for each client, in a list of older names.

Documents are compared by identity: each session reads its own.

Three things are not shared, but made cheaper. The handlers of the session's events are kept in a
tree of known shape, which is copied node by node. Whether a handler takes any keyword is read from
its code object. And what a client needs for the network, which it never uses here, is deferred: its
SSL context is created when it first sends a request, and the environment is searched for proxies
only if it names one.
"""

from __future__ import annotations

import functools
import inspect
import os
import urllib.request
from collections.abc import Callable
from types import FunctionType
from typing import Any

from bigtime.extras import extra

with extra("aws"):
    from botocore import client, endpoint, hooks, httpsession, regions, session, useragent

KEPT_DOCUMENTS = 8
"""Enough for DynamoDB, its streams, and a few other services or sessions."""
KEPT_OPERATIONS = 512
KEPT_EVENTS = 1_024
"""An event's name includes the operation, and those of other services are cached here too."""


class Document:
    """A botocore document as a cache key: equal only to itself."""

    def __init__(self, content: Any) -> None:
        self.content = content

    def __hash__(self) -> int:
        return id(self.content)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Document) and other.content is self.content


def share(replaced: list[Callable[[], None]]) -> None:
    """Replaces functions and classes of botocore; appends functions that restore them.

    What another library or a test has replaced already is left alone.
    """
    for (module, name, sharing), original in zip(SHARED, ORIGINALS, strict=True):
        if getattr(module, name) is original:
            replaced.append(functools.partial(setattr, module, name, original))
            setattr(module, name, sharing)


def service_model(service_description: Any, service_name: str | None = None) -> Any:
    """Replaces `botocore.client.ServiceModel`."""
    return kept_service_model(Document(service_description), service_name)


@functools.lru_cache(KEPT_DOCUMENTS)
def kept_service_model(description: Document, service_name: str | None) -> Any:
    return MODEL(description.content, service_name)


class Creator:
    """A client creator as a cache key: equal to others of the same session."""

    def __init__(self, creator: Any) -> None:
        self.creator = creator
        self.key = type(creator), creator._event_emitter

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Creator) and other.key == self.key


def create_methods(creator: Any, service_model: Any) -> dict[str, Any]:
    """Replaces `botocore.client.ClientCreator._create_methods`."""
    return dict(kept_methods(Creator(creator), service_model))


@functools.lru_cache(KEPT_DOCUMENTS)
def kept_methods(creator: Creator, service_model: Any) -> dict[str, Any]:
    return botocore_methods(creator.creator, service_model)


def endpoint_provider(ruleset_data: Any, partition_data: Any, **others: Any) -> Any:
    """Replaces `botocore.regions.EndpointProvider`; only S3 has other arguments."""
    if any(others.values()):
        return PROVIDER(ruleset_data, partition_data, **others)
    return kept_endpoint_provider(Document(ruleset_data), Document(partition_data))


@functools.lru_cache(KEPT_DOCUMENTS)
def kept_endpoint_provider(ruleset: Document, partitions: Document) -> Any:
    return PROVIDER(ruleset.content, partitions.content)


def resolve_parameter(resolver: Any, param_name: str, operation_model: Any, call_args: Any) -> Any:
    """Replaces `EndpointRulesetResolver._resolve_param_from_context`."""
    if param_name not in context_parameters(resolver._service_model, operation_model):
        return None
    return botocore_resolve(resolver, param_name, operation_model, call_args)


@functools.lru_cache(KEPT_OPERATIONS)
def context_parameters(service_model: Any, operation_model: Any) -> frozenset[str]:
    """The endpoint parameters that the operation or the client's settings may set."""
    listed = (
        *operation_model.static_context_parameters,
        *operation_model.context_parameters,
        *service_model.client_context_parameters,
    )
    names = (parameter.name for parameter in listed)
    return frozenset((*names, *operation_model.operation_context_parameters))


def component_text(component: Any) -> str:
    """Replaces `UserAgentComponent.to_string`."""
    if component.size_config is None:
        return kept_component_text(component)
    return botocore_component_text(component)


def copy_handlers(trie: Any, members: dict[str, Any]) -> dict[str, Any]:
    """Replaces `botocore.hooks._PrefixTrie._recursive_copy`."""
    root = members.get("_root")
    if list(members) != ["_root"] or not isinstance(root, dict) or root.keys() != NODE:
        return botocore_copy(trie, members)
    return {"_root": copy_node(root)}


def copy_node(node: dict[str, Any]) -> dict[str, Any]:
    copied = node.copy()
    copied["children"] = children = node["children"].copy()
    for part, child in children.items():
        children[part] = copy_node(child)
    values = node["values"]
    if values is not None:
        first, middle, last = values
        copied["values"] = hooks.NodeList([*first], [*middle], [*last])
    return copied


def create_client(creating: Any, *arguments: Any, **named: Any) -> Any:
    """Replaces `Session.create_client`, which looks up the profile fifty times."""
    own = vars(creating)
    if "get_scoped_config" in own:
        return botocore_create(creating, *arguments, **named)
    own["get_scoped_config"] = functools.cache(creating.get_scoped_config)
    try:
        return botocore_create(creating, *arguments, **named)
    finally:
        own.pop("get_scoped_config", None)  # another thread may have made a client meanwhile


def accepts_kwargs(function: Any) -> object:
    """Replaces `botocore.hooks.accepts_kwargs`."""
    plain = getattr(function, "__func__", function)
    if type(plain) is FunctionType and not hasattr(plain, "__signature__"):
        return plain.__code__.co_flags & inspect.CO_VARKEYWORDS
    return botocore_accepts_kwargs(function)


class LateSession(httpsession.URLLib3Session):
    """A client's HTTP session, whose SSL context is created with the first request."""

    def _get_ssl_context(self) -> Any:
        return botocore_context(self) if hasattr(self, "_manager") else None

    def send(self, request: Any) -> Any:
        settings = vars(self)["_manager"].connection_pool_kw
        if settings["ssl_context"] is None:
            settings["ssl_context"] = self._get_ssl_context()
        return super().send(request)


def environ_proxies(url: str) -> dict[str, str]:
    """Replaces `botocore.endpoint.get_environ_proxies`."""
    # On a system with proxy settings of its own, `getproxies` is another function.
    is_all = urllib.request.getproxies is urllib.request.getproxies_environment
    if is_all and "_PROXY" not in "\0".join(os.environ).upper():
        return {}
    return botocore_proxies(url)


def alias_event_name(aliaser: Any, event_name: str) -> str:
    """Replaces `botocore.hooks.EventAliaser._alias_event_name`."""
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
CREATOR: Any = client.ClientCreator
SESSION: Any = session.Session
CREATE_ENDPOINT: Any = endpoint.EndpointCreator.create_endpoint
PROVIDER: Any = vars(regions)["EndpointProvider"]
RESOLVER: Any = vars(regions)["EndpointRulesetResolver"]
COMPONENT: Any = vars(useragent)["UserAgentComponent"]
TRIE: Any = vars(hooks)["_PrefixTrie"]
NODE = {"chunk", "children", "values"}
ALIASER: Any = hooks.EventAliaser
botocore_create: Callable[..., Any] = SESSION.create_client
botocore_methods: Callable[..., dict[str, Any]] = CREATOR._create_methods
botocore_resolve: Callable[..., Any] = RESOLVER._resolve_param_from_context
botocore_component_text: Callable[..., str] = COMPONENT.to_string
botocore_copy: Callable[..., dict[str, Any]] = TRIE._recursive_copy
botocore_accepts_kwargs: Callable[..., object] = vars(hooks)["accepts_kwargs"]
botocore_proxies: Callable[..., dict[str, str]] = vars(endpoint)["get_environ_proxies"]
botocore_context: Callable[..., Any] = vars(httpsession.URLLib3Session)["_get_ssl_context"]
botocore_alias: Callable[..., str] = ALIASER._alias_event_name
kept_component_text = functools.lru_cache(256)(botocore_component_text)
kept_sanitize = functools.lru_cache(256)(useragent.sanitize_user_agent_string_component)
SHARED: list[tuple[Any, str, Any]] = [
    (client, "ServiceModel", service_model),
    (SESSION, "create_client", create_client),
    (CREATOR, "_create_methods", create_methods),
    (regions, "EndpointProvider", endpoint_provider),
    (RESOLVER, "_resolve_param_from_context", resolve_parameter),
    (COMPONENT, "to_string", component_text),
    (useragent, "sanitize_user_agent_string_component", kept_sanitize),
    (TRIE, "_recursive_copy", copy_handlers),
    (hooks, "accepts_kwargs", accepts_kwargs),
    (ALIASER, "_alias_event_name", alias_event_name),
    (endpoint, "get_environ_proxies", environ_proxies),
    (
        CREATE_ENDPOINT,
        "__defaults__",
        tuple(
            LateSession if each is httpsession.URLLib3Session else each
            for each in CREATE_ENDPOINT.__defaults__
        ),
    ),
]
ORIGINALS = [getattr(module, name) for module, name, _ in SHARED]
