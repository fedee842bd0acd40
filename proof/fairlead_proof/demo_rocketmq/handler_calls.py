"""The calls of listeners, from the journals that the consumers' processes wrote.

A call has one message in hand, from the moment before the listener is called to the moment after
it has returned. Nothing here knows who decided who reads what: the same calls are read from
consumers under Fairlead and from consumers under RocketMQ's own rebalance.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from fairlead.core.model import MessageQueue
from fairlead.verify.history import Consumed, Failed, Held, Journal

__all__ = ["Call", "Standstill", "calls_of"]


@dataclass(frozen=True, slots=True)
class Standstill:
    """What the script did to a process, so that it could do nothing more.

    Attributes:
        begin_ns: from when on.
        end_ns: until when; None: the process was killed.
    """

    begin_ns: int
    end_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a listener with one message.

    Attributes:
        who: the consumer, as its journal calls it.
        queue: the message's queue.
        offset: the message's offset in it.
        begin_ns: the moment before the call.
        end_ns: the moment after it, or of the process's end; None: it goes on.
        consumed: the listener has processed the message.
        cut: the process was killed or stood still with the message in hand.
    """

    who: str
    queue: MessageQueue
    offset: int
    begin_ns: int
    end_ns: int | None
    consumed: bool
    cut: bool = False


def calls_of(
    journals: Iterable[Journal], standstills: Mapping[str, Sequence[Standstill]]
) -> list[Call]:
    """Return all calls, in the order of their beginnings.

    Args:
        journals: what each process wrote.
        standstills: by consumer, when it was killed or stood still. A call under way then counts
            up to that moment, since nothing was done in it afterwards that the script allowed.
    """
    calls: list[Call] = []
    for journal in journals:
        open_calls: dict[tuple[MessageQueue, int], Call] = {}
        for record in journal.records:
            match record:
                case Held(queue=queue, offset=offset, t_ns=t_ns, count=count):
                    for at in range(offset, offset + count):
                        call = Call(journal.client_id, queue, at, t_ns, None, consumed=False)
                        open_calls[queue, at] = call
                case Consumed(queue=queue, offset=offset, t_ns=t_ns):
                    if (begun := open_calls.pop((queue, offset), None)) is not None:
                        calls.append(replace(begun, end_ns=t_ns, consumed=True))
                case Failed(queue=queue, offset=offset, t_ns=t_ns):
                    if (begun := open_calls.pop((queue, offset), None)) is not None:
                        calls.append(replace(begun, end_ns=t_ns))
                case _:
                    pass
        calls.extend(open_calls.values())
    cut = [_cut(call, standstills.get(call.who, ())) for call in calls]
    return sorted(cut, key=lambda call: (call.begin_ns, call.queue, call.offset))


def _cut(call: Call, standstills: Sequence[Standstill]) -> Call:
    """Let a call end where its process was killed, or began to stand still."""
    for each in standstills:
        if call.begin_ns <= each.begin_ns and (call.end_ns is None or call.end_ns > each.begin_ns):
            return replace(call, end_ns=each.begin_ns, cut=True)
    return call
