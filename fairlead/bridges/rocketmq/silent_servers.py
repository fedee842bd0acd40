"""The servers that did not answer: nobody waits for them again until they do.

A server that hangs (its connection stays open) costs its time limit. So the loop asks it once, and
a thread of its own asks on.
"""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

import structlog
from fairlead_client.remoting.codes import RequestCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.connections import Connections
from fairlead_client.remoting.remoting_error import RemotingError, RequestRefusedError

from fairlead.rocketmq.answer_reading import UnreadableAnswerError
from fairlead.rocketmq.asking import Answer, Question, ask_all

__all__ = ["SilentServers"]

_PROBE_S: Final = 1.0
_PROBE: Final = Command(RequestCode.GET_BROKER_CLUSTER_INFO)
"""Name servers answer it, and brokers refuse it. A name server of 4.x answers nothing to a request
that it does not know (DefaultRequestProcessor#processRequest)."""

log = structlog.get_logger(__name__)


class SilentServers:
    """Which servers are silent.

    Args:
        connections: to the servers.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._silent: set[str] = set()
        self._unreadable: set[str] = set()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="silent-servers")
        self._asking: Future[list[str]] | None = None

    def note(self, address: str, why: object) -> None:
        """Note that a server did not answer."""
        if address not in self._silent:
            self._silent.add(address)
            log.warning("server_silent", address=address, error=str(why))

    def note_answer(self, address: str, answer: Answer) -> None:
        """Note an answer: a server that did not answer, or which cannot be reached.

        One whose answers cannot be read takes no time, so it is asked on, and named once.
        """
        if isinstance(answer, UnreadableAnswerError):
            if address not in self._unreadable:
                self._unreadable.add(address)
                log.warning("look_up_failed", address=address, error=str(answer))
        elif isinstance(answer, RemotingError) and not isinstance(answer, RequestRefusedError):
            self.note(address, answer)

    def without(self, addresses: Mapping[str, str]) -> dict[str, str]:
        """Return those whose address is that of no silent server."""
        return {key: address for key, address in addresses.items() if address not in self._silent}

    def answering(self, addresses: Iterable[str]) -> tuple[str, ...]:
        """Return those that are not silent."""
        return tuple(each for each in addresses if each not in self._silent)

    def work(self, needed: Callable[[], Iterable[str]]) -> None:
        """Take back who answers again, and ask the others; returns at once.

        Args:
            needed: returns the servers that still matter; others are forgotten.
        """
        if self._asking is not None and self._asking.done():
            for address in self._asking.result():
                self._silent.discard(address)
                self._unreadable.discard(address)
                log.info("server_answers", address=address)
            self._asking = None
        if self._silent and self._asking is None:
            self._silent &= {*needed()}
            self._asking = self._thread.submit(self._ask, sorted(self._silent))

    def close(self) -> None:
        """Wait for the questions under way, and end."""
        self._thread.shutdown()

    def _ask(self, addresses: list[str]) -> list[str]:
        questions = [Question(each, _PROBE) for each in addresses]
        answers = ask_all(self._connections, questions, _PROBE_S)
        return [
            address
            for address, answer in zip(addresses, answers, strict=True)
            if isinstance(answer, Command | RequestRefusedError)
        ]
