"""What Kafka says of a message that too few replicas have stored: it is sent to another broker."""

import pytest
from fairlead_client.produce.kafka_sender import sending_error
from fairlead_client.produce.send_error import Fault
from kafka.errors import NotEnoughReplicasAfterAppendError, NotEnoughReplicasError


@pytest.mark.parametrize("error", [NotEnoughReplicasError, NotEnoughReplicasAfterAppendError])
def test_a_message_stored_by_too_few_is_tried_elsewhere(error: type[Exception]) -> None:
    """It counts as busy: another queue may take the message, and the broker is avoided."""
    found = sending_error(error("min.insync.replicas"), "A")
    assert (found.fault, found.broker) == (Fault.BUSY, "A")
    assert found.fault.is_retriable
    assert found.fault.isolates
