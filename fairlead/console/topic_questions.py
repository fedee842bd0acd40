"""Questions that only the topics themselves answer: few at a time, and none for long."""

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

from starlette.requests import Request

from fairlead.access.guard import admitted
from fairlead.errors import EnvironmentMissingError
from fairlead.gateway.operator_threads import OperatorThreads
from fairlead.http.problems import Problem
from fairlead.kafka.kafka_source import KafkaSource
from fairlead.kafka.topic_source import TopicSource
from fairlead.settings import KafkaSettings

__all__ = ["TopicQuestions", "caller_of"]

_AT_ONCE: Final = 4
"""So many questions read the topics at once."""
_PATIENCE_S: Final = 20.0
"""An answer may take so long; a reading that hangs goes on until the library gives it up."""
_TRY_AGAIN: Final = {"retry-after": "5"}

_Answer = TypeVar("_Answer")


class TopicQuestions:
    """Reads Fairlead's topics for a request, on a thread and a connection of its own.

    Args:
        kafka: the cluster with the topics.
        patience_s: how long an answer may take.
    """

    def __init__(self, kafka: KafkaSettings, patience_s: float = _PATIENCE_S) -> None:
        self._kafka, self._patience_s = kafka, patience_s
        # A page asks for several at once, so that the limit of all is the limit of one.
        self._threads = OperatorThreads(_AT_ONCE, _AT_ONCE + 1)

    async def ask(
        self, caller: str, question: Callable[[TopicSource], _Answer]
    ) -> _Answer | Problem:
        """Return what a question answers, or why nobody can ask it now.

        Args:
            caller: who asks, for the number of questions of one principal.
            question: reads the topics; what it raises is raised here.
        """
        try:
            work = self._threads.run(caller, lambda: self._read(question))
            return await asyncio.wait_for(work, self._patience_s)
        except TimeoutError:
            says = f"The topics did not answer within {self._patience_s:g} s."
            remedy = "Try again; if that does not help, look at the brokers."
            return Problem(503, "topics_slow", says, remedy, headers=_TRY_AGAIN)
        except EnvironmentMissingError as error:
            says, remedy = error.over_http
            return Problem(503, "topics_unreadable", says, remedy, headers=_TRY_AGAIN)

    def _read(self, question: Callable[[TopicSource], _Answer]) -> _Answer:
        source = KafkaSource(self._kafka)
        with source.reader:
            return question(source)


def caller_of(request: Request) -> str:
    """Return the name of the principal that sent a request."""
    return admitted(request.scope).principal.name
