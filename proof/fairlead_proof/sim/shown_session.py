"""A thin client's session in the words of other clients, as the faults of clients look at it."""

from dataclasses import dataclass

from fairlead_client.session.states import SessionState
from fairlead_client.thin import thin_session as words

__all__ = ["ShownSession"]

_SHOWN = {
    words.ThinState.JOINING: SessionState.STARTING,
    words.ThinState.POLLING: SessionState.RUNNING,
    words.ThinState.LEAVING: SessionState.LEAVING,
    words.ThinState.ENDING: SessionState.LEAVING,
    words.ThinState.FENCED: SessionState.FENCED,
    words.ThinState.CLOSED: SessionState.CLOSED,
}


@dataclass(slots=True)
class ShownSession:
    """The session as the faults of clients look at it."""

    session: words.ThinSession

    @property
    def state(self) -> SessionState:
        """What the client waits for, in the words of the library's session."""
        return _SHOWN[self.session.state]
