"""The story of a schedule, line by line, for people; kept only on request."""

from collections.abc import Iterable

__all__ = ["Story"]


class Story:
    """Lines of (time, who, what)."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, at_ms: int, who: str, words: Iterable[object]) -> None:
        """Add a line."""
        self.lines.append(f"{at_ms / 1_000:9.3f} s  {who:<12} {' '.join(map(_worded, words))}")

    def last(self, lines: int) -> list[str]:
        """Return the newest lines."""
        return self.lines[-lines:]


def _worded(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode()
    match value:
        case (str(topic), str(broker_name), int(queue_id)):
            return f"{topic}/{broker_name}/{queue_id}"
        case (int(first), int(second)):
            return f"[{first},{second}]"
        case _:
            return str(value)
