"""The tables of worlds to search, smallest first."""

from enum import StrEnum

from fairlead_proof.explorer.world import Restart, WorldBounds

__all__ = ["ROWS", "Rows"]


class Rows(StrEnum):
    """Which table of worlds."""

    SMALL = "small"
    """For every change: half a minute; `make test` leaves out seven that take most of it."""
    REQUIRED = "required"
    """Before a release: minutes."""
    LONG = "long"
    """Larger worlds."""


SMALL = (
    WorldBounds(clients=2, moves=2, deaths=1),
    WorldBounds(clients=2, queues=2, moves=1, deaths=1),
    WorldBounds(clients=2, moves=1, deaths=1, comebacks=1),
    WorldBounds(clients=2, moves=0, deaths=1, losses=1, comebacks=1),
    WorldBounds(clients=2, moves=0, deaths=1, losses=1, comebacks=1, restart=Restart.INTACT),
    WorldBounds(clients=2, moves=1, losses=1, restart=Restart.INTACT),
    WorldBounds(clients=2, moves=1, losses=1, restart=Restart.OLD),
    WorldBounds(clients=2, moves=1, deaths=1, losses=1),
    WorldBounds(clients=2, moves=1, losses=1, zombie=True),
    WorldBounds(clients=2, moves=1, resets=1),
    WorldBounds(clients=2, moves=0, losses=1, resets=1),
    WorldBounds(clients=2, moves=0, losses=1, resets=1, restart=Restart.INTACT),
    WorldBounds(clients=2, moves=0, losses=1, resets=1, restart=Restart.OLD),
    # An overtaken client may work on: two owners are allowed only on a queue that the engine marks
    # unsafe.
    WorldBounds(clients=2, moves=2, deaths=1, eager=True),
    WorldBounds(clients=2, moves=2, deaths=1, eager=True, ordered=True),
    WorldBounds(clients=2, moves=2, deaths=1, mutes=1),
    WorldBounds(clients=2, moves=2, deaths=1, lost=1),
    WorldBounds(clients=3, moves=1, lost=1),
    WorldBounds(clients=2, moves=0, losses=1, lost=1),
    WorldBounds(clients=2, moves=0, losses=1, lost=1, restart=Restart.INTACT),
    WorldBounds(clients=3, moves=2, deaths=1),
    # Thin clients behind gateways, beside clients that read the log themselves.
    WorldBounds(clients=2, thin=1, moves=1, deaths=1),
    WorldBounds(clients=2, thin=2, moves=1),
    WorldBounds(clients=3, thin=1, moves=1),
    WorldBounds(clients=2, thin=1, queues=2, moves=1),
    WorldBounds(clients=2, thin=1, moves=0, deaths=1, comebacks=1),
    WorldBounds(clients=2, thin=1, moves=1, losses=1, restart=Restart.INTACT),
    WorldBounds(clients=2, thin=1, moves=0, losses=1, restart=Restart.OLD),
    WorldBounds(clients=2, thin=1, moves=0, losses=1),
    WorldBounds(clients=2, thin=1, moves=0, losses=1, zombie=True),
    WorldBounds(clients=2, thin=1, moves=0, resets=1),
    WorldBounds(clients=2, thin=1, moves=1, mutes=1),
    WorldBounds(clients=2, thin=1, moves=2, eager=True),
    WorldBounds(clients=2, thin=1, moves=1, lost=1),
)

REQUIRED = (
    WorldBounds(clients=3, moves=2, deaths=1),
    WorldBounds(clients=3, moves=1, deaths=1, losses=1, zombie=True),
    WorldBounds(clients=3, moves=2, deaths=1, losses=1),
    WorldBounds(clients=2, thin=1, moves=2, deaths=1),
    WorldBounds(clients=2, thin=2, moves=2, deaths=1),
    WorldBounds(clients=2, thin=1, moves=1, deaths=1, losses=1),
    WorldBounds(clients=2, thin=2, moves=1, losses=1, zombie=True),
)

LONG = (
    WorldBounds(clients=3, moves=2, deaths=1, cap=3),
    WorldBounds(clients=3, queues=2, moves=1, deaths=1),
    WorldBounds(clients=2, moves=2, deaths=1, comebacks=1),
    WorldBounds(clients=2, moves=1, deaths=1, losses=1, comebacks=1),
    WorldBounds(clients=2, moves=1, deaths=1, losses=1, comebacks=1, restart=Restart.INTACT),
    WorldBounds(clients=2, moves=1, deaths=1, losses=1, restart=Restart.OLD),
    WorldBounds(clients=2, moves=1, deaths=1, losses=1, zombie=True),
    WorldBounds(clients=2, moves=1, deaths=1, losses=1, restart=Restart.OLD, zombie=True),
    WorldBounds(clients=2, moves=1, deaths=1, resets=1),
    WorldBounds(clients=2, moves=0, deaths=1, losses=1, resets=1),
    WorldBounds(clients=2, moves=0, deaths=1, losses=1, resets=1, restart=Restart.OLD),
    WorldBounds(clients=3, moves=2, deaths=1, eager=True),
    WorldBounds(clients=3, moves=1, deaths=1, mutes=1),
    WorldBounds(clients=3, thin=1, moves=2, deaths=1),
    WorldBounds(clients=2, thin=1, queues=2, moves=1, deaths=1),
    WorldBounds(clients=2, thin=2, moves=1, deaths=1, losses=1),
    WorldBounds(clients=2, thin=1, moves=1, deaths=1, losses=1, restart=Restart.OLD),
    WorldBounds(clients=2, thin=1, moves=1, deaths=1, losses=1, zombie=True),
    WorldBounds(clients=2, thin=2, moves=1, losses=1, restart=Restart.OLD),
    WorldBounds(clients=2, thin=2, moves=1, deaths=1, comebacks=1),
    WorldBounds(clients=2, thin=2, moves=0, deaths=1, losses=1, comebacks=1),
    WorldBounds(
        clients=2, thin=2, moves=0, deaths=1, losses=1, comebacks=1, restart=Restart.INTACT
    ),
    WorldBounds(clients=2, thin=2, moves=1, resets=1),
    WorldBounds(clients=2, thin=1, moves=2, deaths=1, mutes=1),
    WorldBounds(clients=2, thin=1, moves=2, deaths=1, eager=True),
    WorldBounds(clients=2, thin=1, moves=2, deaths=1, lost=1),
)

ROWS = {Rows.SMALL: SMALL, Rows.REQUIRED: REQUIRED, Rows.LONG: LONG}
