"""A trust domain on the secure broker: topics, and a user of each role with exactly its rights."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairlead_client.session.topic_names import dead_letter_topic, kafka_topic, retry_topic

from fairlead.kafka.acls import READING_TOO, RIGHTS, Role
from fairlead.kafka.topic_creation import create_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import Settings, load_settings
from fairlead.wire.topics import TopicNames
from tests.fixtures.kafka import FEW_PARTITIONS
from tests.fixtures.secure_kafka import PASSWORD, Right, SecureKafka

__all__ = ["Domain", "domain_of"]


@dataclass(frozen=True, slots=True)
class Domain:
    """Fairlead's topics of one prefix, a topic with messages, and one group that reads it.

    Attributes:
        broker: where they are.
        name: what users, topics and group are named after.
    """

    broker: SecureKafka
    name: str

    @property
    def names(self) -> TopicNames:
        """The names of Fairlead's topics."""
        return TopicNames(f"{self.name}.")

    @property
    def messages(self) -> str:
        """The topic with messages."""
        return f"{self.name}-messages"

    @property
    def group(self) -> str:
        """The group."""
        return f"{self.name}-orders"

    @property
    def retries(self) -> str:
        """What Kafka calls the group's retry topic."""
        return kafka_topic(retry_topic(self.group))

    @property
    def dead_letters(self) -> str:
        """What Kafka calls the group's dead-letter topic."""
        return kafka_topic(dead_letter_topic(self.group))

    def user(self, role: Role) -> str:
        """Return the user of a role, who has no other."""
        return f"{self.name}-{role.name.lower()}"

    def rights(self, role: Role) -> list[Right]:
        """Return what the page of rights gives to a role."""
        needed, user = RIGHTS[role], self.user(role)
        roles = (RIGHTS[Role.READER], needed) if role in READING_TOO else (needed,)
        topics = [
            *(
                (self.names.name(suffix), operations)
                for each in roles
                for suffix, operations in each.topics.items()
            ),
            *((self.messages, each.messages) for each in roles),
            *((self.retries, each.retries) for each in roles),
            *((self.dead_letters, each.dead_letters) for each in roles),
        ]
        rights = {
            Right(user, operation, "topic", topic)
            for topic, operations in topics
            for operation in operations
        }
        of_group = {operation for each in roles for operation in each.group}
        return sorted(rights | {Right(user, each, "group", self.group) for each in of_group})

    def security(self, role: Role) -> dict[str, Any]:
        """Return kafka-python's options for the user of a role."""
        return self.broker.security(self.user(role))

    def client(self, role: Role = Role.CLIENT) -> Mapping[str, Any]:
        """Return the settings of every client or producer: where the topics are, and who it is."""
        return {
            "bootstrap": self.broker.secure,
            "prefix": self.names.prefix,
            "kafka": self.security(role),
        }

    def overrides(self, role: Role, folder: Path) -> dict[str, str]:
        """Return the settings of a process of this role, by dotted keys; folder is its own."""
        secret = folder / "password"
        secret.write_text(PASSWORD, encoding="utf-8")
        return {
            **FEW_PARTITIONS,
            "kafka.bootstrap": self.broker.secure,
            "kafka.topic_prefix": self.names.prefix,
            "engine.checkpoint": str(folder / "state"),
            "kafka.security.security_protocol": "SASL_SSL",
            "kafka.security.sasl_mechanism": "SCRAM-SHA-512",
            "kafka.security.sasl_plain_username": self.user(role),
            "kafka.security.sasl_plain_password_file": str(secret),
            "kafka.security.ssl_cafile": str(self.broker.certificates.authority),
        }

    def settings(self, role: Role, folder: Path) -> Settings:
        """Return the settings of a process of this role."""
        return load_settings(overrides=self.overrides(role, folder))


@contextlib.contextmanager
def domain_of(broker: SecureKafka, name: str, *, queues: int = 1) -> Iterator[Domain]:
    """Make a domain, whose topic with messages has so many queues; it ends with the context."""
    domain = Domain(broker, name)
    broker.add_users([domain.user(role) for role in Role])
    specs = topic_specs(load_settings(overrides=FEW_PARTITIONS).topics)
    create_topics({"bootstrap_servers": broker.plain}, domain.names.prefix, specs, 1)
    with contextlib.closing(broker.admin()) as admin:
        admin.create_topics({domain.messages: {"num_partitions": queues, "replication_factor": 1}})
    broker.allow([right for role in Role for right in domain.rights(role)])
    yield domain
    with contextlib.closing(broker.admin()) as admin:
        ours = (domain.names.prefix, domain.messages, domain.retries, domain.dead_letters)
        admin.delete_topics([each for each in admin.list_topics() if each.startswith(ours)])
