"""Principals and their rights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final, Literal, cast, get_args

from fairlead.access.refusals import AccessError, missing_right

__all__ = ["ANYBODY", "RIGHTS", "Limits", "Principal", "Right"]

Right = Literal["observe", "consume", "operate"]
RIGHTS: Final[tuple[Right, ...]] = get_args(Right)


@dataclass(frozen=True, slots=True)
class Limits:
    """A principal's own limits; None: those of `[access.limits]`."""

    requests_per_second: int | None = None
    requests_at_once: int | None = None
    sessions: int | None = None
    streams: int | None = None


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody who may do something.

    Attributes:
        name: the name, which audit records carry.
        rights: the globs of the groups for which it has each right.
        limits: its own limits.
    """

    name: str
    rights: Mapping[Right, Sequence[str]] = field(default_factory=dict)
    limits: Limits = Limits()

    def may(self, right: str, group: str) -> bool:
        """Tell whether it has the right for a group; ``*`` asks for all groups."""
        globs = self.rights.get(cast("Right", right), ())
        if group == "*":
            return "*" in globs
        return any(fnmatchcase(group, glob) for glob in globs)

    def require(self, right: Right, group: str) -> None:
        """Check that it has the right for a group.

        Raises:
            AccessError: it has not.
        """
        if not self.may(right, group):
            raise AccessError(missing_right(self.name, right, group))


ANYBODY: Final = Principal(
    "anonymous",
    dict.fromkeys(RIGHTS, ("*",)),
    Limits(requests_per_second=0, sessions=0, streams=0),
)
"""Every caller of a server on loopback for which nobody has said who may call. The
limits of connections are all it has."""
