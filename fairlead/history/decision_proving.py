"""Reads the records that prove one decision."""

from collections.abc import Mapping
from typing import Final

from fairlead.history.cause_check import place_of
from fairlead.history.decision_explainer import DecisionExplainer
from fairlead.history.decision_past import DecisionPast
from fairlead.history.decision_proof import DecisionProof, HandoverStep, ProvedDecision, steps_of
from fairlead.history.evidence import Evidence
from fairlead.history.history_model import ExplainedCause, FoundRelease
from fairlead.history.last_heard import LastHeard
from fairlead.history.moves import Move
from fairlead.history.release_search import GrantName, ReleaseSearch, name_of
from fairlead.wire.decision_records import DecisionRecord
from fairlead.wire.raw import RawRecord

__all__ = ["prove"]

_EVIDENCE_MAX: Final = 100
"""Show the content of the records of this many causes."""
_RELEASES_MAX: Final = 5_000
"""Look for releases in this many records; of more it tells only the times."""


def prove(explainer: DecisionExplainer, past: DecisionPast) -> DecisionProof:
    """Return a decision with its proof.

    Args:
        explainer: reads the topics of its group.
        past: what is known of it.

    Raises:
        EnvironmentMissingError: a topic cannot be read.
    """
    audits = (*past.prelude, past.audit)
    explainer.look_up(explainer.places(*audits))
    explainer.look_up(heard.place for audit in audits for heard in explainer.lapsed(audit).values())
    releases = _releases(explainer, past)
    return DecisionProof(
        proved=_proved(explainer, past.audit),
        led_by=[_proved(explainer, each) for each in past.prelude],
        moves=[(move, _steps(move, past, releases)) for move in past.moves],
        fewest_moves=past.fewest,
        spread_before=past.spread_before,
        spread_after=past.spread_after,
        previous=past.previous,
        next=past.next,
        queues_moved=past.queues_moved,
    )


def _releases(explainer: DecisionExplainer, past: DecisionPast) -> Mapping[GrantName, FoundRelease]:
    """Return the releases by which the moved queues became free, as far as the engine read them."""
    search = ReleaseSearch(explainer.source, explainer.shard)
    before = [each.before for each in past.moves if each.before is not None]
    places = {place for grant in before for place in search.places(grant)}
    if len(places) > _RELEASES_MAX:
        return {}
    explainer.look_up(places)
    return search.all_released(sorted(places), explainer.found)


def _steps(
    move: Move, past: DecisionPast, releases: Mapping[GrantName, FoundRelease]
) -> list[HandoverStep]:
    began_ms = past.began_ms.get(move.queue)
    released = None if move.before is None else releases.get(name_of(move.before))
    seen_ms = past.released_ms.get(move.queue)
    if released is not None or seen_ms is None:
        heard_ms = past.heard_ms.get(move.queue)
        return steps_of(move, released, began_ms, heard_ms=heard_ms)
    return steps_of(move, None, began_ms, seen_ms)


def _proved(explainer: DecisionExplainer, audit: DecisionRecord) -> ProvedDecision:
    explained, lapsed = explainer.explained(audit), explainer.lapsed(audit)
    evidence = [
        _evidence(explainer, cause, lapsed) if number < _EVIDENCE_MAX else None
        for number, cause in enumerate(explained.causes)
    ]
    return ProvedDecision(explained, evidence)


def _evidence(
    explainer: DecisionExplainer, told: ExplainedCause, lapsed: Mapping[str, LastHeard]
) -> Evidence | None:
    """Return the record of a cause; of a client that was taken for dead its last heartbeat."""
    place = place_of(told.cause)
    heard = lapsed.get(str(told.cause.get("client_id")))
    if place is None and told.cause["kind"] == "client_expired" and heard is not None:
        place = heard.place
    row = None if place is None else explainer.found.get(place)
    return Evidence.of(row) if isinstance(row, RawRecord) else None
