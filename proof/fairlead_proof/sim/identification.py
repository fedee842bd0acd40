"""Which of a schedule's processes a client is."""

from dataclasses import dataclass

__all__ = ["Identification"]


@dataclass(frozen=True, slots=True)
class Identification:
    """Which process it is: its client id, its number among all processes, its topics."""

    client_id: str
    number: int
    topics: tuple[str, ...]
    drift_permille: int
