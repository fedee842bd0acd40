"""What every HTTP server of Fairlead allows its callers."""

from typing import Annotated

from pydantic import Field

from fairlead.settings.values import HostPattern, Section


class HttpSettings(Section):
    """What callers may do, for each HTTP server alike: the engine's, and `fairlead serve`."""

    connections: Annotated[
        int,
        Field(
            ge=8,
            le=10_000,
            description="How many connections a server holds. At one more it closes the one that "
            "has waited longest for its request; if it is answering all of them, it says 503. "
            "Each stream of events is a connection, and three quarters may be streams. Each "
            "connection takes a file descriptor.",
        ),
    ]
    request_ms: Annotated[
        int,
        Field(
            ge=100,
            le=600_000,
            description="How long a request may take to arrive, and its answer to be read; after "
            "that the connection is closed. A request with a body is refused with 413. A scrape "
            "over a slow link takes a second.",
        ),
    ]
    head_bytes: Annotated[
        int,
        Field(
            ge=1_024,
            le=1_048_576,
            description="A longer head is refused with 400. Heads of Prometheus and of browsers "
            "are below 4 KiB.",
        ),
    ]
    allowed_hosts: Annotated[
        tuple[HostPattern, ...],
        Field(
            description="Names that a request may ask for, such as "
            '["fairlead.example.com", "*.svc.cluster.local"], beside IP addresses, localhost and '
            "the name of this machine. Empty: a server on loopback allows no others, so that no "
            "web page reads it under a name of its own (DNS rebinding); any other server allows "
            "every name.",
        ),
    ]
