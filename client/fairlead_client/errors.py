"""The errors that the client raises; each message says what went wrong and what to do."""

from typing import Final

from kafka.errors import KafkaConnectionError, KafkaError

_QUOTED_MAX: Final = 300


class FairleadClientError(Exception):
    """The base of all errors of this library."""


class FieldError(FairleadClientError, ValueError):
    """A value cannot work; the message names its field, the problem and the remedy.

    Attributes:
        field: the field's name or path.
    """

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        super().__init__(f"{field}: {problem}; {remedy}")
        self.field = field


class SettingsError(FieldError):
    """A setting has a value that cannot work; `field` is the setting's name."""


class PositionalArgumentError(SettingsError, TypeError):
    """An argument was given without its name; clients take keyword arguments only."""


class LifecycleError(FairleadClientError):
    """A call that does not fit the client's state."""


class ClientStartedError(LifecycleError):
    """The client was started before; create a new one."""


class ClientClosedError(LifecycleError):
    """The client is closed, or its start failed; create a new one."""


class ForkedClientError(LifecycleError):
    """The process forked after the client was created; create the client in the child."""


class StartFailedError(FairleadClientError):
    """The client could not join: no connection, a missing topic, or the time was over."""


class BrokerConnectionError(FairleadClientError, KafkaConnectionError):  # type: ignore[misc]
    """The brokers accept no connection: the login, a certificate or a port is wrong.

    It is also a `KafkaConnectionError` of kafka-python. If a client could not join because of it,
    it is the `__cause__` of the `StartFailedError`.

    Attributes:
        option: the connection option to check, as in the setting `kafka`.
    """

    def __init__(self, option: str, problem: str, remedy: str) -> None:
        super().__init__(f"{option}: {problem}. {remedy}")
        self.option = option


class NotAllowedError(FairleadClientError, KafkaError):  # type: ignore[misc]
    """The brokers refuse this user a right that a client or a producer needs.

    Attributes:
        operation: the missing operation, as kafka-acls.sh calls it.
        resource: `topic NAME` or `group NAME`, with commas between several names.
        principal: the brokers' name for this user, who needs the right.
    """

    def __init__(
        self, operation: str, resource: str, error: str, *, who: str, principal: str
    ) -> None:
        kind, _, names = resource.partition(" ")
        given = " ".join(f"--{kind} '{name}'" for name in names.split(", "))
        super().__init__(
            f"{who} need {operation} on {resource}, and {principal} does not have it ({error}); "
            f"kafka-acls.sh --add --allow-principal '{principal}' --operation {operation} {given}"
        )
        self.operation = operation
        self.resource = resource
        self.principal = principal


class GatewayError(FairleadClientError):
    """A gateway does not answer, or refuses a request; the message says what to do.

    If a client could not join because of it, it is the `__cause__` of the `StartFailedError`.

    Attributes:
        status: the HTTP status of the answer; None: there was none.
        kind: what is wrong, in one word: the `type` of the gateway's problem, or `refused`,
            `unknown_host`, `timeout`, `unreachable`, `bad_certificate`, `certificate_required`,
            `not_tls`, `no_http`, `closed`, `bad_answer`.
        reason: why a session is over; "": it is not.
        retry_after_ms: how long the gateway wants to be left alone.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str,
        status: int | None = None,
        reason: str = "",
        retry_after_ms: int = 0,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.reason = reason
        self.retry_after_ms = retry_after_ms


class DuplicateClientIdError(FairleadClientError):
    """Another process uses this client id and started later; this client stopped for good.

    Give each process its own id. A supervisor must not restart on this error: the restarted
    process would be the later one and stop the other.

    Attributes:
        exit_code: the exit code for a process that ends because of this error, so that a
            supervisor can recognize it. Fairlead's own commands use the same code.
    """

    exit_code: Final = 7


class CallbackError(FairleadClientError):
    """A callback of the application raised; `__cause__` is its error."""


class NoticeError(FairleadClientError):
    """The engine reported a problem to this client.

    Attributes:
        code: the notice's code, as in the protocol.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class OffsetStoreError(FairleadClientError):
    """The client could not commit positions; it tries again."""


class OffsetFileError(FairleadClientError):
    """A broadcasting member cannot use its local file of offsets.

    Attributes:
        path: the file.
    """

    def __init__(self, path: str, problem: str, remedy: str) -> None:
        super().__init__(f"{path}: {problem}; {remedy}")
        self.path = path


class SendBackError(FairleadClientError):
    """A failed message may not have been sent back, so the consumer consumes it again."""


class MalformedRecordError(FairleadClientError):
    """The client cannot read a record.

    Attributes:
        field: the path of the wrong field.
    """

    def __init__(self, field: str, problem: str) -> None:
        # The problem may quote the record, and it goes into the log.
        shown = problem if len(problem) <= _QUOTED_MAX else f"{problem[:_QUOTED_MAX]}…"
        super().__init__(f"{field}: {shown}")
        self.field = field


class RouteError(FieldError):
    """A topic's route is unreadable, or RocketMQ's own client fails at it.

    Attributes:
        code: `bad_route` (not the form of a route), `route_incomplete` (a needed part is missing),
            `order_topic_conf_incomplete`, `order_topic_conf_number` or `too_many_queues`.
        field: the path of the wrong field, in RocketMQ's words.
    """

    def __init__(self, field: str, problem: str, remedy: str, *, code: str = "bad_route") -> None:
        super().__init__(field, problem, remedy)
        self.code = code


class UnlistedTransitionError(FairleadClientError):
    """The transition table does not list this event for this state: a bug in the client."""
