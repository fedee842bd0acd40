"""RocketMQ's own classes and ours read and write the same messages."""

import random
from typing import Any, Final

import pytest
from fairlead_client.rocketmq.message_properties import properties_bytes, read_properties
from fairlead_client.rocketmq.stored_message import StoredMessage

from tests.judge.real_classes import RocketMQ, judged
from tests.kit.stored_messages import VERSION_1, VERSION_2, stored

COUNT: Final = 60


def _case(chance: random.Random, number: int) -> dict[str, Any]:
    sixes = chance.choice([0, 0x10, 0x20, 0x30])
    names = ["TAGS", "KEYS", "UNIQ_KEY", "färbe", "空"]
    properties = {name: chance.choice(["a", "ü 空", "x" * 300]) for name in names[: number % 5]}
    return {
        "id": str(number),
        "kind": "store_message",
        "topic": "%RETRY%orders" if number % 2 else "o" * chance.randrange(1, 127),
        "body": chance.randbytes(chance.randrange(0, 400)).hex(),
        "queue_id": chance.randrange(0, 64),
        "flag": chance.randrange(-5, 5),
        "offset": chance.randrange(0, 2**40),
        "commit_log_offset": chance.randrange(0, 2**50),
        "sys_flag": sixes,
        "born_ms": chance.randrange(0, 2**42),
        "born_host": "2001:db8::7" if sixes & 0x10 else "10.1.2.3",
        "born_port": chance.randrange(1, 65_536),
        "stored_ms": chance.randrange(0, 2**42),
        "store_host": "2001:db8::8" if sixes & 0x20 else "10.1.2.4",
        "store_port": chance.randrange(1, 65_536),
        "reconsume_times": number % 3,
        "properties": properties_bytes(properties).decode(),
    }


@pytest.mark.java
@pytest.mark.parametrize("jars", ["rocketmq", "rocketmq-5"])
def test_what_rocketmq_stores_is_read(
    jars: RocketMQ, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Each message that MessageDecoder writes comes out of our reader with all its parts."""
    chance = random.Random(7)
    cases = [_case(chance, number) for number in range(COUNT)]
    answers = judged(cases, tmp_path_factory.mktemp("rocketmq"), jars)
    assert all("result" in each for each in answers), answers[0]
    for case, answered in zip(cases, answers, strict=True):
        message = StoredMessage(memoryview(bytes.fromhex(answered["result"])))
        same = ("topic", "queue_id", "flag", "offset", "commit_log_offset", "stored_ms")
        assert [getattr(message, name) for name in same] == [case[name] for name in same]
        assert message.timestamp == case["born_ms"]
        assert message.value.hex() == case["body"]
        assert message.reconsume_times == case["reconsume_times"]
        assert message.properties == read_properties(case["properties"].encode())
        for host in ("born", "store"):
            shown = case[f"{host}_host"]
            shown = f"[{shown}]" if ":" in shown else shown
            assert getattr(message, f"{host}_host") == f"{shown}:{case[f'{host}_port']}"


@pytest.mark.java
def test_rocketmq_reads_what_ours_reads(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Both versions, with IPv4 and IPv6, mean to our reader what they mean to MessageDecoder."""
    written = [
        stored(
            40 + number,
            b"body %d" % number,
            properties={"TAGS": "a", "空": "ü"},
            magic=magic,
            host=host,
            topic="t" * (200 if magic == VERSION_2 else 100),
            reconsume_times=number,
        )
        for number, (magic, host) in enumerate(
            (magic, host)
            for magic in (VERSION_1, VERSION_2)
            for host in ("10.0.0.7", "2001:db8::7")
        )
    ]
    cases = [{"id": "", "kind": "read_message", "stored": each.hex()} for each in written]
    answers = judged(cases, tmp_path_factory.mktemp("rocketmq"), "rocketmq-5")
    for data, answered in zip(written, answers, strict=True):
        message, read = StoredMessage(memoryview(data)), answered["result"]
        assert bytes.fromhex(read["body"]) == message.value
        same = ("topic", "queue_id", "flag", "offset", "commit_log_offset", "stored_ms")
        assert [getattr(message, name) for name in same] == [read[name] for name in same]
        assert (message.timestamp, message.reconsume_times) == (
            read["born_ms"],
            read["reconsume_times"],
        )
        assert message.properties == read["properties"]
        assert message.offset_message_id == read["offset_message_id"]
