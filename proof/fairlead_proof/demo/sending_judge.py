"""Judges the producer's demo: every message where it is said to be, and around both brokers."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from fairlead.kafka.topic_content import TopicContent
from fairlead_proof.demo.sent_messages import FIRST, Ledger
from fairlead_proof.demo.verdict import Check

AROUND_MAX: Final = 0.10
"""The greatest share of a broker in trouble, once noticed; an even one is 0.33."""
RETURNED_MIN: Final = 0.25
"""The least share of each of three brokers when all are well again."""
_FINDINGS_MAX: Final = 10


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of the run: what it is called, who is in trouble, and what is judged of it.

    `since` and `until` are CLOCK_MONOTONIC seconds; the moments in which the producer finds out
    are before `since`.
    """

    name: str
    trouble: str | None
    since: float
    until: float


def judge_sending(
    ledger: Ledger, begun: int, content: TopicContent, phases: list[Phase]
) -> tuple[Check, ...]:
    """Return each requirement with what was found.

    Args:
        ledger: what the producer said.
        begun: how many messages were handed to it.
        content: what the brokers have.
        phases: the parts of the run.
    """
    checks = [_answered(ledger, begun), _in_place(ledger, content), _once(ledger, content)]
    checks += [_share(ledger, phase) for phase in phases]
    return tuple(checks)


def _answered(ledger: Ledger, begun: int) -> Check:
    failed = [f"message {number}: {error}" for number, error in ledger.failures[:_FINDINGS_MAX]]
    acknowledged = len({sent.number for sent in ledger.sent})
    return Check(
        "every message acknowledged",
        f"{acknowledged:,} of {begun:,}",
        "all, at least one",
        acknowledged == begun > 0,
        tuple(failed),
    )


def _in_place(ledger: Ledger, content: TopicContent) -> Check:
    stored = {(record.partition, record.offset): record.value for record in content.records}
    wrong = [
        f"message {sent.number} is not at {sent.result.queue.queue_id}@{sent.result.offset}"
        for sent in ledger.sent
        if stored.get((sent.result.queue.queue_id, sent.result.offset)) != b"%d" % sent.number
    ]
    return Check(
        "each at the queue and offset of its answer",
        f"{len(ledger.sent) - len(wrong):,} of {len(ledger.sent):,}",
        "all",
        not wrong,
        tuple(wrong[:_FINDINGS_MAX]),
    )


def _once(ledger: Ledger, content: TopicContent) -> Check:
    """More copies than attempts cannot be; a second attempt may leave a second copy."""
    copies: dict[bytes | None, int] = defaultdict(int)
    for record in content.records:
        if record.value == FIRST:
            continue
        copies[record.value] += 1
    again = sum(copies.values()) - len(copies)
    unanswered = sum(ledger.faults.values())
    return Check(
        "copies by attempts that were not answered",
        f"{again:,}",
        f"at most the {unanswered:,} such attempts",
        again <= unanswered,
    )


def _share(ledger: Ledger, phase: Phase) -> Check:
    shares = ledger.shares(phase.since, phase.until)
    shares_text = ", ".join(f"broker {broker}: {share:.1%}" for broker, share in shares.items())
    if phase.trouble is not None:
        share = shares.get(phase.trouble, 0.0)
        return Check(
            f"{phase.name}: around broker {phase.trouble}",
            f"{share:.1%} of the messages",
            f"at most {AROUND_MAX:.0%}",
            bool(shares) and share <= AROUND_MAX,
            (shares_text,),
        )
    return Check(
        f"{phase.name}: all three share the load",
        shares_text,
        f"at least {RETURNED_MIN:.0%} each",
        len(shares) == 3 and min(shares.values()) >= RETURNED_MIN,  # noqa: PLR2004 - three brokers
    )
