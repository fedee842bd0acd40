"""The identification of a client process in a schedule."""

from dataclasses import dataclass

__all__ = ["Identification"]


@dataclass(frozen=True, slots=True)
class Identification:
    """The client id of a process, its number among all processes, and its topics."""

    client_id: str
    number: int
    topics: tuple[str, ...]
    drift_permille: int
