"""The answer to a scrape."""

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

__all__ = ["metrics_answer"]


async def metrics_answer(request: Request, registry: CollectorRegistry) -> Response:
    """Write every series, or those that are named by ``name[]``, in the format that is wanted.

    It is the plain one where the library cannot read what is wanted.
    """
    try:
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
    except (TypeError, ValueError):
        # It compares the parts of a version without a look whether they are numbers.
        encode, content_type = choose_encoder("")
    names = request.query_params.getlist("name[]")
    asked = registry.restricted_registry(names) if names else registry
    text = await run_in_threadpool(encode, asked)
    return Response(text, headers={"content-type": content_type})
