"""What the console's answers are made from."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from fairlead.console.answers import UnknownGroups
from fairlead.console.live_view import LiveView
from fairlead.history.newest_rejects import NewestRejects
from fairlead.http.event_streams import EventStreams
from fairlead.kafka.topic_follower import Following
from fairlead.observed.observed_groups import ObservedGroups
from fairlead.operating.offline_topics import OpenData
from fairlead.settings import Settings

__all__ = ["ConsoleParts", "View"]

_Answer = TypeVar("_Answer")


class View(LiveView, Protocol):
    """The one view of all groups that this process keeps; any thread may ask it.

    A question may hold its lock for a moment, so it is asked on a thread of the pool
    (``run_in_threadpool``), never on that of the loop.
    """

    @property
    def rejects(self) -> NewestRejects:
        """What the engine has rejected."""

    def query(self, question: Callable[[ObservedGroups], _Answer], otherwise: _Answer) -> _Answer:
        """Return the view's answer to a question; ``otherwise`` while there is no view."""

    def groups(self) -> list[dict[str, Any]]:
        """Return the lines of all groups, sorted by name."""

    def bridges(self) -> list[dict[str, Any]]:
        """Return the bridge of each cluster."""

    @property
    def as_of_ms(self) -> int | None:
        """The newest append time that the last list of groups rests on."""


@dataclass(frozen=True, slots=True)
class ConsoleParts:
    """What the answers are made from.

    Attributes:
        view: what is known of all groups.
        following: how far the topics were read.
        settings: the settings of the process.
        streams: counts the open streams of events.
        unknown: answers whoever asks for a group that nobody knows.
        groups_head: returns the document of all groups without the groups.
        open_data: connects to the cluster with the messages; None: there is none.
    """

    view: View
    following: Callable[[], Following]
    settings: Settings
    streams: EventStreams
    unknown: UnknownGroups
    groups_head: Callable[[], dict[str, Any]]
    open_data: OpenData | None = None
