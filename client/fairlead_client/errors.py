"""Everything that the client raises, each error with what went wrong and the remedy."""

from typing import Final

from kafka.errors import KafkaConnectionError, KafkaError

_QUOTED_MAX: Final = 300


class FairleadClientError(Exception):
    """Any error of this library; catch it to catch them all."""


class SettingsError(FairleadClientError, ValueError):
    """A setting has a value that cannot work.

    Attributes:
        field: the name of the setting.
    """

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        super().__init__(f"{field}: {problem}; {remedy}")
        self.field = field


class PositionalArgumentError(SettingsError, TypeError):
    """An argument has no name, as Kafka's own consumer takes topics; clients take keywords only."""


class LifecycleError(FairleadClientError):
    """A call that does not fit the client's state; base of the two below."""


class ClientStartedError(LifecycleError):
    """The client was started before; make a new one."""


class ClientClosedError(LifecycleError):
    """The client is closed, or its start failed; make a new one."""


class ForkedClientError(LifecycleError):
    """The process was forked after the client was made; make the client in the child."""


class StartFailedError(FairleadClientError):
    """The client could not join: no connection, a topic is missing, or no time left."""


class BrokerConnectionError(FairleadClientError, KafkaConnectionError):  # type: ignore[misc]
    """The brokers take no connection: the login, a certificate or a port is wrong.

    It is a `KafkaConnectionError` of kafka-python too, and stands as `__cause__` of the
    `StartFailedError` of a client that could not join because of it.

    Attributes:
        option: the connection option to look at, as in the setting `kafka`.
    """

    def __init__(self, option: str, problem: str, remedy: str) -> None:
        super().__init__(f"{option}: {problem}. {remedy}")
        self.option = option


class NotAllowedError(FairleadClientError, KafkaError):  # type: ignore[misc]
    """The brokers do not let this user do something that a client or a producer must do.

    Attributes:
        operation: what is not allowed, as kafka-acls.sh calls it.
        resource: on what: `topic NAME` or `group NAME`; several names are divided by commas.
        principal: who must be given it, as the brokers call this user.
    """

    def __init__(
        self, operation: str, resource: str, error: str, *, who: str, principal: str
    ) -> None:
        kind, _, names = resource.partition(" ")
        given = " ".join(f"--{kind} '{name}'" for name in names.split(", "))
        super().__init__(
            f"{who} need {operation} on {resource}, and {principal} has it not ({error}); "
            f"kafka-acls.sh --add --allow-principal '{principal}' --operation {operation} {given}"
        )
        self.operation = operation
        self.resource = resource
        self.principal = principal


class DuplicateClientIdError(FairleadClientError):
    """Another process uses this client id and is the greater one; this client stopped for good.

    Give each process an id of its own. A supervisor must not restart on this error: the restarted
    process would be the greater one and stop the other.

    Attributes:
        exit_code: what a process that ends because of it may exit with, so that its supervisor can
            tell; the same as of Fairlead's own commands.
    """

    exit_code: Final = 7


class CallbackError(FairleadClientError):
    """An application callback raised; `__cause__` is what it raised."""


class NoticeError(FairleadClientError):
    """The engine told this client of a problem.

    Attributes:
        code: the notice's code, as in the protocol.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class OffsetStoreError(FairleadClientError):
    """Positions could not be committed to the data plane; they are tried again."""


class OffsetFileError(FairleadClientError):
    """The local file with a broadcasting member's offsets cannot be used.

    Attributes:
        path: the file.
    """

    def __init__(self, path: str, problem: str, remedy: str) -> None:
        super().__init__(f"{path}: {problem}; {remedy}")
        self.path = path


class SendBackError(FairleadClientError):
    """It is not sure that a failed message is kept; it stays in hand and is consumed again."""


class MalformedRecordError(FairleadClientError):
    """A record that this client cannot read.

    Attributes:
        field: path of the offending field.
    """

    def __init__(self, field: str, problem: str) -> None:
        # It may quote what stands in the record, and goes into a log.
        shown = problem if len(problem) <= _QUOTED_MAX else f"{problem[:_QUOTED_MAX]}…"
        super().__init__(f"{field}: {shown}")
        self.field = field


class RouteError(FairleadClientError, ValueError):
    """A topic's route that cannot be read, or that RocketMQ's own client fails at.

    Attributes:
        code: `bad_route` (it has not the form of a route), `route_incomplete` (what is needed was
            left out), `order_topic_conf_incomplete`, `order_topic_conf_number`, `too_many_queues`.
        field: path of the offending field, in RocketMQ's words.
    """

    def __init__(self, field: str, problem: str, remedy: str, *, code: str = "bad_route") -> None:
        super().__init__(f"{field}: {problem}; {remedy}")
        self.field = field
        self.code = code


class UnlistedTransitionError(FairleadClientError):
    """An event that the transition table does not list for the state: a bug, not a default."""
