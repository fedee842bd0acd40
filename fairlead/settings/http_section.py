"""The limits of Fairlead's HTTP servers."""

from typing import Annotated

from pydantic import Field

from fairlead.settings.values import HostPattern, Section


class HttpSettings(Section):
    """Limits for callers, the same for the engine's HTTP server and for `fairlead serve`."""

    connections: Annotated[
        int,
        Field(
            ge=8,
            le=10_000,
            description="The most connections that a server holds. At one more it closes the "
            "connection that has waited longest without a request; if all are busy, it answers "
            "503. A stream of events is a connection too, and streams may take three quarters. "
            "Each connection takes a file descriptor.",
        ),
    ]
    request_ms: Annotated[
        int,
        Field(
            ge=100,
            le=600_000,
            description="How long a request may take to arrive, and again how long the caller may "
            "take to read the answer; then the server closes the connection. Too short breaks "
            "slow scrapes, which take about a second; too long lets stuck callers hold "
            "connections.",
        ),
    ]
    head_bytes: Annotated[
        int,
        Field(
            ge=1_024,
            le=1_048_576,
            description="The largest request head; a larger one gets 400. Heads of Prometheus and "
            "browsers are below 4 KiB.",
        ),
    ]
    body_bytes: Annotated[
        int,
        Field(
            ge=1_024,
            le=16_777_216,
            description="The largest body of a request to `fairlead serve`; a larger one gets 413. "
            "Each caller may hold as much memory. Paths outside `/v1/`, and the engine's server, "
            "take no body at all and answer 413.",
        ),
    ]
    allowed_hosts: Annotated[
        tuple[HostPattern, ...],
        Field(
            description="The host names that requests may use, such as "
            '["fairlead.example.com", "*.svc.cluster.local"]. IP addresses, localhost and the '
            "name of this machine are always allowed. Empty: a server on loopback allows no other "
            "name, which stops DNS rebinding by web pages; any other server allows every name.",
        ),
    ]
