"""Where a request comes from: the address that tries are counted by.

Whoever wants to be somebody else can write any `X-Forwarded-For`. So of that header only as many
addresses are believed, from its end, as there are proxies of ours that add one.
"""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network, ip_address

from starlette.requests import Request

HOUSEHOLD = 64
"""The bits of an IPv6 address that one customer of a provider has in common."""


def client_of(request: Request, *, proxies: int) -> str:
    """The address of whoever asks; for IPv6 the network, of which one person has very many."""
    told = forwarded(request)
    if proxies and len(told) >= proxies:
        return household(told[-proxies])
    return household(request.client.host if request.client else "")


def forwarded(request: Request) -> list[str]:
    lines = request.headers.getlist("x-forwarded-for")
    return [address.strip() for address in ",".join(lines).split(",")] if lines else []


def household(text: str) -> str:
    try:
        address = ip_address(text)
    except ValueError:
        return text[:100]
    if isinstance(address, IPv6Address):
        return str(IPv6Network((address, HOUSEHOLD), strict=False))
    return str(address)
