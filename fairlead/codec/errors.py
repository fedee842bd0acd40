"""The errors of stored bytes that the engine cannot trust or cannot read."""

from fairlead.errors import RefusedError

__all__ = ["CodecError", "UnknownVersionError", "UnwritableError"]


class CodecError(RefusedError):
    """State cannot be turned into bytes, or bytes cannot be turned into state.

    Going on without the state could make two owners, so nothing is guessed and nothing is skipped.
    """

    def __init__(
        self,
        what: str,
        problem: str,
        remedy: str = "put an intact checkpoint back, or move this one away: the engine recovers "
        "from its topics within seconds",
    ) -> None:
        super().__init__(f"{what}: {problem}", remedy=remedy)
        self.what = what
        self.problem = problem

    def __reduce__(self) -> tuple[type["CodecError"], tuple[object, ...]]:
        """Rebuild from its two texts: it crosses a process boundary on its way to the driver."""
        return (CodecError, (self.what, self.problem))


class UnknownVersionError(CodecError):
    """Another version of Fairlead wrote the bytes; nothing is damaged."""

    def __init__(self, what: str, version: int, known: int) -> None:
        super().__init__(
            what,
            f"another version of Fairlead wrote it (its form is {version}, this one reads {known})",
            remedy="run that version, or move engine.checkpoint away and start again: the engine "
            "recovers from its topics within seconds, and owners work on meanwhile",
        )
        self._numbers = (version, known)

    def __reduce__(self) -> tuple[type["CodecError"], tuple[object, ...]]:
        """Rebuild from its parts, as the base class does."""
        return (UnknownVersionError, (self.what, *self._numbers))


class UnwritableError(CodecError):
    """A state cannot be turned into bytes; the stored bytes are intact."""

    def __init__(self, what: str, problem: str) -> None:
        super().__init__(
            what,
            problem,
            remedy="start again: the stored state is intact; if it happens again, please report it",
        )

    def __reduce__(self) -> tuple[type["UnwritableError"], tuple[object, ...]]:
        """Rebuild from its two texts, as the base class does."""
        return (UnwritableError, (self.what, self.problem))
