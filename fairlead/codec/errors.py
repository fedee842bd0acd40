"""The error of stored bytes that cannot be trusted."""

from fairlead.errors import RefusedError

__all__ = ["CodecError"]


class CodecError(RefusedError):
    """State cannot be turned into bytes, or bytes cannot be turned into state.

    Going on without the state could make two owners, so nothing is guessed and nothing is skipped.
    """

    def __init__(self, what: str, problem: str) -> None:
        super().__init__(
            f"{what}: {problem}",
            remedy="put an intact checkpoint back, or run the engine version that wrote this one",
        )
        self.what = what
        self.problem = problem

    def __reduce__(self) -> tuple[type["CodecError"], tuple[str, str]]:
        """Rebuild from its two texts: it crosses a process boundary on its way to the driver."""
        return (CodecError, (self.what, self.problem))
