"""Pins without effect: their client is a member but does not subscribe to the queue's topic."""

from collections.abc import Iterable, Iterator, Mapping

from fairlead.core.records import GroupRecord, RuleSet
from fairlead.core.state import Member

__all__ = ["idle_pins"]


def idle_pins(records: Iterable[GroupRecord], members: Mapping[str, Member]) -> Iterator[str]:
    """Yield a sentence on each such pin among records."""
    for rule in records:
        if not isinstance(rule, RuleSet) or rule.rule != "pin" or rule.value is None:
            continue
        client_id, topic = rule.value["client_id"], rule.subject[0]
        if client_id in members and topic not in members[client_id].topics:
            yield (
                f"the rule pin of {'/'.join(rule.subject)}: {client_id} does not subscribe to "
                f"{topic}, so it does nothing until that client does"
            )
