"""Answers a scrape."""

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

__all__ = ["metrics_answer"]


async def metrics_answer(request: Request, registry: CollectorRegistry) -> Response:
    """Return every series, or those named by ``name[]``, in the requested format.

    If the library cannot parse the requested format, it is the plain text format.
    """
    try:
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
    except (TypeError, ValueError):
        # The library compares the parts of a version without checking that they are numbers.
        encode, content_type = choose_encoder("")
    names = request.query_params.getlist("name[]")
    asked = registry.restricted_registry(names) if names else registry
    text = await run_in_threadpool(encode, asked)
    return Response(text, headers={"content-type": content_type})
