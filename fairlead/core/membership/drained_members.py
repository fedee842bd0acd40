"""Drained clients that hold nothing any more: their operator waits for this cause."""

from fairlead.core.draft import Draft
from fairlead.core.membership.members import effective_members, holders
from fairlead.core.rules.single_rules import drained_of

__all__ = ["DRAINED", "report_drained"]

DRAINED = "drained"
"""The cause that a drained client holds nothing any more: it may be stopped."""


def report_drained(draft: Draft) -> None:
    """Note the drained clients whose last grant ended in this step, or that had none."""
    drained = drained_of(draft.rules.single)
    if not drained or not (draft.causes or draft.moves):
        return
    ended = {move.member.client_id for move in draft.moves if move.stage == "resolved"}
    ended.update(
        cause.client_id
        for cause in draft.causes.values()
        if cause.rule == "drain" and cause.client_id is not None
    )
    holding = {member.client_id for member in holders(draft.state)}
    members = effective_members(draft.state.members)
    for client_id in sorted(drained & ended & members.keys() - holding):
        draft.because(DRAINED, client_id=client_id)
