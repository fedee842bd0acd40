"""What the judge knows of positions around a take-over."""

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position
from fairlead.core.records import OffsetsKnown, QueueOffsets
from fairlead.core.standby_records import Former, FormerQueue
from fairlead.verify.position_facts import PositionFacts
from fairlead.wire.raw import RawRecord

QUEUE = MessageQueue("orders", "broker-a", 1)
ROW = RawRecord(
    "t.offsets", 0, 7, 1_781_000_000_000, append_time_is_log=True, key=None, value=b"{}"
)


def _former(offset: int) -> Former:
    held = FormerQueue(QUEUE, Position(0, offset), None)
    return Former("orders", MemberKey("c1", "i1"), Epoch(1, 2), 0, 1, (held,))


def _told(end: int) -> OffsetsKnown:
    return OffsetsKnown("orders", "orders", "life", (QueueOffsets(QUEUE, 0, end, None, None),))


def test_beyond_a_frozen_position_nobody_has_to_believe_anything() -> None:
    """Until a bridge tells the end, the engine asks about whatever lies beyond."""
    facts = PositionFacts()
    assert not facts.is_beyond(QUEUE, Position(0, 82))
    facts.former(_former(15))
    assert facts.is_beyond(QUEUE, Position(0, 82))
    assert not facts.is_beyond(QUEUE, Position(0, 15))
    facts.offsets(_told(90), ROW)
    assert not facts.is_beyond(QUEUE, Position(0, 82))
    assert facts.is_beyond(QUEUE, Position(0, 91))


def test_what_is_given_back_is_forgotten_with_its_end() -> None:
    """After the next take-over only the new answers count."""
    facts = PositionFacts()
    facts.offsets(_told(90), ROW)
    facts.let_go()
    facts.former(_former(15))
    assert facts.is_beyond(QUEUE, Position(0, 82))


def test_ends_that_were_told_before_a_take_over_are_forgotten() -> None:
    """While others moved its positions, the topic may have become another one."""
    facts = PositionFacts()
    facts.former(_former(15))
    facts.offsets(_told(90), ROW)
    facts.forget_ends()
    assert facts.is_beyond(QUEUE, Position(0, 82))
    facts.offsets(_told(90), ROW)
    assert not facts.is_beyond(QUEUE, Position(0, 82))
