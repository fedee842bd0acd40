"""The invariants by number: what each promises, what it is judged from, and how.

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
        "No two processes work on one queue at the same moment. Each START opens a tenure, its "
        "STOP or its process's death (by the fault log) closes it; one that nothing closes stays "
        "open for ever. A process that stood still worked up to there, if its grant lapsed and it "
        "did no more. Times are of one clock of one host, so no tolerance is needed.",
    ),
    "S2": Invariant(
        "grant discipline",
        "decisions, assignments, releases, handovers, heartbeats, control",
        "A queue is granted without a gate only when every older grant of it was released, "
        "answered null, superseded by proof of later work, voided by claims, or lapsed on the log"
        " clock, which is computed again; a gated add names every other one. Nobody works under a"
        " gated grant before the release that opens it, or its copy to the successor, was "
        "appended; a client may die between the two. What a decision calls resolved is resolved. "
        "Nobody answers that it never started what it had reported work under. Grants that a "
        "decision marks unsafe (mode eager, on_mute = force) are exempt.",
    ),
    "S3": Invariant(
        "epochs",
        "decisions, assignments, generations",
        "Per group, decisions of one generation never go back; an epoch of a queue is given to "
        "one client only, and each new one of a queue is greater than all before it. Every "
        "generation that decides has its claim. Records of a driver that was superseded may come "
        "late: they are counted, for clients refuse them.",
    ),
    "S4": Invariant(
        "fencing",
        "decisions, releases, heartbeats",
        "No queue starts at a position that only a stale report tells: one whose client, "
        "incarnation and epoch no grant of the queue was issued under.",
    ),
    "S5": Invariant(
        "continuity of offsets",
        "decisions, releases, heartbeats, control, offsets; journals, and the source if it was "
        "recorded",
        "A queue is granted at the newest position that was accepted and read, or at what its "
        "first start rule says of known bounds; a queue that its topic's route hid for a while "
        "starts where it was left. Clients are told the starts that were decided, and nobody "
        "releases below what it reported. An operator's reset is followed, and lies within what "
        "its queue holds, by bridges, clients and the recorded source. By the journals a start is"
        " never beyond what was processed (a hole) and only below it after a death or a lost "
        "lease, by at most what the engine had not read, or where a client released below a "
        "message that it had not finished; with the source recorded, every message was processed "
        "that does not stand before a first start at a commit, at the end or at a time. An "
        "operator's reset begins another reading: what it repeats or leaves out is neither.",
    ),
    "S6": Invariant(
        "replay",
        "all topics",
        "Every batch with a decision is run again, from the recorded rows, by the cut that the "
        "decision names: every record comes out with the same bytes. Batches written twice, and "
        "those in which a driver died, are read as at-least-once delivery allows.",
    ),
    "S7": Invariant(
        "determinism",
        "all topics",
        "For that replay the rows of each batch are given in another order than they were "
        "recorded in. Other chunkings and hash seeds do not show in a recording.",
    ),
    "S8": Invariant(
        "confluence",
        "tests alone",
        "That targets do not depend on how events were cut into batches cannot be seen in a "
        "recording: clients answered the cuts that there were.",
    ),
    "S9": Invariant(
        "no phantom",
        "decisions, heartbeats, routes",
        "A new grant goes to a member that is there, has not left or lapsed, and subscribes to "
        "the topic; the queue is in the route that had been read, with read permission. What a "
        "driver grants that had not read what others read before is not judged: clients refuse "
        "it.",
    ),
    "S10": Invariant(
        "isolation",
        "decisions, all inputs",
        "What a decision names as its cause is a record of its own group, a route, or a rule of "
        "all groups.",
    ),
    "S11": Invariant(
        "conservation",
        "heartbeats, releases, control, rejects; decisions, requests",
        "Between the first offset and the end of a topic that is not compacted nothing is "
        "missing; each row that is not what the protocol says and was read has its dead letter, "
        "and each dead letter its row.",
    ),
    "S12": Invariant(
        "bounded movement",
        "decisions",
        "No queue moves without a cause. Under STICKY a single join takes at most the share of a "
        "member away from others, and a single leave or death nothing.",
    ),
    "S13": Invariant(
        "bounded state",
        "all topics",
        "During the replay the state of a shard stays below 64 KiB plus 4 KiB for each member, "
        "queue and group that was ever seen.",
    ),
    "S14": Invariant(
        "duplicate identity",
        "decisions, assignments, heartbeats",
        "Of two processes with one client id only the greater is granted anything once it was "
        "read, and the other is told so by whoever decides while both are there.",
    ),
    "S15": Invariant(
        "claims are not believed by value",
        "assignments, heartbeats",
        "No grant stands in a member's set, or as a gate, that was not issued to that member by "
        "an add: what a client claims makes no grant.",
    ),
    "L1": Invariant(
        "convergence",
        "decisions",
        "A group is not in a handover for longer than lease, margin, drain deadline and trigger "
        "together after the last change, or an alarm tells why. Time in which no driver ticks "
        "does not count, and each driver counts anew.",
    ),
    "L2": Invariant(
        "no stuck handover",
        "decisions",
        "The answer to a drop is read within drain deadline, lease, margin and trigger, or an "
        "alarm tells of it meanwhile. A driver that starts counts anew, and a member that claims "
        "to work on obeys no drop of a driver before it.",
    ),
    "L3": Invariant(
        "recovery",
        "decisions, heartbeats, generations",
        "Nobody is taken for dead who was not silent for lease and margin on the log clock, "
        "however long the engine was down; a generation that ticks for longer than a handover may"
        " take, while somebody heartbeats, comes to decide.",
    ),
    "L4": Invariant(
        "lost output",
        "decisions",
        "A member whose record was written again, since its digest differed, obeys then: its "
        "digest does not stay the same from the first of three heals in a row of one driver to the "
        "last, or an alarm tells of it.",
    ),
}
"""By number, in their order."""
