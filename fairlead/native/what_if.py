"""What a join, a leave or a deploy of a native group would move: by its own shape, and by STICKY.

Each strategy begins with its own shares of the present members, so that only the change counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fairlead.core.allocation import Strategy
from fairlead.core.model import MessageQueue
from fairlead.native.group_look import GroupLook
from fairlead.native.share_shape import shape_of, shares_by
from strategies.registry import STRATEGIES

__all__ = ["MoveRange", "Moves", "WhatIf", "what_if"]

_WORK_MAX: Final = 16_384
"""Members times queues; a greater group is not planned: each strategy is asked four times for each
member, which takes a second at this size.
"""

_Shares = Mapping[MessageQueue, str]


@dataclass(frozen=True, slots=True)
class MoveRange:
    """How many queues leave their owner in the best and in the worst case.

    Under AVG it depends on where a member's id stands among the others.
    """

    fewest: int
    most: int

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {"moves_fewest": self.fewest, "moves_most": self.most}


@dataclass(frozen=True, slots=True)
class Moves:
    """How many queues leave their owner.

    Attributes:
        join: when one member more comes.
        leave: when one leaves.
        deploy: when each member leaves and comes back under a new id, one after another.
    """

    join: MoveRange
    leave: MoveRange
    deploy: MoveRange

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "join": self.join.to_json(),
            "leave": self.leave.to_json(),
            "deploy": self.deploy.to_json(),
        }


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The moves of both; ``own`` None: nobody knows the shape of the group's assignor."""

    shape: str | None
    own: Moves | None
    sticky: Moves

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "shape": self.shape,
            "own": None if self.own is None else self.own.to_json(),
            "sticky": self.sticky.to_json(),
        }


def what_if(look: GroupLook) -> WhatIf | None:
    """Return what changes would move; None: nobody shares queues, or too many do."""
    if not look.shares or look.settled is False or not look.members or not look.subscribed:
        return None
    if len(look.members) * len(look.queues) > _WORK_MAX:
        return None
    shape = shape_of(look)
    own = None if shape is None else _moves(look, shape)
    return WhatIf(None if shape is None else shape.name, own, _moves(look, STRATEGIES["STICKY"]))


def _moves(look: GroupLook, strategy: Strategy) -> Moves:
    ids = [each.member_id for each in look.members]
    held = {queue: owners[0] for queue, owners in look.owners().items() if owners}
    now = shares_by(strategy, look, ids, held)

    def moved(after: list[str], before: _Shares) -> tuple[int, _Shares]:
        shares = shares_by(strategy, look, after, before)
        return sum(shares.get(queue) != owner for queue, owner in before.items()), shares

    # A new id before all others, and one behind each.
    joins = [moved([*ids, new], now)[0] for new in (f" {ids[0]}", *(f"{each} " for each in ids))]
    leaves = [moved([each for each in ids if each != gone], now)[0] for gone in ids]
    total, present = 0, ids
    shares: _Shares = now
    for member_id in ids:
        others = [each for each in present if each != member_id]
        for after in (others, [*others, f"{member_id} "]):
            number, shares = moved(after, shares)
            total += number
        present = [*others, f"{member_id} "]
    return Moves(
        MoveRange(min(joins), max(joins)),
        MoveRange(min(leaves), max(leaves)),
        MoveRange(total, total),
    )
