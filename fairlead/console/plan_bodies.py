"""The body of a request that applies a plan."""

from typing import Annotated

from pydantic import ConfigDict, Field

from fairlead.core.model import MessageQueue
from fairlead.gateway.operator_requests import ChangeBody, Flag, PlanBody
from fairlead.gateway.requests import Body, EpochPair, QueueName
from fairlead.planning.saved_plan import PlannedMove

__all__ = ["ApplyBody", "ShownMoveBody"]

_QUEUES_MAX = 100_000


class ShownMoveBody(Body):
    """A queue that changes hands, as the plan has shown it. null: nobody."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=False)

    queue: Annotated[QueueName, Field(description="Topic, broker name, queue id.")]
    holder: Annotated[str | None, Field(alias="from", description="From whom it goes.")]
    successor: Annotated[str | None, Field(alias="to", description="To whom it goes.")]


class ApplyBody(PlanBody, ChangeBody):
    """What was planned, and what the plan has shown."""

    epoch: Annotated[
        EpochPair | None, Field(description="The epoch of the plan; null: the group had none.")
    ]
    moves: Annotated[
        tuple[ShownMoveBody, ...],
        Field(max_length=_QUEUES_MAX, description="The moves that the plan has shown."),
    ]
    because: Annotated[str, Field(min_length=1, description="Why, for the audit record: one line.")]
    absent_ok: Annotated[
        Flag, Field(description="Clients that rules name need not be there now.")
    ] = False

    def shown(self) -> tuple[PlannedMove, ...]:
        """Return the moves that the plan has shown."""
        return tuple(
            PlannedMove(MessageQueue(*each.queue), each.holder, each.successor)
            for each in self.moves
        )
