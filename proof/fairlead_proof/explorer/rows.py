"""The worlds that are searched when none is named, smallest first."""

from enum import StrEnum

from fairlead_proof.explorer.world import Restart, World

__all__ = ["ROWS", "Rows"]


class Rows(StrEnum):
    """Which table of worlds."""

    SMALL = "small"
    """What every change is tried in: half a minute."""
    REQUIRED = "required"
    """What must hold before a release: minutes."""
    LONG = "long"
    """More of everything."""


SMALL = (
    World(clients=2, moves=2, deaths=1),
    World(clients=2, queues=2, moves=1, deaths=1),
    World(clients=2, moves=1, deaths=1, comebacks=1),
    World(clients=2, moves=0, deaths=1, losses=1, comebacks=1),
    World(clients=2, moves=0, deaths=1, losses=1, comebacks=1, restart=Restart.INTACT),
    World(clients=2, moves=1, losses=1, restart=Restart.INTACT),
    World(clients=2, moves=1, losses=1, restart=Restart.OLD),
    World(clients=2, moves=1, deaths=1, losses=1),
    World(clients=2, moves=1, losses=1, zombie=True),
    World(clients=2, moves=1, resets=1),
    World(clients=2, moves=0, losses=1, resets=1),
    World(clients=2, moves=0, losses=1, resets=1, restart=Restart.INTACT),
    World(clients=2, moves=0, losses=1, resets=1, restart=Restart.OLD),
    # Who is not waited for may work on: two owners are excused where the engine marks the queue
    # unsafe, and nowhere else.
    World(clients=2, moves=2, deaths=1, eager=True),
    World(clients=2, moves=2, deaths=1, eager=True, ordered=True),
    World(clients=2, moves=2, deaths=1, mutes=1),
    World(clients=2, moves=2, deaths=1, lost=1),
    World(clients=3, moves=1, lost=1),
    World(clients=2, moves=0, losses=1, lost=1),
    World(clients=2, moves=0, losses=1, lost=1, restart=Restart.INTACT),
    World(clients=3, moves=2, deaths=1),
)

REQUIRED = (
    World(clients=3, moves=2, deaths=1),
    World(clients=3, moves=1, deaths=1, losses=1, zombie=True),
    World(clients=3, moves=2, deaths=1, losses=1),
)

LONG = (
    World(clients=3, moves=2, deaths=1, cap=3),
    World(clients=3, queues=2, moves=1, deaths=1),
    World(clients=2, moves=2, deaths=1, comebacks=1),
    World(clients=2, moves=1, deaths=1, losses=1, comebacks=1),
    World(clients=2, moves=1, deaths=1, losses=1, comebacks=1, restart=Restart.INTACT),
    World(clients=2, moves=1, deaths=1, losses=1, restart=Restart.OLD),
    World(clients=2, moves=1, deaths=1, losses=1, zombie=True),
    World(clients=2, moves=1, deaths=1, losses=1, restart=Restart.OLD, zombie=True),
    World(clients=2, moves=1, deaths=1, resets=1),
    World(clients=2, moves=0, deaths=1, losses=1, resets=1),
    World(clients=2, moves=0, deaths=1, losses=1, resets=1, restart=Restart.OLD),
    World(clients=3, moves=2, deaths=1, eager=True),
    World(clients=3, moves=1, deaths=1, mutes=1),
)

ROWS = {Rows.SMALL: SMALL, Rows.REQUIRED: REQUIRED, Rows.LONG: LONG}
