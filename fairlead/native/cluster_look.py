"""All groups of a cluster as one look saw them, and what it could not see."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from fairlead.native.group_look import GroupLook, Kind

__all__ = ["ClusterLook", "NativeReader"]


@dataclass(frozen=True, slots=True)
class ClusterLook:
    """What one look saw.

    Attributes:
        groups: by name.
        unheard: a phrase for each server that did not answer; what others said counts.
    """

    groups: tuple[GroupLook, ...]
    unheard: tuple[str, ...] = ()


class NativeReader(Protocol):
    """What looks at the groups of a cluster, and joins none."""

    kind: Kind

    def look(self, wanted: Callable[[str], bool]) -> ClusterLook:
        """Look at the groups for whose names ``wanted`` is true.

        Raises:
            EnvironmentMissingError: the cluster does not answer.
        """
        ...
