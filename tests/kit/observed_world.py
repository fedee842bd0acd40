"""The topics of an engine in memory as rows, as a view reads them."""

from collections import Counter

from fairlead.observed.observed_groups import ObservedGroups
from fairlead.observed.summary import GroupSummary
from fairlead.wire.raw import RawRecord
from tests.kit.memory_topics import NAMES, PARTITIONS
from tests.kit.world import World

DAY_MS = 86_400_000


class Reader:
    """Reads what clients, bridges and the engine have written, each time what is new."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._read: Counter[tuple[str, int]] = Counter()

    def rows(self) -> list[RawRecord]:
        """Return what was not read yet, in order within each partition."""
        topics, unread = self._world.topics, []
        for place in topics.places():
            log = topics.log(*place)
            unread += log[self._read[place] :]
            self._read[place] = len(log)
        return unread


def empty_view() -> ObservedGroups:
    """Return a view of the world's topics that has read nothing."""
    return ObservedGroups(NAMES, PARTITIONS, DAY_MS)


def view_of(world: World) -> ObservedGroups:
    """Return the view of everything that was written."""
    view = empty_view()
    view.apply(Reader(world).rows())
    return view


def summary_of(world: World) -> GroupSummary:
    """Return the line about the only group."""
    (found,) = view_of(world).groups()
    return found


class Followed:
    """A view that follows a world from now on."""

    def __init__(self, world: World) -> None:
        self.world, self.view = world, empty_view()
        self._reader = Reader(world)
        self.view.apply(self._reader.rows())
        self.view.follow()

    def read(self) -> None:
        """Read what is new."""
        self.view.apply(self._reader.rows())

    def pass_seconds(self, seconds: int) -> None:
        """Let time pass, second by second, and read."""
        for _ in range(seconds):
            self.world.pass_seconds(1)
            self.read()
