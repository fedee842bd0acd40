"""The sessions that a gateway keeps between two polls, and how it opens a poll's `state`."""

from fairlead.gateway.client_state import ClientState, StateError, StateSeal
from fairlead.gateway.exchange import KeptSession, PollRequest
from fairlead.gateway.outputs import Refusal, forbidden, session_over

__all__ = ["KeptSessions"]


class KeptSessions:
    """Sessions by name, each exactly as the `state` says that its client got last.

    Args:
        seal: the key of the states.
    """

    def __init__(self, seal: StateSeal) -> None:
        self._seal = seal
        self._kept: dict[str, KeptSession] = {}

    def get(self, session: str) -> KeptSession | None:
        """Return a kept session."""
        return self._kept.get(session)

    def drop(self, session: str) -> None:
        """Keep this session no longer."""
        self._kept.pop(session, None)

    def keep(self, session: str, value: KeptSession) -> None:
        """Keep a session until its next poll."""
        self._kept[session] = value

    def seal(self, state: ClientState) -> str:
        """Return the text of a state."""
        return self._seal.seal(state)

    def open(self, asked: PollRequest) -> tuple[KeptSession | None, ClientState] | Refusal:
        """Return the kept session if the poll echoes its state, and what the state says."""
        kept = self._kept.get(asked.session)
        if kept is not None and kept.text == asked.state:
            state = kept.state
        else:
            kept = None
            try:
                state = self._seal.open(asked.state)
            except StateError as error:
                # The key may be another one since the gateway restarted: the client joins anew.
                return session_over("bad_state", f"state: {error}.")
        if state.profile.principal != asked.principal or state.saved.incarnation != asked.session:
            detail = "state: it is of another session, or others opened the session."
            remedy = "Send the state of this session, with the credentials that opened it."
            return Refusal(403, "not_yours", detail, remedy, "state")
        if not asked.may_consume(state.profile.group):
            return forbidden(asked.principal, "consume", state.profile.group)
        return kept, state

    def forget(self, before_ms: int) -> None:
        """Forget the sessions whose lease was given before this time."""
        for session, kept in list(self._kept.items()):
            if kept.leased_ms < before_ms:
                self.drop(session)
