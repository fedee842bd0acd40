"""All paths under /v1: what each needs, takes and answers; the router and openapi.json read it."""

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from pydantic import BaseModel

from fairlead.gateway.answers import JoinAnswer, PollResult
from fairlead.gateway.operator_requests import (
    ChangeBody,
    DrainBody,
    PauseBody,
    PlanBody,
    RemovalBody,
    ResetBody,
    RulesBody,
    UndrainBody,
)
from fairlead.gateway.requests import JoinBody, LeaveBody, PollBody

__all__ = ["ROUTES", "Documents", "Found", "Route", "methods_of", "route_of"]

Right = Literal["observe", "consume", "operate"]


class Documents(NamedTuple):
    """Answers of `fairlead/schemas/answers.json`: the object's name; ``each``: a list of them."""

    name: str
    each: bool = False


class Route(NamedTuple):
    """A path and a method.

    Attributes:
        name: of what it does, for metrics and openapi.json.
        method: the method.
        path: its segments; ``{group}`` is any one, ``{subject}`` at the end is any number.
        says: what it does.
        right: what it needs for the group of its path; None: its session or its answer decides.
        body: the model of its body; None: it takes none.
        answer: the model or documents of its answer; None: nothing is answered.
        status: of the answer if all is well.
        of_all: its group may be ``*``, all groups.
    """

    name: str
    method: Literal["GET", "POST", "PUT", "DELETE"]
    path: str
    says: str
    right: Right | None = None
    body: type[BaseModel] | None = None
    answer: type[BaseModel] | Documents | None = None
    status: int = 200
    of_all: bool = False

    @property
    def reads(self) -> bool:
        """Whether `fairlead serve` answers it without the gateway too, under /api."""
        return self.name in _READING


class Found(NamedTuple):
    """The route of a request, and the parts of its path by name."""

    route: Route
    parts: Mapping[str, str]


_READING: Final = frozenset(("groups", "group", "decisions", "events"))
_GROUP: Final = "/v1/groups/{group}"
_OUTCOMES: Final = Documents("RuleOutcome", each=True)

ROUTES: Final = (
    Route(
        "join", "POST", f"{_GROUP}/members", "A client joins a group.",
        "consume", JoinBody, JoinAnswer, 201,
    ),
    Route(
        "poll", "POST", "/v1/sessions/{session}/poll",
        "Heartbeat, progress, release and waiting for news in one.",
        body=PollBody, answer=PollResult,
    ),
    Route(
        "leave", "DELETE", "/v1/sessions/{session}", "The client's last words.",
        body=LeaveBody, status=204,
    ),
    Route(
        "news", "GET", "/v1/sessions/{session}/events",
        "Server-sent events that say when the session should poll.",
    ),
    Route(
        "groups", "GET", "/v1/groups", "A line about each group that the caller may observe.",
        answer=Documents("Groups"),
    ),
    Route(
        "group", "GET", _GROUP, "The group as `fairlead group describe` shows it.",
        "observe", answer=Documents("GroupDescribed"),
    ),
    Route(
        "decisions", "GET", f"{_GROUP}/decisions", "Its decisions, oldest first.",
        "observe", answer=Documents("Decisions"),
    ),
    Route(
        "events", "GET", f"{_GROUP}/events", "Its decisions as they come, as server-sent events.",
        "observe", answer=Documents("Decision"),
    ),
    Route(
        "plan", "POST", f"{_GROUP}/plan", "What a change would move; nothing is written.",
        "observe", PlanBody, Documents("Plan"),
    ),
    Route(
        "rules", "GET", f"{_GROUP}/rules", "Its rules in force, each with author and reason.",
        "observe", answer=Documents("Rule", each=True), of_all=True,
    ),
    Route(
        "set_rules", "PUT", f"{_GROUP}/rules", "Sets rules; those that are not named stay.",
        "operate", RulesBody, _OUTCOMES, of_all=True,
    ),
    Route(
        "remove_rule", "DELETE", f"{_GROUP}/rules/{{rule}}/{{subject}}",
        "Removes a rule; of a queue or a client, the path goes on with its name.",
        "operate", RemovalBody, _OUTCOMES, of_all=True,
    ),
    Route(
        "drain", "POST", f"{_GROUP}/drain", "A client gives up all its queues.",
        "operate", DrainBody, _OUTCOMES,
    ),
    Route(
        "undrain", "POST", f"{_GROUP}/undrain", "A drained client may own queues again.",
        "operate", UndrainBody, _OUTCOMES,
    ),
    Route(
        "pause", "POST", f"{_GROUP}/pause", "No queue moves until it is resumed.",
        "operate", PauseBody, _OUTCOMES, of_all=True,
    ),
    Route(
        "resume", "POST", f"{_GROUP}/resume", "Ends a pause.",
        "operate", ChangeBody, _OUTCOMES, of_all=True,
    ),
    Route(
        "reset_offsets", "POST", f"{_GROUP}/offsets/reset",
        "Lets the group go on from other positions; a dry run unless dry_run is false.",
        "operate", ResetBody, Documents("Reset", each=True),
    ),
)  # fmt: skip


def route_of(method: str, path: str) -> Found | None:
    """Return the route of a request; HEAD is as GET; None: there is none."""
    wanted = "GET" if method == "HEAD" else method
    for route in ROUTES:
        if route.method == wanted:
            parts = _parts(route.path, path)
            if parts is not None:
                return Found(route, parts)
    return None


def methods_of(path: str) -> list[str]:
    """Return the methods that a path answers."""
    return sorted({route.method for route in ROUTES if _parts(route.path, path) is not None})


def _parts(template: str, path: str) -> dict[str, str] | None:
    """Return the named segments of a path; None: it is another one."""
    wanted, there = template.split("/"), path.split("/")
    parts: dict[str, str] = {}
    if wanted[-1] == "{subject}":
        wanted = wanted[:-1]
        parts["subject"] = "/".join(there[len(wanted) :])
        there = there[: len(wanted)]
    if len(wanted) != len(there):
        return None
    for name, each in zip(wanted, there, strict=True):
        if name.startswith("{") and each:
            parts[name[1:-1]] = each
        elif name != each:
            return None
    return parts
