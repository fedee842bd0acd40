"""The settings of the gateway."""

from typing import Annotated

from pydantic import Field

from fairlead.settings.values import Section

__all__ = ["GatewaySettings"]


class GatewaySettings(Section):
    """The gateway of `fairlead serve`: clients in any language take part over HTTP."""

    enabled: Annotated[
        bool,
        Field(
            description="Whether `fairlead serve` answers clients. Then it needs the right to "
            "write what clients write."
        ),
    ]
    name: Annotated[
        str,
        Field(
            max_length=100,
            pattern=r"^[A-Za-z0-9_.:-]*$",
            description="The name of this gateway in heartbeats and logs. Empty: the host's name "
            "and the port.",
        ),
    ]
    key_file: Annotated[
        str,
        Field(
            description="A file with the key that seals what clients carry from gateway to "
            "gateway; at least 32 bytes. All gateways behind one address need the same one. "
            "Empty: a new key at each start, so clients join again when their gateway restarts.",
        ),
    ]
    lease_ms: Annotated[
        int,
        Field(
            ge=1_000,
            le=600_000,
            description="The lease of the gateway's clients. Longer: queues of a dead client "
            "wait longer; shorter: a slow network costs clients their queues.",
        ),
    ]
    poll_ms: Annotated[
        int,
        Field(
            ge=100,
            le=200_000,
            description="How often clients poll at least, and how long a poll waits for news at "
            "most; at most a third of gateway.lease_ms.",
        ),
    ]
    drain_ms: Annotated[
        int,
        Field(
            ge=100,
            le=3_600_000,
            description="How long a client may take to stop a queue; after that it has to stop "
            "at once.",
        ),
    ]
    sessions: Annotated[
        int,
        Field(
            ge=1,
            le=100_000,
            description="The most clients that one gateway bears. Each holds a connection, which "
            "takes a file descriptor, beside those of http.connections.",
        ),
    ]
