"""Which groups a broker knows (201)."""

from fairlead_client.remoting.codes import RequestCode
from fairlead_client.remoting.command import Command

from fairlead.rocketmq.answer_reading import body_of, table_of

__all__ = ["groups_of", "groups_request"]


def groups_request() -> Command:
    """Return the request for the settings of all groups of a broker."""
    return Command(RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)


def groups_of(answer: Command) -> tuple[str, ...]:
    """Return the names of the groups, sorted.

    Raises:
        EnvironmentMissingError: the answer does not have its form.
    """
    return tuple(sorted(map(str, table_of(body_of(answer, "groups"), "subscriptionGroupTable"))))
