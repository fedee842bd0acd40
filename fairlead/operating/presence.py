"""Checks that a rule's group and clients are known: a mistyped name would get the rule unseen.

A group is known if it has members, assignments, rules or resets. A client is known if it
heartbeats, if the engine assigns it queues, or if its restart grace lasts.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from fairlead.control.group_names import named_groups, nearest_names, unknown_group
from fairlead.core.allocation import Strategy
from fairlead.core.records import ALL_GROUPS, RuleSet
from fairlead.errors import UsageError, Way
from fairlead.kafka.kafka_source import KafkaSource
from fairlead.kafka.topic_source import TopicSource
from fairlead.observed.live_group import LiveGroup, UnknownGroupError
from fairlead.observed.reading import read_live_group
from fairlead.settings import Settings

__all__ = ["require_known", "require_members", "require_present"]

_NEW_GROUP: Final = (
    "To give rules to a new group, ",
    Way("add --new-group.", 'send "new_group": true.'),
)
_ABSENT_OK: Final = Way("give --absent-ok", 'send "absent_ok": true')
_RULES_OF_A_CLIENT: Final = ("drain", "capacity")
_RULES_OF_A_QUEUE: Final = ("pin", "ban")


def require_present(
    name: str,
    rules: Iterable[RuleSet],
    settings: Settings,
    strategies: Mapping[str, Strategy],
    *,
    new_group: bool,
    absent_ok: bool,
) -> LiveGroup | None:
    """Refuse rules of an unknown group, and of clients that are not in their group.

    Args:
        name: the group; for all groups (``*``) nothing is refused.
        rules: the rules to write; the clients of a removed rule need not be there.
        settings: have the address of the topics.
        strategies: the engine's strategies.
        new_group: the group may be unknown, and so may its clients.
        absent_ok: clients may be absent.

    Returns:
        The group, if it was read and exists.

    Raises:
        UsageError: the group is unknown, or a client is not in it; the message names the nearest.
        EnvironmentMissingError: the topics cannot be read.
    """
    wanted = [rule for rule in rules if rule.value is not None]
    named = [] if absent_ok else _clients_of(wanted)
    if name == ALL_GROUPS or not wanted or (new_group and not named):
        return None
    source = KafkaSource(settings.kafka)
    try:
        live = read_live_group(source, name, strategies, settings.engine.tick_ms)
    except UnknownGroupError as error:
        known = named_groups(source)
        if new_group or known.has(name):
            return None
        names = error.known | known.names
        raise unknown_group(name, names, source.place, or_else=_NEW_GROUP) from error
    _refuse_absent(live, named)
    return live


def require_members(live: LiveGroup, rules: Iterable[RuleSet], coming: Iterable[str] = ()) -> None:
    """Refuse rules for clients that are neither in the group nor coming.

    Raises:
        UsageError: a client is not in it; the message names the nearest.
    """
    wanted = [rule for rule in rules if rule.value is not None]
    expected = frozenset(coming)
    _refuse_absent(live, [each for each in _clients_of(wanted) if each not in expected])


def require_known(
    name: str, source: TopicSource, strategies: Mapping[str, Strategy], tick_ms: int
) -> None:
    """Refuse an unknown group; all groups (``*``) are known.

    Raises:
        UsageError: the group is unknown; the message names the nearest.
        EnvironmentMissingError: the topics cannot be read.
    """
    if name == ALL_GROUPS:
        return
    known = named_groups(source)
    if known.has(name):
        return
    try:
        read_live_group(source, name, strategies, tick_ms)
    except UnknownGroupError as error:
        raise unknown_group(name, error.known | known.names, source.place) from error


def _refuse_absent(live: LiveGroup, named: list[str]) -> None:
    present = _present(live)
    absent = [client_id for client_id in named if client_id not in present]
    if absent:
        raise UsageError(
            f"{', '.join(absent)}: {'is' if len(absent) == 1 else 'are'} not in the group "
            f"{live.core.state.group}, and nothing is written.",
            remedy=(
                f"{_nearest(absent[0], present)} To write a rule for a client that comes later, ",
                _ABSENT_OK,
                ".",
            ),
            field="client_id",
            kind="absent_client",
        )


def _clients_of(rules: Iterable[RuleSet]) -> list[str]:
    """Return the clients that rules name, each once, in their order."""
    clients: dict[str, None] = {}
    for rule in rules:
        if rule.rule in _RULES_OF_A_CLIENT:
            clients[str(rule.subject[0])] = None
        elif rule.rule in _RULES_OF_A_QUEUE:
            clients.update(dict.fromkeys(_named_by(rule.value)))
    return list(clients)


def _named_by(value: object) -> list[str]:
    """Return the clients in the value of a pin or a ban."""
    named = value.get("client_id", value.get("client_ids")) if isinstance(value, dict) else value
    if isinstance(named, str):
        return [named]
    return sorted(map(str, named)) if isinstance(named, Iterable) else []


def _present(live: LiveGroup) -> frozenset[str]:
    state = live.core.state
    members = {*state.members, *live.assigned}
    return frozenset({key.client_id for key in members} | {str(each) for each in state.awaited})


def _nearest(client_id: str, present: frozenset[str]) -> str:
    if not present:
        return "The group has no members now."
    return f"The nearest of its members: {', '.join(nearest_names(client_id, present))}."
