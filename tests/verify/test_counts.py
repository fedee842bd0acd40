"""What `fairlead verify` counts beside its verdicts: each number is of what its name says."""

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position
from fairlead.core.records import Progress, QueueProgress, Release
from fairlead.engine.clock import ShardClock
from fairlead.verify.grant_facts import GrantFacts
from fairlead.verify.group_facts import GroupFacts
from fairlead.verify.history import ClientKilled
from fairlead.verify.recoveries import recoveries
from fairlead.verify.tenures import Tenure, Tenures
from fairlead.wire.raw import RawRecord

QUEUE = MessageQueue("orders", "main", 0)
MEMBER = MemberKey("c", "00000000-0000-0000-0000-000000000001")
SECOND = 1_000_000_000


def _row(append_ms: int) -> RawRecord:
    return RawRecord("heartbeats", 0, append_ms, append_ms, True, b"g", b"{}")  # noqa: FBT003


def _facts(clock_ms: int) -> GroupFacts:
    clock = ShardClock(10_000)
    clock.clock_ms = clock_ms
    return GroupFacts("g", clock, {})


def test_progress_of_before_a_release() -> None:
    """Releases up to a decision are read first; progress from before one is not stale."""
    epoch = Epoch(1, 1)
    facts = _facts(5_000)
    facts.issue(GrantFacts(QUEUE, epoch, MEMBER.client_id, MEMBER, _row(0)), 1)
    facts.release(Release("g", MEMBER, QUEUE, epoch, Position(0, 9)), _row(5_000))
    for at_ms in (1_000, 5_000, 6_000):
        told = QueueProgress(QUEUE, epoch, Position(0, 7))
        facts.progress(Progress("g", MEMBER, (told,)), _row(at_ms))
    strange = QueueProgress(QUEUE, Epoch(1, 2), Position(0, 7))
    facts.progress(Progress("g", MEMBER, (strange,)), _row(1_000))
    assert facts.counts == {"release/accepted": 1, "progress/accepted": 2, "progress/stale": 2}


def test_queues_of_a_fault() -> None:
    """A queue that lost its owner twice is one queue."""
    queues = [MessageQueue("orders", "main", number) for number in range(2)]
    lives = ((0, 10), (12, 14), (20, 30))
    tenures = Tenures(
        {
            queue: [
                Tenure(queue, "c", Epoch(1, index), begin * SECOND, 0, end_ns=end * SECOND)
                for index, (begin, end) in enumerate(lives, 1)
            ]
            for queue in queues
        },
        (),
    )
    killed = ClientKilled("c", 7, 9 * SECOND, 9 * SECOND)
    (found,) = recoveries([killed], tenures)
    assert found.queues == len(queues)
    assert found.longest_ms == 6_000
