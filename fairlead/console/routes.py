"""The paths that the console adds to `fairlead serve`. Each answer has a file of its own.

To add an answer: a class in a file of this room that is made from `ConsoleParts`, and its path in
the list below.
"""

from starlette.routing import Route

from fairlead.console.activity import ActivityApi
from fairlead.console.assets import Assets
from fairlead.console.group_check import CheckApi
from fairlead.console.history_api import HistoryApi
from fairlead.console.live_api import LiveApi
from fairlead.console.live_streams import LiveStreams
from fairlead.console.logins import Logins
from fairlead.console.parts import ConsoleParts
from fairlead.console.past_api import PastApi, Present
from fairlead.console.plan_api import PlanApi
from fairlead.console.plan_operations import PlanOperations
from fairlead.console.proof_api import ProofApi
from fairlead.console.safety import SafetyApi
from fairlead.console.topic_questions import TopicQuestions
from fairlead.history.ribbons import Ribbons

__all__ = ["console_routes"]


def console_routes(parts: ConsoleParts, assets: Assets, present: Present) -> list[Route]:
    """Return the routes.

    Args:
        parts: what the answers are made from.
        assets: the page and its files.
        present: describes a group as it stands.
    """
    topics = TopicQuestions(parts.settings.kafka)
    ribbons = Ribbons(parts.view.query)
    live = LiveStreams(parts.view, ribbons, parts.groups_head)
    parts.streams.at_close(live.close)
    return [
        Route("/console/{file:path}", assets.file),
        *Logins(parts.settings).routes,
        *SafetyApi(parts.view, parts.groups_head).routes,
        *CheckApi(parts.view, parts.unknown.answer).routes,
        *ActivityApi(parts.view, parts.settings.serve.history_ms).routes,
        *LiveApi(parts.view, live, parts.streams, parts.unknown.answer).routes,
        *HistoryApi(ribbons, parts.unknown.answer).routes,
        *PlanApi(PlanOperations(parts.settings, parts.open_data)).routes,
        *ProofApi(parts, ribbons, topics).routes,
        *PastApi(parts, ribbons, topics, present).routes,
    ]
