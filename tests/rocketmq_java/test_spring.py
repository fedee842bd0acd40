"""An application of Spring Boot: properties or one line attach its listeners."""

import subprocess
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fairlead_proof.local.child import Child

from tests.java_client.one_member_group import OneMemberGroup
from tests.java_client.scripted_gateway import scripted_gateway
from tests.kit.awaiting import LONGEST_SECONDS, await_seen
from tests.rocketmq_java.moves import BROKER
from tools.rocketmq_java import built_rocketmq_java
from tools.rocketmq_spring import built_rocketmq_spring

if TYPE_CHECKING:
    from fairlead.embedded_rocketmq import EmbeddedRocketMQ

pytestmark = [pytest.mark.java, pytest.mark.broker]

MESSAGES = 20


def _write(rocketmq: "EmbeddedRocketMQ", topic: str) -> None:
    place = (rocketmq.namesrv, topic, "2", str(MESSAGES))
    command = built_rocketmq_java("rocketmq-5").command("ProducerProbe", *place)
    subprocess.run(command, check=True, capture_output=True, timeout=100)


@pytest.mark.parametrize("way", ["properties", "prepare_start"])
def test_the_containers_of_a_group_are_attached(
    rocketmq: "EmbeddedRocketMQ", tmp_path: Path, way: str
) -> None:
    """That group reads what a gateway grants, and hands it over; another reads as before."""
    topic = f"orders-{uuid.uuid4().hex[:8]}"
    _write(rocketmq, topic)
    heard: list[str] = []

    def said(what: str) -> int:
        return sum(line.startswith(f"probe {what}") for line in heard)

    with scripted_gateway() as gateway:
        group = OneMemberGroup(gateway, topic, broker=BROKER)
        properties = {
            "probe.topic": topic,
            "probe.group": f"g-{topic}",
            "rocketmq.name-server": rocketmq.namesrv,
        }
        properties |= {
            "properties": {
                "fairlead.rocketmq.groups": f"g-{topic}",
                "fairlead.rocketmq.gateways": gateway.address,
                "fairlead.rocketmq.zone": "z1",
                "fairlead.rocketmq.hand-over-ms": "15000",
            },
            "prepare_start": {"probe.gateway": gateway.address},
        }[way]
        arguments = [f"--{name}={value}" for name, value in properties.items()]
        child = Child(
            "spring",
            built_rocketmq_spring().command("SpringProbe", *arguments),
            tmp_path / "spring.log",
            on_line=lambda _, line: heard.append(line.decode()),
        )
        try:
            await_seen(lambda: said("ready"), what="application", seconds=LONGEST_SECONDS)
            await_seen(lambda: group.joins, what="join")
            assert group.joined["zone"] == "z1"
            assert said("attended") == 0
            group.give(0)
            await_seen(lambda: said("attended"), lambda seen: seen == MESSAGES // 2, what="half")
            group.give(1)
            await_seen(lambda: said("attended"), lambda seen: seen == MESSAGES, what="all")
            _write(rocketmq, topic)
            await_seen(lambda: said("unattended"), what="work of the other group")
            child.send(do="leave")
            if way == "properties":
                # Nothing that its listener uses has ended yet: it works on.
                await_seen(lambda: group.leaving, what="leave")
                _write(rocketmq, topic)
                await_seen(lambda: said("attended"), lambda seen: seen == 3 * MESSAGES, what="all")
                group.take(0)
                group.take(1)
            await_seen(lambda: said("closed"), what="end")
            assert group.left
            assert group.stopped[0] + group.stopped[1] >= MESSAGES
        finally:
            child.kill()
            group.close()
