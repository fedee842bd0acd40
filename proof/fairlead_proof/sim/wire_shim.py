"""Converts between the engine's types and the client's, which share no code, in place of the wire.

It encodes nothing, so it does not check the wire format. A drop names no successor: here every
client may read every release, at any time or never.
"""

from fairlead_client import model as words
from fairlead_client.session import actions as act
from fairlead_client.session import events as on
from fairlead_client.session import records as read

from fairlead.core import model, outputs, records

__all__ = ["claim", "event_of", "progress", "released"]


def event_of(output: outputs.Assignment | outputs.Notice) -> on.Event:
    """Return the client's event for an output of the engine."""
    member = output.member
    if isinstance(output, outputs.Notice):
        return on.NoticeRead(
            read.Notice(
                output.group,
                member.client_id,
                member.incarnation,
                output.generation,
                output.code,
                output.message,
                output.winner and (output.winner.start_ms, output.winner.uuid),
                output.reason,
            )
        )
    return on.AssignmentRead(
        read.Assignment(
            output.group,
            member.client_id,
            member.incarnation,
            output.generation,
            words.Epoch(*output.epoch),
            0,
            1,
            tuple(
                read.Drop(words.Queue(*drop.queue), words.Epoch(*drop.epoch))
                for drop in output.drop
            ),
            tuple(_add(add) for add in output.add),
            tuple(_assigned(entry) for entry in output.assigned),
        )
    )


def _add(add: outputs.Add) -> read.Add:
    after = tuple(
        words.Holder(gate.member.client_id, gate.member.incarnation, words.Epoch(*gate.epoch))
        for gate in add.after
    )
    return read.Add(
        words.Queue(*add.queue),
        words.Epoch(*add.epoch),
        words.Position(*add.position),
        after,
        add.identity,
    )


def _assigned(entry: outputs.Holding) -> read.Assigned:
    add = None
    if entry.position is not None:
        add = _add(
            outputs.Add(
                entry.queue,
                entry.epoch,
                entry.position,
                entry.why or "",
                entry.after,
                entry.identity,
            )
        )
    return read.Assigned(words.Queue(*entry.queue), words.Epoch(*entry.epoch), entry.state, add)


def released(record: records.Release) -> read.Release:
    """Return a release as the clients of its group read it."""
    holder = words.Holder(
        record.member.client_id, record.member.incarnation, words.Epoch(*record.epoch)
    )
    position = None if record.position is None else words.Position(*record.position)
    return read.Release(record.group, words.Queue(*record.queue), holder, position)


def progress(entry: words.Progress) -> records.QueueProgress:
    """Return one entry of a progress record as the engine reads it."""
    return records.QueueProgress(
        model.MessageQueue(*entry.queue),
        model.Epoch(*entry.epoch),
        model.Position(*entry.position),
        entry.end,
        entry.identity,
    )


def claim(entry: act.Claim) -> records.Claim:
    """Return one entry of claims as the engine reads it."""
    return records.Claim(
        model.MessageQueue(*entry.queue),
        model.Epoch(*entry.epoch),
        model.Position(*entry.position),
        entry.state == "running",
        entry.identity,
    )
