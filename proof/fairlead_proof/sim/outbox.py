"""Turns the session's actions into the client library's bytes."""

from dataclasses import dataclass

from fairlead_client.session import actions as act
from fairlead_client.session import events as on
from fairlead_client.transport.encoding import Encoder

__all__ = ["Message", "Outbox"]


@dataclass(frozen=True, slots=True)
class Message:
    """Records for one topic, and the events after success or failure; ``named`` is for the story.

    ``handed_to``: the client that gets a copy of a release; "": the whole group.
    """

    suffix: str
    values: tuple[bytes, ...]
    appended: on.Event | None
    failed: on.Event
    named: tuple[object, ...] = ()
    handed_to: str | None = None


class Outbox:
    """Turns actions into messages."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def message(self, action: act.Action, local_ms: int) -> Message | None:
        """Return the message of an action; None: it writes nothing.

        Args:
            action: of the session.
            local_ms: the client's clock before the records are sent.
        """
        encoder = self._encoder
        match action:
            case act.SendHeartbeat(incarnation=incarnation, sequence=sequence):
                return Message(
                    "heartbeats",
                    (encoder.heartbeat(action),),
                    on.HeartbeatAppended(incarnation, sequence, local_ms),
                    on.HeartbeatFailed(incarnation, sequence),
                )
            case act.SendProgress(incarnation, entries):
                failed = on.ProgressFailed(incarnation, entries)
                return Message("heartbeats", tuple(encoder.progress(action)), None, failed)
            case act.SendClaims(incarnation, generation):
                return Message(
                    "heartbeats",
                    tuple(encoder.claims(action)),
                    on.ClaimsAppended(incarnation, generation),
                    on.ClaimsFailed(incarnation, generation),
                )
            case act.SendRelease(incarnation, queue, epoch, position, successor=successor):
                return Message(
                    "releases",
                    (encoder.release(action),),
                    on.ReleaseAppended(incarnation, queue, epoch, position),
                    on.ReleaseFailed(incarnation, queue, epoch),
                    (queue, epoch, position),
                    successor or "",
                )
            case act.SendLeave(incarnation):
                return Message(
                    "heartbeats",
                    (encoder.leave(action),),
                    on.LeaveAppended(incarnation),
                    on.LeaveFailed(incarnation),
                )
            case _:
                return None
