"""The ASGI application of the viewer, which is created at the first request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_CACHE_CONTROL = b"cache-control"


class ViewerApplication:
    """Serves the routes of `routes`; FastAPI is imported by the first request, not by Airflow's workers."""

    def __init__(self) -> None:
        self._app: Any = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request; it is private unless the route allows caches, also an error."""
        if self._app is None:
            from airflow_provider_spark_lineage.airflow.ui.routes import application

            self._app = application()

        async def send_uncached(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ())]
                if not any(name.lower() == _CACHE_CONTROL for name, _ in headers):
                    headers.append((_CACHE_CONTROL, b"private, no-store"))
                headers.append((b"x-content-type-options", b"nosniff"))
                message = {**message, "headers": headers}
            await send(message)

        await self._app(scope, receive, send_uncached)
