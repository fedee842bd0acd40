"""The ``[engine]`` section: the streaming job, its checkpoint and Spark."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field

from fairlead.settings.values import JavaHeap, Section, StrategyClass


class EngineSettings(Section):
    """The engine: the streaming job of `fairlead run`."""

    checkpoint: Annotated[
        Path,
        Field(
            description="The folder of the engine's state, on a local POSIX file system that "
            "survives restarts. Without it the engine recovers from what clients claim."
        ),
    ]
    recover_damaged: Annotated[
        bool,
        Field(
            description="Whether --supervise moves a damaged checkpoint aside and starts the "
            "engine again, which then recovers from what clients claim. If false, the engine ends "
            "with exit code 4."
        ),
    ]
    damaged_kept: Annotated[
        int,
        Field(
            ge=1,
            le=100,
            description="How many damaged checkpoints may lie beside engine.checkpoint. One more "
            "ends the engine with exit code 4: check the disk, then delete them.",
        ),
    ]
    tick_ms: Annotated[
        int,
        Field(
            ge=100,
            le=60_000,
            description="How often the engine writes a tick, which moves the clock of the log. "
            "Longer: lapses and decisions come later. Shorter: more records.",
        ),
    ]
    trigger_interval_ms: Annotated[
        int,
        Field(
            ge=0,
            le=60_000,
            description="The shortest time between the starts of two batches. 0: a batch starts as "
            "soon as the last has ended. Longer: decisions come later, at less load.",
        ),
    ]
    shuffle_partitions: Annotated[
        int,
        Field(
            ge=1,
            le=64,
            description="Spark's tasks per batch. Fixed for the life of a checkpoint. More than "
            "topics.heartbeats_partitions have nothing to do.",
        ),
    ]
    master: Annotated[
        str,
        Field(
            min_length=1,
            description="Spark's master. The default runs sixteen tasks at once, since most wait "
            "for a broker, and tries each up to eight times.",
        ),
    ]
    max_offsets_per_trigger: Annotated[
        int,
        Field(
            ge=1_000,
            description="The most records per batch. Smaller: the engine catches up more slowly. "
            "Larger: a batch needs more memory.",
        ),
    ]
    fetch_max_wait_ms: Annotated[
        int,
        Field(
            ge=1,
            le=500,
            description="How long each batch waits for a long poll: this time is added to every "
            "decision.",
        ),
    ]
    request_timeout_ms: Annotated[
        int,
        Field(
            ge=500,
            le=120_000,
            description="How long Spark's source and sink wait for a connection to a broker, and "
            "again for an answer. When a broker freezes, two or three such waits follow each "
            "other, so keep it below kafka.connection.request_timeout_ms. Links below 10 Mbit/s "
            "need more.",
        ),
    ]
    offsets_timeout_ms: Annotated[
        int,
        Field(
            ge=500,
            le=120_000,
            description="Each batch asks the brokers where the input ends. After this time without "
            "an answer it asks again through a new connection; without this limit a lost broker "
            "would hold it up. At least engine.request_timeout_ms.",
        ),
    ]
    metadata_max_age_ms: Annotated[
        int,
        Field(
            ge=100,
            le=300_000,
            description="How often the sink asks which broker leads which partition. Too long: its "
            "first record after an outage goes to a lost broker and waits.",
        ),
    ]
    java_heap: Annotated[
        JavaHeap,
        Field(
            description="The heap of Spark's JVM, such as 512m. The machine or container needs 512 "
            "MiB more."
        ),
    ]
    strategies: Annotated[
        tuple[StrategyClass, ...],
        Field(
            description='Your own strategies, as "module:Class"; strategies/README.md explains '
            "them."
        ),
    ]
    spark: Annotated[
        Mapping[str, str | bool | int | float],
        Field(
            description="Spark's own settings. They win over those that the engine sets.",
            examples=[{"spark.memory.fraction": 0.5}],
        ),
    ]
