"""Turns what a session writes into records, as the client library's own transport does."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fairlead_client.session import actions as act
from fairlead_client.session import events as on
from fairlead_client.transport.encoding import ClientDescription, Encoder

from fairlead.gateway.member_profile import MemberProfile

__all__ = ["Message", "SessionRecords"]


@dataclass(frozen=True, slots=True)
class Message:
    """Records for one topic.

    Attributes:
        suffix: the topic.
        values: the records.
        appended: what the session hears once they are in the log.
        is_awaited: whether the answer waits for them.
        handed_to: the client that waits for a copy of a release; "": the whole group.
    """

    suffix: str
    values: tuple[bytes, ...]
    appended: on.Event | None
    is_awaited: bool = True
    handed_to: str = ""


class SessionRecords:
    """Writes the records of one member.

    Args:
        profile: the member.
        lease_ms: its lease.
    """

    def __init__(self, profile: MemberProfile, lease_ms: int) -> None:
        self._joins = profile.joins
        self._encoder = Encoder(
            ClientDescription(
                group=profile.group,
                client_id=profile.client_id,
                process=profile.process,
                lease_ms=lease_ms,
                consume_type=profile.consume_type,
                message_model="clustering",
                consume_from=profile.consume_from,
                consume_timestamp_ms=profile.consume_timestamp_ms,
                ordered=profile.ordered,
                language=profile.language,
                version=profile.version,
                address=profile.address,
                zone=profile.zone,
                capacity=profile.capacity,
                data_plane=profile.data_plane,
                follows=profile.follows,
            )
        )

    def messages(self, action: act.Action, gateway: Mapping[str, Any]) -> Iterator[Message]:
        """Yield the records of an action; none if it writes nothing.

        Args:
            action: of the session.
            gateway: which gateway writes a heartbeat or a leave, and for which poll.
        """
        encoder, more = self._encoder, {"gateway": gateway}
        match action:
            case act.SendHeartbeat():
                # The session counts its own incarnations: each join makes another session.
                counted = replace(action, incarnations=self._joins)
                yield Message("heartbeats", (encoder.heartbeat(counted, more),), None)
            case act.SendProgress():
                yield Message("heartbeats", tuple(encoder.progress(action)), None, is_awaited=False)
            case act.SendClaims(incarnation, generation):
                yield Message(
                    "heartbeats",
                    tuple(encoder.claims(action)),
                    on.ClaimsAppended(incarnation, generation),
                )
            case act.SendFormer(incarnation, epoch):
                appended = on.FormerAppended(incarnation, epoch)
                yield Message("heartbeats", tuple(encoder.former(action)), appended)
            case act.SendRelease(incarnation, queue, epoch, position, successor=successor):
                value = encoder.release(action)
                done = on.ReleaseAppended(incarnation, queue, epoch, position)
                yield Message("releases", (value,), done)
                yield Message("handovers", (value,), None, False, successor or "")  # noqa: FBT003 - nobody waits for a copy
            case act.SendLeave(incarnation):
                leave = encoder.leave(action, more)
                yield Message("heartbeats", (leave,), on.LeaveAppended(incarnation))
            case _:
                return
