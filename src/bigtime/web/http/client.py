"""Where a request comes from: the address that tries are counted by.

Whoever wants to be somebody else can write any `X-Forwarded-For`. So of that header only as many
addresses are believed, from its end, as there are proxies of ours that add one.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Any, TypeAlias

from starlette.requests import Request

Scope: TypeAlias = MutableMapping[str, Any]

FORWARDED = b"x-forwarded-for"
HOUSEHOLD = 64
"""The bits of an IPv6 address that one customer of a provider has in common."""


def client_of(request: Request, *, proxies: int) -> str:
    """The address of whoever asks; for IPv6 the network, of which one person has very many."""
    return client_in(request.scope, proxies=proxies)


def client_in(scope: Scope, *, proxies: int) -> str:
    told = forwarded(scope) if proxies else []
    if told and len(told) >= proxies:
        return household(told[-proxies])
    peer = scope.get("client")
    return household(peer[0] if peer else "")


def forwarded(scope: Scope) -> list[str]:
    lines = [value.decode("latin-1") for key, value in scope["headers"] if key == FORWARDED]
    return [address.strip() for address in ",".join(lines).split(",")] if lines else []


@lru_cache(maxsize=10_000)
def household(text: str) -> str:
    try:
        address = ip_address(without_port(text))
    except ValueError:
        return text[:100]
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(IPv6Network((address, HOUSEHOLD), strict=False))
    return str(address)


def without_port(text: str) -> str:
    """The address alone: some proxies add the port, which is another for every connection."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    address, colon, _ = text.partition(":")
    return address if colon and "." in address else text
