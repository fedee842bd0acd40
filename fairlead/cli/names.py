"""Names of groups and topics in arguments: checked before anything is read."""

from collections.abc import Iterable

from fairlead.errors import UsageError

__all__ = ["require_group", "require_topics"]


def require_group(name: str, *, or_all: bool = False) -> None:
    """Refuse a text that is no name of a group; ``or_all``: ``*`` is allowed too.

    Raises:
        UsageError: the name is not allowed.
    """
    from fairlead.wire.texts import GROUP, GROUP_OR_ALL

    kind = GROUP_OR_ALL if or_all else GROUP
    if not kind.allows(name):
        raise UsageError(f"GROUP: {name!r} is no group name.", remedy=f"Give {kind.words}.")


def require_topics(names: Iterable[str]) -> None:
    """Refuse texts of ``--topic`` that are no names of topics.

    Raises:
        UsageError: a name is not allowed.
    """
    from fairlead.wire.texts import TOPIC

    for name in names:
        if not TOPIC.allows(name):
            raise UsageError(f"--topic: {name!r} is no topic name.", remedy=f"Give {TOPIC.words}.")
