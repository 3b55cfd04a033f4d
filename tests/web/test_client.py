"""Where a request comes from."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from bigtime.web.http.limits import client_of


def request(peer: str | None, *forwarded: str) -> Request:
    headers = [(b"x-forwarded-for", each.encode()) for each in forwarded]
    return Request({"type": "http", "headers": headers, "client": (peer, 1) if peer else None})


@pytest.mark.parametrize(
    ("peer", "forwarded", "proxies", "found"),
    [
        ("1.2.3.4", [], 0, "1.2.3.4"),
        ("1.2.3.4", ["6.6.6.6"], 0, "1.2.3.4"),
        ("10.0.0.1", ["1.2.3.4"], 1, "1.2.3.4"),
        ("10.0.0.1", ["6.6.6.6, 1.2.3.4"], 1, "1.2.3.4"),
        ("10.0.0.1", ["6.6.6.6, 1.2.3.4 , 10.0.0.2"], 2, "1.2.3.4"),
        ("10.0.0.1", ["6.6.6.6", "1.2.3.4"], 1, "1.2.3.4"),
        ("10.0.0.1", [], 1, "10.0.0.1"),
        ("10.0.0.1", ["1.2.3.4"], 2, "10.0.0.1"),
        ("10.0.0.1", ["2001:db8:1:2:3:4:5:6"], 1, "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", [], 0, "2001:db8:1:2::/64"),
        ("::ffff:1.2.3.4", [], 0, "1.2.3.4"),
        ("10.0.0.1", ["::ffff:1.2.3.4"], 1, "1.2.3.4"),
        ("10.0.0.1", ["1.2.3.4:5678"], 1, "1.2.3.4"),
        ("10.0.0.1", ["[2001:db8:1:2::9]:5678"], 1, "2001:db8:1:2::/64"),
        ("10.0.0.1", ["[2001:db8:1:2::9]"], 1, "2001:db8:1:2::/64"),
        ("fe80::1%eth0", [], 0, "fe80::/64"),
        ("10.0.0.1", ["x" * 500], 1, "x" * 100),
        (None, [], 0, ""),
    ],
)
def test_only_our_own_proxies_are_believed(
    peer: str | None, forwarded: list[str], proxies: int, found: str
) -> None:
    assert client_of(request(peer, *forwarded), proxies=proxies) == found
