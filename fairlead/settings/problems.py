"""A problem with a setting: the key, its source, the reason, and a remedy."""

from collections.abc import Sequence
from dataclasses import dataclass

from fairlead.errors import UsageError


@dataclass(frozen=True, slots=True)
class Problem:
    """One wrong or risky setting.

    ``key`` is dotted (``kafka.bootstrap``); ``source`` is the file, the environment variable or the
    command line; ``line`` is the line of the file, if known.
    """

    key: str
    source: str
    reason: str
    remedy: str
    line: int | None = None

    @property
    def place(self) -> str:
        """The source and line, in the form that editors and terminals understand."""
        return self.source if self.line is None else f"{self.source}:{self.line}"

    def __str__(self) -> str:
        return f"{self.key} ({self.place}): {self.reason}; {self.remedy}"


class SettingsError(UsageError):
    """One or more settings are wrong; the error has all of them."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(str(problem) for problem in problems))
        self.problems = tuple(problems)

    def lines(self) -> list[str]:
        """Return each problem with its remedy below it."""
        lines = ["the settings cannot be used"]
        for problem in self.problems:
            lines.append(f"  {problem.key} ({problem.place}): {problem.reason}")
            lines.append(f"    {problem.remedy}")
        return lines
