"""Counts how queues came from one owner to the next, and by what one knows that it was safe.

A handover counts when a decision lets in a client of another id than the one before: it grants the
queue, or it finds the last grant that the client waited for ended. It is safe if each older grant
of the queue had ended by then. What had ended them, the causes of the decisions say, and the
releases themselves.
"""

from collections import deque
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from fairlead.core.handover.forced_handover import MUTE_MEMBER
from fairlead.core.model import Epoch, MessageQueue
from fairlead.observed.group_decisions import AppliedDecision, GroupDecisions
from fairlead.observed.releases import Releases
from fairlead.wire.quick_decisions import Step

__all__ = ["GroupHandovers", "HandoverTally"]

_End = Literal["release", "lease", "otherwise"]

_WORDS: Final[Mapping[str, _End]] = {
    "client_expired": "lease",
    "released": "release",
    "client_left": "release",
}
"""What ended a grant, by a cause that names its client; a leave says what that never began."""
_OPENED: Final = "opened"
"""The stage of a grant that a client took by the end of the former one, without a further word."""
_ORDER: Final[tuple[_End, ...]] = ("otherwise", "lease", "release")
"""Of several grants before one, the weakest end counts."""


class HandoverTally(NamedTuple):
    """How many handovers there were, by what made them safe.

    Attributes:
        by_release: the former owner had written that it had stopped.
        by_lease: the former owner was taken for dead, when its lease and the margin were over.
        otherwise: the former grant had ended in another way: by the clients' answers to an engine
            that began, or by what its successor told.
        unsafe: the next owner was let in although the former one may have been working.
        smallest_gap_ms: the shortest time from a release to the decision that granted the queue to
            the next owner, by their append times; None: no release of those is known.
    """

    by_release: int = 0
    by_lease: int = 0
    otherwise: int = 0
    unsafe: int = 0
    smallest_gap_ms: int | None = None

    @property
    def checked(self) -> int:
        """How many there were."""
        return self.by_release + self.by_lease + self.otherwise + self.unsafe

    def plus(self, other: "HandoverTally") -> "HandoverTally":
        """Return the tally of both."""
        gaps = (self.smallest_gap_ms, other.smallest_gap_ms)
        return HandoverTally(
            self.by_release + other.by_release,
            self.by_lease + other.by_lease,
            self.otherwise + other.otherwise,
            self.unsafe + other.unsafe,
            min((each for each in gaps if each is not None), default=None),
        )


_NONE: Final = HandoverTally()


class _Ended(NamedTuple):
    """A grant that has ended, and whose queue has no next owner yet."""

    client_id: str
    end: _End
    released_ms: int | None


@dataclass(slots=True)
class GroupHandovers:
    """The handovers in the decisions of one group that are remembered.

    Attributes:
        tally: all of them.
    """

    tally: HandoverTally = _NONE
    _kept: deque[tuple[int, HandoverTally]] = field(default_factory=deque)
    _ended: dict[MessageQueue, dict[Epoch, _Ended]] = field(default_factory=dict)

    def take_decision(
        self, applied: AppliedDecision, decided: GroupDecisions, releases: Releases
    ) -> None:
        """Count the handovers of a decision.

        Args:
            applied: the decision.
            decided: all decisions so far, this one included.
            releases: those of the group; their topic may be behind.
        """
        if applied.again:
            return
        self._note_ends(applied, releases)
        found = HandoverTally()
        append_ms = applied.decision.append_ms
        for step in _let_in(applied.steps, decided):
            found = found.plus(self._handed_over(step, decided, append_ms))
        if found.checked:
            self.tally = self.tally.plus(found)
            self._kept.append((append_ms, found))

    def _note_ends(self, applied: AppliedDecision, releases: Releases) -> None:
        resolved = [step for step in applied.steps if step.stage == "resolved"]
        if not resolved:
            return
        words: dict[str, set[str]] = {}
        for cause in applied.causes():
            words.setdefault(str(cause.get("client_id")), set()).add(str(cause["kind"]))
        for step in resolved:
            own = words.get(step.client_id, set())
            released_ms = releases.at_ms(step.queue, step.client_id, step.epoch)
            if released_ms is not None and released_ms > applied.decision.append_ms:
                # The engine had not read it, or the clocks of two brokers differ.
                released_ms = None
            end = "release" if released_ms is not None else _end_by(own)
            ended = _Ended(step.client_id, end, released_ms)
            self._ended.setdefault(step.queue, {})[step.epoch] = ended

    def _handed_over(self, step: Step, decided: GroupDecisions, append_ms: int) -> HandoverTally:
        """Return the handover to a client that was let in; an empty tally: it is none."""
        older = {
            epoch: each
            for epoch, each in self._ended.pop(step.queue, {}).items()
            if epoch < step.epoch
        }
        open_before = [
            each.client_id for each in decided.grants.get(step.queue, ()) if each.epoch < step.epoch
        ]
        owners = {*open_before, *(each.client_id for each in older.values())} - {step.client_id}
        if not owners:
            return HandoverTally()
        if open_before or step.unsafe:
            return HandoverTally(unsafe=1)
        ends = {each.end for each in older.values()}
        match next(each for each in _ORDER if each in ends):
            case "release":
                return HandoverTally(by_release=1, smallest_gap_ms=_gap_ms(older, step, append_ms))
            case "lease":
                return HandoverTally(by_lease=1)
            case "otherwise":
                return HandoverTally(otherwise=1)

    def forget_before(self, oldest_ms: int, queues: Container[MessageQueue]) -> None:
        """Forget the handovers before this time, and what ended of other queues than these."""
        if self._kept and self._kept[0][0] < oldest_ms:
            while self._kept and self._kept[0][0] < oldest_ms:
                self._kept.popleft()
            self.tally = _sum(each for _, each in self._kept)
        for queue in [each for each in self._ended if each not in queues]:
            del self._ended[queue]


def _let_in(steps: Collection[Step], decided: GroupDecisions) -> Iterable[Step]:
    """Yield the grants by which a client may work from this decision on."""
    granted = {step.queue: step for step in steps if step.stage == "granted"}
    yield from granted.values()
    for queue in {step.queue for step in steps if step.stage == "resolved"} - granted.keys():
        # What it waited for is over, and no word of the engine is needed.
        left = decided.grants.get(queue, ())
        if len(left) == 1 and left[0].stage == "gated":
            (grant,) = left
            yield Step(queue, _OPENED, grant.client_id, grant.epoch, None, grant.unsafe)


def _end_by(own: Collection[str]) -> _End:
    """Return what ended a grant, by the causes that name its client."""
    if MUTE_MEMBER in own:
        return "otherwise"
    return next((end for word, end in _WORDS.items() if word in own), "otherwise")


def _gap_ms(older: Mapping[Any, _Ended], step: Step, append_ms: int) -> int | None:
    """Return the time from the last release; None: no release is known, or no word granted it."""
    told = [each.released_ms for each in older.values() if each.released_ms is not None]
    if not told or step.stage == _OPENED:
        return None
    return append_ms - max(told)


def _sum(tallies: Iterable[HandoverTally]) -> HandoverTally:
    total = HandoverTally()
    for each in tallies:
        total = total.plus(each)
    return total
