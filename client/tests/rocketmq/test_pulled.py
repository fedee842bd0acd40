"""What a broker answers to a pull becomes messages, up to the first that nobody can read."""

import pytest
from fairlead_client.errors import FairleadClientError
from fairlead_client.remoting.command import Command
from fairlead_client.rocketmq.pull_request import pulled

from tests.kit.stored_messages import stored

FIELDS = {"minOffset": "0", "maxOffset": "9", "nextBeginOffset": "9"}
BROKEN = {
    "no zlib": stored(7, b"no zlib", sys_flag=1),
    "another body": stored(7, b"paid").replace(b"paid", b"void"),
    "a batch": stored(7, b"many", sys_flag=0xC0),
}


@pytest.mark.parametrize("which", BROKEN)
def test_a_broken_message_keeps_none_before_it_back(which: str) -> None:
    """Those before it are handed out; the next pull begins with it, and says what is wrong."""
    body = stored(4, b"a") + stored(6, b"b") + BROKEN[which] + stored(8, b"c")
    answer = pulled("b:1", Command(0, FIELDS, body))
    assert [message.offset for message in answer.messages] == [4, 6]
    assert answer.next_offset == 7
    with pytest.raises(FairleadClientError):
        pulled("b:1", Command(0, FIELDS, BROKEN[which] + stored(8, b"c")))
