"""What an error of Kafka means to a message: whether it is tried elsewhere, and who is blamed."""

import pytest
from fairlead_client.produce.kafka_sender import sending_error
from fairlead_client.produce.send_error import Fault
from kafka import errors


@pytest.mark.parametrize(
    "error, fault",
    [
        (errors.KafkaTimeoutError(), Fault.UNREACHABLE),
        (errors.KafkaConnectionError(), Fault.UNREACHABLE),
        (errors.RequestTimedOutError(), Fault.UNREACHABLE),
        (errors.NetworkExceptionError(), Fault.UNREACHABLE),
        (errors.NodeNotReadyError(), Fault.UNREACHABLE),
        (errors.Cancelled(), Fault.UNREACHABLE),
        (errors.NotLeaderForPartitionError(), Fault.NOT_LEADER),
        (errors.LeaderNotAvailableError(), Fault.NOT_LEADER),
        (errors.UnknownTopicOrPartitionError(), Fault.NOT_LEADER),
        (errors.NotEnoughReplicasError(), Fault.BUSY),
        (errors.MessageSizeTooLargeError(), Fault.REFUSED),
        (errors.TopicAuthorizationFailedError(), Fault.REFUSED),
        (ValueError("a bug"), Fault.REFUSED),
    ],
)
def test_each_error_is_of_one_kind_and_names_its_broker(error: Exception, fault: Fault) -> None:
    """Each error is of one kind, names the broker that was met, and keeps what was said."""
    told = sending_error(error, "7")
    assert (told.fault, told.broker) == (fault, "7")
    assert str(told).startswith(f"{type(error).__name__}: ")
    assert told.fault.is_retriable == (fault is not Fault.REFUSED)
    assert told.fault.isolates == (fault in (Fault.UNREACHABLE, Fault.BUSY))
