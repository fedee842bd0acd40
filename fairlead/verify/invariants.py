"""The invariants by number: what each promises, and from what and how the judge decides it.

``fairlead verify --explain S2`` shows this, and docs/verify.md has it as a table.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

__all__ = ["INVARIANTS", "Invariant"]


class Invariant(NamedTuple):
    """One promise."""

    title: str
    judged_from: str
    how: str


INVARIANTS: Final[Mapping[str, Invariant]] = {
    "S1": Invariant(
        "one owner",
        "journals",
        "No two processes work on one queue at the same moment. Each START opens a tenure; its "
        "STOP or its process's death (by the fault log) closes it. A tenure that nothing closes "
        "stays open for ever. The tenure of a frozen process ends at the freeze if its grant "
        "lapsed and it did nothing afterwards. All times are of one host's clock, so the judge "
        "needs no tolerance.",
    ),
    "S2": Invariant(
        "grant discipline",
        "decisions, assignments, releases, handovers, heartbeats, control",
        "The engine grants a queue without a gate only when every older grant of it was released, "
        "answered null, superseded by proof of later work, voided by claims, or lapsed on the log "
        "clock, which the judge computes again; a gated add names every other grant. No client "
        "works under a gated grant before a broker appended the release that opens it, or its copy "
        "to the successor; a client may die between the two. What a decision calls resolved is "
        "resolved. No client reports work under a grant and answers that it never started it. "
        "Grants that a decision marks unsafe (mode eager, on_mute = force) are exempt.",
    ),
    "S3": Invariant(
        "epochs",
        "decisions, assignments, generations",
        "Per group, the epochs of one generation's decisions never fall. One client only gets an "
        "epoch of a queue, and each new epoch of a queue is greater than all before it. Every "
        "generation that decides has its claim. Records of a superseded driver may come late: the "
        "judge counts them, since clients refuse them.",
    ),
    "S4": Invariant(
        "fencing",
        "decisions, releases, heartbeats",
        "No queue starts at a position that only a stale report has: a report from a client, "
        "incarnation and epoch without a grant of the queue.",
    ),
    "S5": Invariant(
        "continuity of offsets",
        "decisions, releases, heartbeats, control, offsets; journals, and the source if it was "
        "recorded",
        "A queue starts at the newest accepted position that the engine had read, or where its "
        "start policy puts it within known bounds. A queue that its topic's route hid for a while "
        "starts at its old position. An assignment has the start of its decision, and no client "
        "releases below its own progress. The engine follows an operator's reset, which lies "
        "within the queue by bridges, clients and the recorded source. By the journals, no start "
        "is beyond the processed messages (a hole). A start is below them only after a death or a "
        "lost lease, by at most the progress that the engine had not read, or after a release "
        "below an unfinished message. With the source recorded, clients processed every message, "
        "except those before a first start at a commit, at the end or at a time. An operator's "
        "reset begins another reading: it may repeat or skip messages.",
    ),
    "S6": Invariant(
        "replay",
        "all topics",
        "The judge runs every batch with a decision again, from the recorded rows, by the cut that "
        "the decision names: every record has the same bytes. At-least-once delivery allows "
        "batches that were written twice, and batches in which a driver died.",
    ),
    "S7": Invariant(
        "determinism",
        "all topics",
        "That replay reads the rows of each batch in another order. A recording does not show "
        "other batches or hash seeds.",
    ),
    "S8": Invariant(
        "confluence",
        "tests alone",
        "Targets do not depend on how batches divide the events. A recording cannot show it: "
        "clients answered the batches as they were.",
    ),
    "S9": Invariant(
        "no phantom",
        "decisions, heartbeats, routes",
        "A new grant goes to a live member that has not left or lapsed and subscribes to the "
        "topic. The queue is in the newest route read, with read permission. The judge skips "
        "grants of a driver that began from an older state than others had reached: clients refuse "
        "them.",
    ),
    "S10": Invariant(
        "isolation",
        "decisions, all inputs",
        "Each cause that a decision names is a record of its own group, a route, or a rule of all "
        "groups.",
    ),
    "S11": Invariant(
        "conservation",
        "heartbeats, releases, control, rejects; decisions, requests",
        "A topic that is not compacted lacks no record between its first offset and its end. Each "
        "malformed row that the engine read has its dead letter, and each dead letter its row.",
    ),
    "S12": Invariant(
        "bounded movement",
        "decisions",
        "No queue moves without a cause. Under STICKY a single join takes at most one member's "
        "share from others, and a single leave or death takes nothing.",
    ),
    "S13": Invariant(
        "bounded state",
        "all topics",
        "During the replay the state of a shard stays below 64 KiB plus 4 KiB for each member, "
        "queue and group in the recording.",
    ),
    "S14": Invariant(
        "duplicate identity",
        "decisions, assignments, heartbeats",
        "Of two processes with one client id only the greater gets grants once the engine has read "
        "it. The engine notifies the other one if it decides while both are there.",
    ),
    "S15": Invariant(
        "claims are not believed by value",
        "assignments, heartbeats",
        "Every grant in a member's set, or named as a gate, was issued to that member by an add: a "
        "claim makes no grant.",
    ),
    "L1": Invariant(
        "convergence",
        "decisions",
        "A group's handover ends within lease, margin, drain deadline and trigger together after "
        "the last change, or an alarm names the reason. Time without a ticking driver does not "
        "count, and each driver begins at zero.",
    ),
    "L2": Invariant(
        "no stuck handover",
        "decisions",
        "The engine reads the answer to a drop within drain deadline, lease, margin and trigger, "
        "or raises an alarm meanwhile. A new driver begins at zero, and a member that claims to "
        "work on obeys no drop of an older driver.",
    ),
    "L3": Invariant(
        "recovery",
        "decisions, heartbeats, generations",
        "The engine calls only members dead that were silent for lease and margin on the log "
        "clock, however long it was down. A generation that ticks for longer than a handover may "
        "take, while a member heartbeats, decides.",
    ),
    "L4": Invariant(
        "lost output",
        "decisions",
        "A member with a differing digest obeys when the engine writes its record again: its "
        "digest changes during three heals in a row of one driver, or an alarm names it.",
    ),
}
"""By number, in their order."""
