"""The cause of a decision that a changed rule is: which rule, for whom, by whom and why."""

from fairlead.core.model import MessageQueue, Source
from fairlead.core.outputs import Cause
from fairlead.core.records import ALL_GROUPS, RuleSet

__all__ = ["cause_of_rule"]

_KINDS = {
    "pin": "pins_changed",
    "ban": "pins_changed",
    "weight": "weights_changed",
    "capacity": "weights_changed",
}
"""Rule -> the kind of its cause; every other rule's is ``rules_changed``."""


def cause_of_rule(rule: RuleSet, at: Source) -> Cause:
    """Return the cause that a rule record is."""
    client_id, queue = None, None
    match rule.subject:
        case (name,):
            client_id = name
        case (topic, broker_name, number):
            queue = MessageQueue(topic, broker_name, int(number))
    return Cause(
        _KINDS.get(rule.rule, "rules_changed"),
        client_id,
        at=at,
        queue=queue,
        rule=rule.rule,
        group=ALL_GROUPS if rule.group == ALL_GROUPS else None,
        removed=rule.value is None,
        by=rule.by or None,
        because=rule.because,
    )
