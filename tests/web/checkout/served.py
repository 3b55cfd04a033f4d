"""The site on a file and a port, for tests that kill it: `python -m tests.web.checkout.served`."""

from __future__ import annotations

import asyncio
import sys

import uvicorn
from pydantic import SecretStr

from bigtime.engine import Engine
from bigtime.store import AsyncStore
from bigtime.web.app import make_app
from bigtime.web.http.settings import Settings
from tests.web.cart.scene import SECRET


async def serve(file: str) -> None:
    """Serves on a port that the system chooses, and says which."""
    with Engine.open(file) as engine:
        settings = Settings(secret=SecretStr(SECRET), public_url="http://site.example")
        front = make_app(settings, AsyncStore(engine), version=engine.version)
        server = uvicorn.Server(uvicorn.Config(front, port=0, log_level="warning"))
        serving = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        print(server.servers[0].sockets[0].getsockname()[1], flush=True)
        await serving


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
