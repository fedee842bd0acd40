"""What the demo's clients are: both kinds of consumer hand queues over to each other."""

import re
from enum import StrEnum

__all__ = ["Consumers"]


class Consumers(StrEnum):
    """How messages reach the application: by its own loop, by a listener, or both in one group."""

    MIXED = "mixed"
    LOOP = "loop"
    PUSH = "push"

    def pushes(self, client_id: str) -> bool:
        """Tell whether a client is a PushConsumer: where both are mixed, those of even number."""
        if self is not Consumers.MIXED:
            return self is Consumers.PUSH
        number = re.search(r"\d+$", client_id)
        return number is not None and int(number.group()) % 2 == 0
