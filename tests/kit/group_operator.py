"""What an operator does to the world of one group, and what comes of it."""

from typing import Any

from tests.kit.group_world import GroupWorld, queue_of

__all__ = ["alarms_of", "drain", "owners_of", "pause", "set_of_queue"]


def set_of_queue(world: GroupWorld, rule: str, number: int, **value: Any) -> None:
    """An operator sets a rule of one queue of orders, or removes it."""
    subject = ("orders", "main", str(number))
    world.rule(rule, {"queue": [*queue_of(number)], **value} if value else None, *subject)


def drain(world: GroupWorld, client: str, *, ended: bool = False) -> None:
    """An operator drains a client, or ends that."""
    world.rule("drain", None if ended else {"client_id": client}, client)


def pause(world: GroupWorld, *, ended: bool = False) -> None:
    """An operator pauses the group, or resumes it."""
    world.rule("pause", None if ended else True)


def owners_of(world: GroupWorld) -> dict[int, str]:
    """Return queue id -> the client id that should own it."""
    assert world.state is not None
    return {queue.queue_id: owner for queue, owner in sorted(world.state.targets.items())}


def alarms_of(world: GroupWorld) -> tuple[str, ...]:
    """Return the alarms of the last decision."""
    return world.decision.alarms
