"""The rule that only designated members consume: whom it names, and who shares which topic.

Decides which values of the rule make sense, whether an entry names a client id, and what follows
when a topic has no designated member. The strategy decides the rest, and sees nobody else.

Consumers that run the strategy themselves can only give their share up: of 9 queues and 4 clients,
one of them designated, AVG leaves 6 queues to nobody. Filtering before the strategy leaves none.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from fairlead.core.rules.rule_error import RuleError

__all__ = [
    "ENTRIES_MAX",
    "IF_NOBODY",
    "RELEASED",
    "Designation",
    "Entries",
    "Sharing",
    "read_designation",
    "read_entries",
    "sharing",
]

ENTRIES_MAX = 1_000
"""No more entries, and no more topics, in one rule."""

DESIGNATIONS_KEPT = 256
"""The process keeps so many rules as values."""

IF_NOBODY = ("nobody", "all")
"""Who consumes a topic without a designated subscriber; the first is the default."""

RELEASED = "(released)"
"""The entry that hands the group back to native consumers.

No client has this name: addresses and names have no brackets.
"""

_NAMES = ("only", "topics", "if_nobody")
_MEANT_AS_ADDRESS = re.compile(r"[0-9]+(?:\.[0-9]+){3}|[0-9]+(?:\.[0-9]+)*/[0-9.]+")
"""What only an IPv4 address or network looks like: an entry that is none is a mistake."""


@dataclass(frozen=True, slots=True)
class Entries:
    """The clients that a list of entries names, by kinds of entries."""

    client_ids: frozenset[str]
    networks: Mapping[tuple[int, int], frozenset[int]]
    """(IP version, length of the prefix) -> prefixes as numbers; an address is its own network."""
    globs: re.Pattern[str] | None

    def names(self, client_id: str) -> bool:
        """Tell whether an entry names this client id.

        Ids and globs are compared with the whole id, addresses and networks with the whole part
        before its first ``@``: 192.168.0.6 does not name 192.168.0.60@1.
        """
        if client_id in self.client_ids:
            return True
        if self.globs is not None and self.globs.fullmatch(client_id):
            return True
        if not self.networks:
            return False
        try:
            address = ip_address(client_id.partition("@")[0])
        except ValueError:
            return False
        # One look-up for each length of prefix: a thousand networks cost as much as one.
        return any(
            version == address.version and int(address) >> (address.max_prefixlen - length) in found
            for (version, length), found in self.networks.items()
        )


@dataclass(frozen=True, slots=True)
class Designation:
    """The rule in force. ``topics`` None: all; ``text`` is equal for equal rules, and short."""

    entries: Entries
    topics: frozenset[str] | None
    if_nobody: str
    text: str

    @property
    def is_release(self) -> bool:
        """Whether it keeps all clients out because native consumers have taken over."""
        return RELEASED in self.entries.client_ids


@dataclass(frozen=True, slots=True)
class Sharing:
    """Who shares which of a group's topics; a topic in neither set belongs to nobody.

    ``empty``: the rule's topics without a designated member. ``idle``: topics for all members that
    no member may own. Both raise an alarm.
    """

    common: frozenset[str]
    """Shared by all members."""
    reserved: frozenset[str] = frozenset()
    """Shared by the designated members alone."""
    empty: frozenset[str] = frozenset()
    designated: frozenset[str] = frozenset()
    """The client ids of the designated members."""
    idle: frozenset[str] = frozenset()

    def allows(self, topic: str, client_id: str) -> bool:
        """Tell whether a member may own queues of a topic."""
        return topic in self.common or (topic in self.reserved and client_id in self.designated)


def sharing(
    designation: Designation | None,
    subscriptions: Mapping[str, Collection[str]],
    topics: Iterable[str],
) -> Sharing:
    """Return who shares which topic.

    A topic whose designated members do not subscribe to it is as empty as one without any: they
    cannot read it.

    Args:
        designation: the rule in force; None: there is none.
        subscriptions: the topics of each member that may own anything, by client id.
        topics: those to be shared.
    """
    shared = frozenset(topics)
    if designation is None:
        idle = shared - _subscribed(subscriptions, shared)
        return Sharing(shared - idle, idle=idle)
    designated = frozenset(filter(designation.entries.names, subscriptions))
    served = {topic for name in sorted(designated) for topic in subscriptions[name]}
    ruled = shared if designation.topics is None else shared & designation.topics
    empty = ruled - served
    common = shared - ruled
    if designation.if_nobody == "all":
        common |= empty
    idle = common - _subscribed(subscriptions, common)
    return Sharing(common - idle, ruled & served, empty, designated, idle)


def _subscribed(
    subscriptions: Mapping[str, Collection[str]], topics: frozenset[str]
) -> frozenset[str]:
    """Return the topics with a subscriber; the first few members mostly name them all."""
    known: set[str] = set()
    for subscribed in subscriptions.values():
        known.update(subscribed)
        if topics <= known:
            break
    return topics & known


def read_designation(value: object) -> Designation:
    """Return the rule that a value says.

    Raises:
        RuleError: the value makes no sense.
    """
    if not isinstance(value, dict):
        raise RuleError("", "a designation must be an object", 'send {"only": [entries]}')
    for name in value:
        if name not in _NAMES:
            remedy = f"use one of {', '.join(_NAMES)}"
            raise RuleError(str(name), f"a designation has no {name!r}", remedy)
    only = _texts(value.get("only"), "only", "entry", "send the clients that alone may consume")
    topics = value.get("topics")
    if topics is not None:
        topics = _texts(topics, "topics", "topic", "send the topics, or null for all")
    if_nobody = value.get("if_nobody", IF_NOBODY[0])
    if if_nobody not in IF_NOBODY:
        remedy = f"say {' or '.join(IF_NOBODY)}"
        raise RuleError("if_nobody", f"if_nobody cannot be {if_nobody!r}", remedy)
    return _designation(only, topics, if_nobody)


# Every step reads its group's rules: the cache saves reading up to a thousand entries.
@lru_cache(maxsize=DESIGNATIONS_KEPT)
def _designation(
    only: tuple[str, ...], topics: tuple[str, ...] | None, if_nobody: str
) -> Designation:
    words = json.dumps([only, topics, if_nobody]).encode()
    text = hashlib.sha256(words).hexdigest()[:16]
    named = None if topics is None else frozenset(topics)
    return Designation(read_entries(only), named, if_nobody, text)


def _texts(values: object, name: str, noun: str, remedy: str) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise RuleError(name, f"{name} must be a list", remedy)
    if not 1 <= len(values) <= ENTRIES_MAX:
        detail = f"{name} has {len(values)} entries"
        raise RuleError(name, detail, f"give 1 to {ENTRIES_MAX}, or remove the rule")
    if set(map(type, values)) != {str} or "" in values:
        for index, entry in enumerate(values):
            if not isinstance(entry, str) or not entry:
                raise RuleError(f"{name}[{index}]", f"{entry!r} is no {noun}", "give a text")
    return tuple(values)


def read_entries(only: tuple[str, ...]) -> Entries:
    """Return whom these entries name.

    Raises:
        RuleError: an entry looks like an address or a network and is none. As a client id
            it would name nobody, and stop the group.
    """
    client_ids, globs = [], []
    networks: dict[tuple[int, int], set[int]] = {}
    for index, entry in enumerate(only):
        network = _network(entry)
        if network is not None:
            prefix = int(network.network_address) >> (network.max_prefixlen - network.prefixlen)
            networks.setdefault((network.version, network.prefixlen), set()).add(prefix)
        elif _is_meant_as_address(entry):
            detail = f"{entry!r} is no address and no network"
            remedy = "write it as 192.168.0.6, fd00::6, 10.0.0.0/8 or fd00::/8"
            raise RuleError(f"only[{index}]", detail, remedy)
        elif "*" in entry or "?" in entry:
            globs.append(_pattern(entry))
        else:
            client_ids.append(entry)
    return Entries(
        frozenset(client_ids),
        {length: frozenset(found) for length, found in networks.items()},
        re.compile("|".join(globs)) if globs else None,
    )


def _network(entry: str) -> IPv4Network | IPv6Network | None:
    """Read an address, or a network with or without host bits; None: it is neither."""
    try:
        return ip_network(entry, strict=False)
    except ValueError:
        return None


def _is_meant_as_address(entry: str) -> bool:
    """Tell whether an entry that is neither address nor network was meant as one."""
    if _MEANT_AS_ADDRESS.fullmatch(entry):
        return True
    address, _, prefix = entry.partition("/")
    return prefix.isdigit() and _network(address) is not None


def _pattern(glob: str) -> str:
    """Return a glob as a regular expression: ``*`` any characters, ``?`` one, the rest itself.

    Each piece between two stars matches where it first fits and never moves again. That finds every
    match, and no glob can keep the engine busy with trying all ways to fit.
    """
    first, *rest = (
        "".join("." if character == "?" else re.escape(character) for character in piece)
        for piece in re.split(r"\*+", glob)
    )
    if not rest:
        return f"(?:{first})"
    *middle, last = rest
    return f"(?:{first}{''.join(f'(?>.*?{piece})' for piece in middle)}.*{last})"
