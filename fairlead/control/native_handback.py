"""Hands a group back: where native consumers go on, and the rule that keeps Fairlead's clients out.

Decides what to write for each queue, and which writes would make messages be read again. A released
group is designated to nobody: a Fairlead client that comes back is a member, owns nothing beside
the native consumers, and the rule says why.

ADR 0158 gives the reasons.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from fairlead.control.queue_place import QueuePlace
from fairlead.control.rules_in_force import RulesInForce
from fairlead.core.model import MessageQueue, Position
from fairlead.core.publishing.utc_words import utc_words
from fairlead.core.records import RuleSet
from fairlead.core.rules.designation import RELEASED

__all__ = [
    "GroupRelease",
    "ReleasedQueue",
    "ends_release",
    "foreign_designation",
    "is_released",
    "plan_release",
    "release_of",
    "release_rule",
    "take_back_rule",
]

_RULE: Final = "designated"
_ELSEWHERE: Final = "(elsewhere)"
"""Stands beside `RELEASED` if the native group has another name."""

HandbackVerdict = Literal["to_write", "stands", "ahead", "untold"]
"""``stands``: the native group is there already. ``ahead``: it is further and would read again.

``untold``: nobody has told a position of the queue, so the native consumers begin where their own
auto.offset.reset says.
"""


@dataclass(frozen=True, slots=True)
class ReleasedQueue:
    """One queue.

    Attributes:
        place: what it holds, and where Fairlead's group is in it.
        native: where the native group is; None: it has committed nothing.
        position: where the native group shall go on, inside the kept messages; None: unknown.
        verdict: see `HandbackVerdict`.
    """

    place: QueuePlace
    native: int | None
    position: Position | None
    verdict: HandbackVerdict

    @property
    def lag(self) -> int | None:
        """How many kept messages are left to the native group."""
        return None if self.position is None else self.place.latest - self.position.offset

    def to_json(self, answer: str, error: str | None) -> dict[str, Any]:
        """Return it as JSON values; ``error``: why the cluster did not take its commit."""
        return {
            **self.place.to_json(),
            "position": None if self.position is None else [*self.position],
            "native_offset": self.native,
            "lag_messages": self.lag,
            "answer": answer,
            "error": error,
        }


def plan_release(
    places: Iterable[QueuePlace], native: Mapping[MessageQueue, int]
) -> list[ReleasedQueue]:
    """Return what to write for each queue."""
    return [_released(place, native.get(place.queue)) for place in places]


def _released(place: QueuePlace, native: int | None) -> ReleasedQueue:
    if place.position is None:
        return ReleasedQueue(place, native, None, "untold")
    inside = min(max(place.position.offset, place.earliest), place.latest)
    verdict: HandbackVerdict = "to_write"
    if native is not None and native >= inside:
        verdict = "stands" if native == inside else "ahead"
    return ReleasedQueue(place, native, Position(place.position.reset, inside), verdict)


@dataclass(frozen=True, slots=True)
class GroupRelease:
    """The release of a group to native consumers.

    Attributes:
        by: who released it.
        because: to which native group, and why.
        written_ms: when, Unix time.
        elsewhere: the native group has another name, so commits under this name are not its own.
    """

    by: str
    because: str | None
    written_ms: int
    elsewhere: bool

    def words(self) -> str:
        """Return a sentence without a point."""
        reason = self.because or "released to native consumers"
        return f"{reason}; {self.by} did it at {utc_words(self.written_ms)}"

    def way_back(self, group: str) -> str:
        """Say how to take the group back while Fairlead clients are there, without a point."""
        source = " --from NATIVE" if self.elsewhere else ""
        return (
            f"stop the native consumers, then fairlead adopt {group}{source} --apply; or stop "
            "these clients"
        )

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {"by": self.by, "because": self.because, "append_ms": self.written_ms}


def release_rule(group: str, *, elsewhere: bool = False) -> RuleSet:
    """Return the rule that keeps Fairlead's clients from consuming.

    ``elsewhere``: the native group that takes over has another name.
    """
    only = [RELEASED, _ELSEWHERE] if elsewhere else [RELEASED]
    return RuleSet(group, _RULE, (), {"only": only, "if_nobody": "nobody"})


def take_back_rule(group: str) -> RuleSet:
    """Return the removal of the rule that keeps Fairlead's clients from consuming."""
    return RuleSet(group, _RULE, (), None)


def is_released(present: RulesInForce) -> bool:
    """Tell whether the group was released and not taken back."""
    return release_of(present) is not None


def release_of(present: RulesInForce) -> GroupRelease | None:
    """Return who released the group, and when; None: it was not, or has been taken back."""
    written = present.own.get((_RULE, ()))
    if written is None or not isinstance(written.rule.value, Mapping):
        return None
    only = written.rule.value.get("only") or ()
    if RELEASED not in only:
        return None
    rule = written.rule
    return GroupRelease(rule.by, rule.because, written.written_ms, _ELSEWHERE in only)


def ends_release(present: RulesInForce, rules: Iterable[RuleSet]) -> GroupRelease | None:
    """Return the release that these rules of its group would end; None: there is none to end.

    Such rules let Fairlead's clients go on from where they were, beside the native consumers.
    """
    release = release_of(present)
    touched = [each for each in rules if (each.rule, each.subject) == (_RULE, ())]
    if release is None or not touched:
        return None
    value = touched[-1].value
    stays = isinstance(value, Mapping) and RELEASED in (value.get("only") or ())
    return None if stays else release


def foreign_designation(present: RulesInForce) -> bool:
    """Tell whether the group has another designation, which a release would replace."""
    return (_RULE, ()) in present.own and not is_released(present)
