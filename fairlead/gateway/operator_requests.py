"""The bodies of operators' requests: one model each, checked before anything else.

They are models as those in `fairlead.gateway.requests`, and a source of openapi.json too.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from fairlead.gateway.requests import Body, Number, QueueName, described
from fairlead.wire.texts import CLIENT_ID, LABEL, TOPIC

__all__ = [
    "ChangeBody",
    "DrainBody",
    "PauseBody",
    "PlanBody",
    "PlannedJoinBody",
    "RemovalBody",
    "ResetBody",
    "RuleBody",
    "RuleName",
    "RulesBody",
    "UndrainBody",
]

_RULES_MAX = 1_000
_CLIENTS_MAX = 1_000
_QUEUES_MAX = 10_000
_TOPICS_MAX = 1_000

RuleName = Literal[
    "strategy",
    "timing",
    "slots",
    "mode",
    "pause",
    "drain",
    "capacity",
    "pin",
    "ban",
    "weight",
    "designated",
    "weighing",
    "quota",
    "on_mute",
    "react",
    "start_policy",
    "retry_topics",
    "take_over",
]
_Rule = Annotated[RuleName, Field(description="The rule.")]
Flag = Annotated[bool, Field(strict=True)]
Subject = Annotated[
    tuple[Annotated[str, Field(strict=True)], ...],
    Field(
        min_length=1,
        max_length=3,
        description="Whom it is for: a client id, or topic, broker name and queue id as texts.",
    ),
]


class RuleBody(Body):
    """A rule, as section 3.10 of docs/protocol.md says it."""

    rule: _Rule
    subject: Annotated[
        Subject | None, Field(description="Whom it is for; the value names it too.")
    ] = None
    value: Annotated[Any, Field(description="What it says; times may be given in part.")]


class NamedRuleBody(Body):
    """A rule to remove."""

    rule: _Rule
    subject: Annotated[Subject | None, Field(description="Whom it is for.")] = None


class ChangeBody(Body):
    """What every change may say."""

    because: Annotated[
        str | None, Field(description="Why, for the audit record: one line of 1-255 characters.")
    ] = None
    dry_run: Annotated[bool, Field(strict=True, description="Check and answer; write nothing.")] = (
        False
    )
    wait_ms: Annotated[
        int,
        Field(
            strict=True,
            ge=0,
            le=60_000,
            description="How long to wait for the engine's answer, at most.",
        ),
    ] = 15_000


class RemovalBody(ChangeBody):
    """The removal of a rule."""

    released_ok: Annotated[Flag, Field(description="It may end a release to native consumers.")] = (
        False
    )


class UndrainBody(ChangeBody):
    """A drained client may own queues again."""

    client_id: Annotated[str, Field(description="The client.")]


class PauseBody(ChangeBody):
    """The group moves nothing until it is resumed."""

    new_group: Annotated[Flag, Field(description="The group may be unknown.")] = False


class DrainBody(PauseBody, UndrainBody):
    """A client gives up all its queues and stays a member."""

    absent_ok: Annotated[Flag, Field(description="The client need not be there now.")] = False
    leave_unread: Annotated[Flag, Field(description="Queues may be left without a reader.")] = False


class RulesBody(RemovalBody, PauseBody):
    """Rules to set."""

    rules: Annotated[
        tuple[RuleBody, ...],
        Field(min_length=1, max_length=_RULES_MAX, description="All are set, or none."),
    ]
    absent_ok: Annotated[
        Flag, Field(description="Clients that rules name need not be there now.")
    ] = False
    leave_unread: Annotated[Flag, Field(description="Queues may be left without a reader.")] = False


class ResetBody(ChangeBody):
    """The group goes on from other positions."""

    to: Annotated[
        str,
        Field(
            description="earliest, latest, an offset, or a time (2026-05-04T10:00:00Z or "
            "1781000000000ms)."
        ),
    ]
    queues: Annotated[
        tuple[QueueName, ...],
        Field(max_length=_QUEUES_MAX, description="These queues: topic, broker name, queue id."),
    ] = ()
    topics: Annotated[
        tuple[str, ...],
        Field(
            max_length=_TOPICS_MAX,
            description="All queues of these topics; neither topics nor queues: all of the group.",
        ),
    ] = ()
    new_group: Annotated[Flag, Field(description="The group may be unknown: it begins there.")] = (
        False
    )
    dry_run: Annotated[
        bool, Field(strict=True, description="Only say what it would do; false writes it.")
    ] = True


class PlannedJoinBody(Body):
    """A client that joins."""

    client_id: Annotated[str, described("The client id.", CLIENT_ID)]
    topics: Annotated[
        tuple[str, ...] | None,
        Field(min_length=1, max_length=_TOPICS_MAX, description="null: what the group reads."),
    ] = None
    zone: Annotated[str | None, described("Where it runs.", LABEL)] = None
    capacity: Annotated[
        int, Field(strict=True, ge=1, le=1_000, description="How much it can do, beside others.")
    ] = 1


class PlannedRouteBody(Body):
    """The future number of queues of a topic on a broker."""

    topic: Annotated[str, described("The topic's name.", TOPIC)]
    broker_name: Annotated[str | None, Field(description="null: the topic's only broker.")] = None
    queues: Annotated[Number, Field(description="How many queues it has there afterwards.")]


class PlanBody(Body):
    """What would change; all of it counts together, in one decision."""

    joins: Annotated[
        tuple[PlannedJoinBody, ...],
        Field(max_length=_CLIENTS_MAX, description="The clients that join."),
    ] = ()
    leaves: Annotated[
        tuple[str, ...], Field(max_length=_CLIENTS_MAX, description="The clients that leave.")
    ] = ()
    routes: Annotated[
        tuple[PlannedRouteBody, ...],
        Field(max_length=_TOPICS_MAX, description="The topics that get other numbers of queues."),
    ] = ()
    rules: Annotated[
        tuple[RuleBody, ...], Field(max_length=_RULES_MAX, description="The rules that are set.")
    ] = ()
    unset: Annotated[
        tuple[NamedRuleBody, ...],
        Field(max_length=_RULES_MAX, description="The rules that are removed."),
    ] = ()
