"""A consumer process with a defect: it never acknowledges a generation. All else is the real one.

Its session thinks that the answer is on its way, and asks again; its heartbeats go on.
"""

from fairlead_client.session.actions import SendClaims
from fairlead_client.transport import session_thread
from fairlead_client.transport.control_writer import ControlWriter, SendAction
from fairlead_proof.demo import consumer_process


class MuteWriter(ControlWriter):
    """Writes everything but claims."""

    def send(self, action: SendAction) -> None:
        """Write what the action says, unless it is an acknowledgement."""
        if not isinstance(action, SendClaims):
            super().send(action)


if __name__ == "__main__":
    vars(session_thread)["ControlWriter"] = MuteWriter
    consumer_process.main()
