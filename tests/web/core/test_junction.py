"""A junction: the same routes are found as by trying one after the other."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.testclient import TestClient

from bigtime.web.junction import Junction

PATHS = (
    ("/", "GET"),
    ("/brands", "GET"),
    ("/brands/{name:path}", "GET"),
    ("/brands/{name:path}/{deed}", "POST"),
    ("/me", "GET"),
    ("/me", "POST"),
    ("/me/orders/{number}", "GET"),
)


def answering(path: str, method: str) -> Route:
    async def answer(request: Request) -> Response:
        told = sorted(request.path_params.items())
        return PlainTextResponse(f"{method} {path} {told}")

    return Route(path, answer, methods=[method])


ROUTES = [answering(path, method) for path, method in PATHS]
words = st.sampled_from(["", "brands", "me", "orders", "APPLE", "7", "like", "brand", "%2F"])


@pytest.fixture(scope="module")
def clients() -> tuple[TestClient, TestClient]:
    return client(ROUTES), client([Junction(ROUTES)])


def client(routes: Sequence[BaseRoute]) -> TestClient:
    return TestClient(Starlette(routes=routes), follow_redirects=False)


@given(st.lists(words, max_size=4), st.sampled_from(["GET", "POST", "PUT"]))
def test_every_request_finds_the_route_it_would_have_found(
    clients: tuple[TestClient, TestClient], path: list[str], method: str
) -> None:
    one, other = (each.request(method, "/" + "/".join(path)) for each in clients)
    assert (one.status_code, one.text) == (other.status_code, other.text)
    assert one.headers.get("location") == other.headers.get("location")
    assert one.headers.get("allow") == other.headers.get("allow")


@pytest.mark.parametrize(
    "route", [answering("/{anything}", "GET"), Mount("/static", routes=[])], ids=["open", "mount"]
)
def test_a_route_without_a_plain_first_word_is_refused(route: BaseRoute) -> None:
    with pytest.raises(TypeError, match="include its router"):
        Junction([route])
