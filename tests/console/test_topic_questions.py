"""Questions to the topics while brokers hang or are gone: they end in time, and few run at once."""

import asyncio
import contextlib
import socket
import threading

import pytest

from fairlead.broker.ports import free_ports
from fairlead.console.topic_questions import TopicQuestions
from fairlead.errors import EnvironmentMissingError
from fairlead.http.problems import Problem
from fairlead.kafka import topic_reader
from fairlead.kafka.topic_source import TopicSource
from fairlead.settings import KafkaSettings, load_settings


def _kafka(port: int) -> KafkaSettings:
    return load_settings(overrides={"kafka.bootstrap": f"127.0.0.1:{port}"}).kafka


def _named(source: TopicSource) -> str:
    return source.names.prefix


def test_a_broker_that_hangs_is_left_in_time() -> None:
    """A broker that accepts and never answers costs one answer its patience, and no more."""
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as silent:
        questions = TopicQuestions(_kafka(silent.getsockname()[1]), patience_s=0.2)
        refused = asyncio.run(questions.ask("anybody", _named))
    assert isinstance(refused, Problem)
    assert (refused.status, refused.kind) == (503, "topics_slow")
    assert refused.headers["retry-after"] == "5"


def test_a_cluster_that_is_gone_is_named() -> None:
    """Where nobody listens, the refusal says which address that is."""
    port = free_ports(1)[0]
    refused = asyncio.run(TopicQuestions(_kafka(port)).ask("anybody", _named))
    assert isinstance(refused, Problem)
    assert (refused.status, refused.kind) == (503, "topics_unreadable")
    assert str(port) in refused.detail


def test_no_more_than_four_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """While four read, a fifth is refused at once; when they have ended, others are answered."""
    waiting, go_on = threading.Semaphore(0), threading.Event()

    def held(*_: object) -> None:
        waiting.release()
        go_on.wait(30)
        raise EnvironmentMissingError("gone.", remedy="Wait.")

    monkeypatch.setattr(topic_reader, "require_reachable", held)

    async def all_of_them() -> None:
        questions = TopicQuestions(_kafka(1))
        four = [asyncio.create_task(questions.ask("anybody", _named)) for _ in range(4)]
        await asyncio.to_thread(lambda: [waiting.acquire(timeout=30) for _ in range(4)])
        fifth = await questions.ask("anybody", _named)
        assert isinstance(fifth, Problem)
        assert (fifth.status, fifth.headers["retry-after"]) == (503, "2")
        go_on.set()
        ended = await asyncio.gather(*four)
        assert {each.kind for each in ended if isinstance(each, Problem)} == {"topics_unreadable"}
        again = await questions.ask("anybody", _named)
        assert isinstance(again, Problem)
        assert again.kind == "topics_unreadable"

    asyncio.run(all_of_them())
