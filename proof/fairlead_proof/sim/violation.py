"""The error that fails a schedule."""

__all__ = ["BreachError"]


class BreachError(AssertionError):
    """A promise was broken.

    Args:
        rule: the invariant, by a short name: DOUBLE, HOLE, DUP, EPOCH, …
        detail: who broke it, where, and how.
    """

    def __init__(self, rule: str, detail: str) -> None:
        super().__init__(f"{rule}: {detail}")
        self.rule = rule
        self.detail = detail
