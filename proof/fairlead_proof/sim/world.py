"""The world of one schedule: the log, the data, the processes and the judge."""

from collections import Counter

from fairlead_client.model import Queue

from fairlead.core.model import MessageQueue
from fairlead.core.records import Reset, RuleSet
from fairlead.wire.control_records import rule_key
from fairlead.wire.encode import encode_reset, encode_rule
from fairlead.wire.topics import TopicNames
from fairlead_proof.sim.bridge import Bridge
from fairlead_proof.sim.chance import Chance
from fairlead_proof.sim.checkpoint import Checkpoint
from fairlead_proof.sim.client import Client
from fairlead_proof.sim.data_plane import DataPlane, Topic
from fairlead_proof.sim.driver import Driver
from fairlead_proof.sim.gateway_process import GatewayProcess
from fairlead_proof.sim.identification import Identification
from fairlead_proof.sim.judge import Judge
from fairlead_proof.sim.kafka import Kafka
from fairlead_proof.sim.scenario import draw_scenario
from fairlead_proof.sim.story import Story
from fairlead_proof.sim.thin_client import ThinClient
from fairlead_proof.sim.timeline import Timeline

__all__ = ["OTHER_TOPIC", "TOPIC", "SimulatedWorld"]

NAMES = TopicNames()
TOPIC = "orders"
OTHER_TOPIC = "payments"
OTHER_QUEUES = 3
HELD = 1_000


class SimulatedWorld:
    """A group of clients, its engine, and everything between them.

    Attributes:
        clients: every process, dead ones too.
        drivers: every driver, dead ones too.
        checkpoint: the folder of the newest driver.
        rules: the group's rules in force: (rule, subject) -> value.
        happened: how often each fault or change happened.
        heals: whether the faults are over, those of the network between client and gateway too.
        next_jump_ms: the broker's clock must not jump ahead again before this.
    """

    def __init__(self, seed: int, story: Story | None = None, *, thin: bool = False) -> None:
        """Make a world; with ``thin`` most clients come through gateways."""
        self.seed = seed
        self.thin = thin
        self.story = story
        self.timeline = Timeline()
        self.chance = Chance(seed)
        self.scenario = draw_scenario(self.chance)
        self.kafka = Kafka(self.timeline)
        self.data = DataPlane()
        self.judge = Judge(self, {OTHER_TOPIC})
        self.bridge = Bridge(self)
        self.checkpoint = Checkpoint()
        self.clients: list[Client | ThinClient] = []
        self.gateways: list[GatewayProcess] = []
        self.heals = False
        self.drivers: list[Driver] = []
        self.rules: dict[tuple[str, tuple[str, ...]], object] = {}
        self.happened: Counter[str] = Counter()
        self.next_jump_ms = 0
        self.data.make(TOPIC, self.scenario.queues, HELD, 0)
        self.data.make(OTHER_TOPIC, OTHER_QUEUES, HELD, 0)

    def narrate(self, who: str, what: str, *values: object) -> None:
        """Add a line to the story, if there is one."""
        if self.story is not None:
            self.story.add(self.timeline.now_ms, who, (what, *values))

    @property
    def living(self) -> list[Client | ThinClient]:
        """The processes that have not ended."""
        return [client for client in self.clients if client.alive]

    @property
    def driver(self) -> Driver | None:
        """The newest driver that has not ended."""
        for driver in reversed(self.drivers):
            if driver.alive:
                return driver
        return None

    def join(
        self, client_id: str | None = None, topics: tuple[str, ...] = (TOPIC,)
    ) -> Client | ThinClient:
        """Start a client process."""
        number = len(self.clients)
        drift = self.scenario.drift_permille
        who = Identification(
            client_id or f"client-{number}", number, topics, self.chance.between(-drift, drift)
        )
        thin = self.thin and self.chance.happens(0.7)
        client = ThinClient(self, who) if thin else Client(self, who)
        self.clients.append(client)
        self.narrate(client.name, "starts")
        if who.drift_permille and not self.happened["client_clock_drifts"]:
            self.note("client_clock_drifts")
        return client

    def join_again(self, client_id: str, topics: tuple[str, ...]) -> None:
        """Start a process under a former client id, unless one of that id runs."""
        if all(client.who.client_id != client_id for client in self.living):
            self.join(client_id, topics)

    def start_gateway(self) -> None:
        """Start a gateway."""
        self.gateways.append(GatewayProcess(self, len(self.gateways)))
        self.narrate(self.gateways[-1].name, "starts")

    def start_driver(self, checkpoint: Checkpoint | None = None) -> Driver:
        """Start an engine on a checkpoint."""
        self.checkpoint = checkpoint or self.checkpoint
        driver = Driver(self, self.checkpoint, len(self.drivers) + 1)
        self.drivers.append(driver)
        self.narrate("operator", "starts an engine")
        return driver

    def start_if_none(self) -> None:
        """Start an engine unless one of the newest generation runs or starts."""
        newest = self.kafka.partition("generations").end
        if not any(one.alive and one.generation in (0, newest) for one in self.drivers):
            self.start_driver()

    def died(self) -> None:
        """Start another engine soon: a driver has died by itself."""
        self.timeline.after(self.chance.between(100, 2_000), self.start_if_none)

    def note(self, kind: str) -> None:
        """Count something of this kind."""
        self.happened[kind] += 1

    def resize(self, topic: Topic, readable: int) -> None:
        """Set how many queues of a topic are readable; add queues if it has fewer."""
        if readable < topic.readable:
            self.judge.hidden(topic, readable)
        if readable > topic.queues:
            first = topic.queues
            self.data.grow(topic, readable, 0, self.timeline.now_ms)
            self.judge.grown(topic, first)
        topic.readable = readable
        self.narrate("topic", topic.name, "has", readable, "queues that can be read")
        self.bridge.publish(topic)

    def recreate(self, topic: Topic, queues: int) -> None:
        """Delete a topic and create another one of its name."""
        self.data.recreate(topic, queues, self.timeline.now_ms)
        self.judge.recreated(topic)
        self.narrate("topic", topic.name, "is recreated with", queues, "queues")
        self.bridge.publish(topic)

    def reset(self, queue: MessageQueue, offset: int) -> None:
        """Write an operator's reset of a queue to an offset."""
        identity = self.data.topics[queue.topic].identity
        wanted = Reset(self.scenario.group, queue, offset, "simulator", identity=identity)
        reset = encode_reset(wanted, NAMES, 1)
        control = self.kafka.partition("control")
        number = self.kafka.append(control, reset.key, reset.value).offset + 1
        self.narrate("operator", "resets", queue, "to", (number, offset))
        self.judge.start_checks.reset(Queue(*queue), number, offset)

    def set_timing(self, name: str, milliseconds: int) -> None:
        """Change one time of the group's rules, and keep the others."""
        present = self.rules.get(("timing", ()), {})
        assert isinstance(present, dict), "times are an object"
        self.set_rule("timing", (), {**present, name: milliseconds})

    def set_rule(self, rule: str, subject: tuple[str, ...], value: object) -> None:
        """Write a rule of the group to the log; the value None removes it."""
        key = (rule, subject)
        if value is None:
            self.rules.pop(key, None)
        else:
            self.rules[key] = value
        record = RuleSet(self.scenario.group, rule, subject, value, "simulator")
        self.narrate("operator", "sets", rule, "/".join(subject), "to", value)
        self.kafka.append(
            self.kafka.partition("control"),
            rule_key(self.scenario.group, rule, subject),
            encode_rule(record),
        )
