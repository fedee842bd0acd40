"""Lets STICKY and Kafka's assignors share the same drawn groups."""

import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson
from fairlead_proof.bench.assignors.contestant import Answer, Contestant, Conversation, Effort
from fairlead_proof.bench.assignors.group import Group, Owners, owners_of
from fairlead_proof.bench.assignors.outcome import Outcome, outcome
from fairlead_proof.bench.assignors.strategy_process import owners_by_number

from strategies.registry import STRATEGIES
from tests.assignors.worlds import Draft, drafts

SEED_VARIABLE: Final = "ASSIGNORS_SEED"
"""Set to the seed of a failure, it takes the place of the fresh one."""
GROUPS: Final = 400
_SECONDS_MAX: Final = 60.0


@dataclass(frozen=True, slots=True)
class Trial:
    """Groups of one seed, and what everybody made of them.

    Attributes:
        seed: draws the same groups again.
        drafts: how each came to be.
        groups: what was shared.
        ours: STICKY's outcome for each.
        theirs: the outcomes of each assignor of Kafka, by its name.
    """

    seed: int
    drafts: Sequence[Draft]
    groups: Sequence[Group]
    ours: Sequence[Outcome]
    theirs: Mapping[str, Sequence[Outcome]]

    def pairs(self, *names: str) -> Iterator[tuple[int, Outcome, Outcome]]:
        """Yield number, our outcome and theirs, for each group and each of these assignors."""
        for name in names:
            for number, theirs in enumerate(self.theirs[name]):
                yield number, self.ours[number], theirs

    def story(self, numbers: Sequence[int]) -> str:
        """Say how the first of these groups came to be, and how to draw and to read it again."""
        draft, group = self.drafts[numbers[0]], self.groups[numbers[0]]
        past = f"{draft.kind}, settled by {draft.settled_by}, then {draft.change}"
        return "\n".join(
            (
                f"{len(numbers)} of {len(self.groups)} groups; again: {SEED_VARIABLE}={self.seed}",
                f"the first is group {numbers[0]}: {past}",
                f"group: {orjson.dumps(group.to_json()).decode()}",
                f"STICKY: {self.ours[numbers[0]]}",
                *(f"{name}: {found[numbers[0]]}" for name, found in self.theirs.items()),
            )
        )


def fresh_seed() -> int:
    """Return the seed of the environment, or one that nobody has had."""
    named = os.environ.get(SEED_VARIABLE)
    return secrets.randbits(32) if named is None else int(named)


def sticky(group: Group) -> Owners:
    """Return who should own what by STICKY."""
    return owners_of(owners_by_number(group, STRATEGIES["STICKY"].allocate(group.request())))


def ask_once(
    contestant: Contestant, groups: Sequence[Group], folder: Path, limit_s: float
) -> list[Answer]:
    """Return the answers for many small groups, one run each, from one process.

    Raises:
        TimeoutError: one of them took longer than the limit.
    """
    answers = []
    with Conversation(contestant, folder) as conversation:
        for number, group in enumerate(groups):
            answer = conversation.ask(group, Effort(), limit_s)
            if answer is None:
                raise TimeoutError(f"{contestant.name}: group {number} took over {limit_s} s")
            answers.append(answer)
    return answers


def held(seed: int, kafka: Sequence[Contestant], folder: Path) -> Trial:
    """Draw groups, let each be settled and changed, and let everybody share them."""
    drawn = drafts(seed, GROUPS)
    settled: dict[int, Owners] = {
        number: sticky(draft.first)
        for number, draft in enumerate(drawn)
        if draft.settled_by == "STICKY"
    }
    for assignor in kafka:
        numbers = [
            number for number, draft in enumerate(drawn) if draft.settled_by == assignor.name
        ]
        first = [drawn[number].first for number in numbers]
        answers = ask_once(assignor, first, folder, _SECONDS_MAX)
        settled |= {number: answer.owners for number, answer in zip(numbers, answers, strict=True)}
    groups = [draft.changed(settled.get(number)) for number, draft in enumerate(drawn)]
    theirs = {
        assignor.name: [
            outcome(group, answer.owners)
            for group, answer in zip(
                groups, ask_once(assignor, groups, folder, _SECONDS_MAX), strict=True
            )
        ]
        for assignor in kafka
    }
    return Trial(seed, drawn, groups, [outcome(group, sticky(group)) for group in groups], theirs)
