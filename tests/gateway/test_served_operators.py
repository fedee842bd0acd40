"""`fairlead serve` with the gateway: operators behind its guard, and beside polls of clients."""

import contextlib
import threading
import time
from pathlib import Path

import orjson
import pytest
from kafka import KafkaConsumer, TopicPartition

from fairlead.gateway.operator_threads import OF_ONE
from fairlead.wire.topics import TopicNames
from tests.access.access_files import made_token, principal_text
from tests.kit.awaiting import await_seen
from tests.kit.http_caller import Answer, Asking
from tests.kit.serve_process import serving

WAIT_MS = 4_000


@pytest.mark.broker
def test_slow_changes_delay_no_poll(bootstrap: str, topics: TopicNames, tmp_path: Path) -> None:
    """While an operator's changes wait, polls are answered at once, and no more changes begin."""
    with serving(tmp_path, bootstrap, topics.prefix, "FAIRLEAD__GATEWAY__ENABLED=true") as served:
        served.wait("/readyz", 200)
        ask = Asking(served.port)
        body = {"client_id": "c1", "topics": [{"topic": "orders"}]}
        joined = await_seen(
            lambda: ask("POST", "/v1/groups/polled/members", body),
            lambda answer: answer.status == 201,
            what="the gateway is ready",
        )
        state, path = joined.document["state"], f"/v1/sessions/{joined.document['session']}/poll"
        slow: list[Answer] = []
        waiting = {"new_group": True, "wait_ms": WAIT_MS}

        def pause(number: int) -> None:
            slow.append(ask("POST", f"/v1/groups/idle-{number}/pause", waiting))

        threads = [threading.Thread(target=pause, args=(number,)) for number in range(OF_ONE)]
        for each in threads:
            each.start()
        took: list[float] = []
        others: list[Answer] = []
        while any(each.is_alive() for each in threads):
            begun = time.monotonic()
            poll = {"state": state, "sequence": len(took) + 1, "wait_ms": 0}
            polled = ask("POST", path, poll)
            took.append(time.monotonic() - begun)
            assert polled.status == 200, polled
            state = polled.document["state"]
            others.append(ask("POST", "/v1/groups/idle-9/pause", {"dry_run": True}))
        assert [each.status for each in slow] == [202] * OF_ONE
        assert "No engine runs" in slow[0].notes[-1]
        assert len(took) > 10
        assert max(took) < WAIT_MS / 1_000 / 2, took
        assert {each.document["type"] for each in others if each.status == 429} == {
            "urn:fairlead:too_many_operations"
        }


@pytest.mark.broker
def test_the_author_is_who_the_token_names(
    bootstrap: str, topics: TopicNames, tmp_path: Path
) -> None:
    """Behind the guard a record's author is the principal, who changes its own groups alone."""
    team, watcher, boss = (made_token() for _ in range(3))
    rights = ('observe = ["orders*"]', 'operate = ["orders*"]')
    everything = ('observe = ["*"]', 'operate = ["*"]')
    path = tmp_path / "access.toml"
    path.write_text(
        principal_text("orders-team", *rights, token=team[1])
        + principal_text("watcher", 'observe = ["orders*"]', token=watcher[1])
        + principal_text("boss", *everything, token=boss[1])
    )
    with serving(
        tmp_path,
        bootstrap,
        topics.prefix,
        "FAIRLEAD__GATEWAY__ENABLED=true",
        f"FAIRLEAD__ACCESS__FILE={path}",
    ) as served:
        served.wait("/readyz", 200)
        by_team, by_watcher, by_boss = (
            Asking(served.port, authorization=f"Bearer {token}")
            for token, _ in (team, watcher, boss)
        )
        pause = {"new_group": True, "wait_ms": 0}
        assert by_team("POST", "/v1/groups/orders-1/pause", pause).status == 202
        assert by_boss("POST", "/v1/groups/orders-2/pause", pause).status == 202
        assert by_boss("POST", "/v1/groups/billing/pause", pause).status == 202
        assert by_team("POST", "/v1/groups/billing/pause", pause).status == 403
        assert by_team("POST", "/v1/groups/*/pause", pause).status == 403
        assert by_watcher("POST", "/v1/groups/orders-1/resume", {}).status == 403
        assert by_watcher("GET", "/v1/groups/orders-1/rules").status == 200
        assert by_watcher("GET", "/v1/groups/billing/rules").status == 403
        assert by_watcher("POST", "/v1/groups/orders-1/plan", {}).status in (200, 404)
        unknown = by_team("POST", "/v1/groups/orders-9/pause", {})
        assert "orders-1" in unknown.document["remedy"]
        assert "billing" not in unknown.document["remedy"]
        listed = by_boss("GET", "/v1/groups").document["groups"]
        assert listed == by_boss("GET", "/api/v1/groups").document["groups"]
        assert by_team("GET", "/v1/groups/billing").status == 403
    with contextlib.closing(KafkaConsumer(bootstrap_servers=bootstrap)) as consumer:
        parts = [TopicPartition(topics.name("control"), number) for number in range(4)]
        consumer.assign(parts)
        consumer.seek_to_beginning()
        ends = consumer.end_offsets(parts)
        written: list[tuple[str, str]] = []

        def read() -> bool:
            for records in consumer.poll(200).values():
                bodies = [orjson.loads(each.value) for each in records]
                written.extend((each["group"], each["by"]) for each in bodies)
            return all(consumer.position(part) >= ends[part] for part in parts)

        await_seen(read, what="the control topic is read")
    assert sorted(written) == [
        ("billing", "boss"),
        ("orders-1", "orders-team"),
        ("orders-2", "boss"),
    ]
