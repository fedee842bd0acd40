"""Appends what a session writes: each record becomes a fact, and a broker answers at once."""

from fairlead_client.session import actions as act
from fairlead_client.session import events as on

from fairlead.core import model, records
from fairlead_proof.explorer.facts import Facts
from fairlead_proof.explorer.world import GROUP, WorldBounds
from fairlead_proof.sim.wire_shim import claim, progress

__all__ = ["appended"]


def appended(
    facts: Facts, world: WorldBounds, member: model.MemberKey, action: act.Action
) -> tuple[int, on.Event | None]:
    """Return the facts of an action's records, and what the session hears of them."""
    incarnation = member.incarnation
    match action:
        case act.SendHeartbeat():
            if action.sequence == 1:
                return facts.sent(world.heartbeat(member, action.incarnations)), None
        case act.SendProgress():
            written = 0
            for entry in action.entries:
                written |= facts.sent(records.Progress(GROUP, member, (progress(entry),)))
            return written, None
        case act.SendClaims():
            claims = tuple(sorted(map(claim, action.claims), key=lambda each: each.queue))
            record = records.Claims(GROUP, member, action.generation, 0, 1, claims)
            return facts.sent(record), on.ClaimsAppended(incarnation, action.generation)
        case act.SendRelease():
            position = None if action.position is None else model.Position(*action.position)
            queue, epoch = model.MessageQueue(*action.queue), model.Epoch(*action.epoch)
            last = action.last_started and model.Epoch(*action.last_started)
            released = records.Release(
                GROUP, member, queue, epoch, position, last, identity=action.identity
            )
            heard = on.ReleaseAppended(incarnation, action.queue, action.epoch, action.position)
            return facts.sent(released), heard
        case act.SendLeave():
            leave = records.Leave(GROUP, member, 2, model.Epoch(*action.last_started))
            return facts.sent(leave), on.LeaveAppended(incarnation)
        case act.CommitProgress():
            return 0, on.CommitFinished(action.entries, committed=True)
    return 0, None
