"""What a thin client said when it joined: it stays as it is for the whole session."""

from dataclasses import dataclass

from fairlead_client.model import DataPlane, Process, Subscription
from fairlead_client.session.memory import SessionSettings

__all__ = ["MemberProfile"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberProfile:
    """One member of one group, as its heartbeats describe it.

    Attributes:
        principal: who opened the session, and alone may go on with it.
        group: the group.
        client_id: the client id.
        process: orders two processes with one client id.
        joins: orders two joins of one process.
        consume_from: where a queue begins that nobody has read.
        consume_timestamp_ms: the time for ``consume_from`` "timestamp"; None: not given.
        capacity: how much more than others the client can do.
        zone: where it runs; None: not given.
        ordered: whether it wants its messages in order.
        consume_type: whether its messages come to it, or it asks for them.
        language: what it is written in.
        version: its version.
        address: the address it called from.
        data_plane: where it reads, and its id there; None: it does not say.
        follows: the strategy of its data plane that it can follow; None: it cannot stand by.
    """

    principal: str
    group: str
    client_id: str
    process: Process
    joins: int = 1
    consume_from: str = "last_offset"
    consume_timestamp_ms: int | None = None
    capacity: int = 1
    zone: str | None = None
    ordered: bool = False
    consume_type: str = "push"
    language: str = "other"
    version: str = "0"
    address: str = "127.0.0.1"
    data_plane: DataPlane | None = None
    follows: str | None = None

    def session_settings(
        self, subscriptions: tuple[Subscription, ...], lease_ms: int
    ) -> SessionSettings:
        """Return the settings of the member's session in a gateway.

        It forces no release, since nobody but the client can stop the client; and it commits
        nothing, since it does not reach the data.
        """
        return SessionSettings(
            self.group,
            self.client_id,
            self.process,
            subscriptions,
            lease_ms=lease_ms,
            drain_deadline_ms=None,
            commits=False,
            gather_ms=0,
            stands_by=self.follows is not None,
        )
