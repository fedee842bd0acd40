"""``fairlead bridge``: carry routes and offsets of live clusters into Fairlead's topics."""

import sys
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from fairlead.cli.interruption import stop_on_signals
from fairlead.cli.log_setup import set_up_log
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import (
    ConfigOption,
    DataBootstrapOption,
    ProfileOption,
    TopicPrefixOption,
    settings_of,
)
from fairlead.cli.rocketmq_options import RocketMQOptions

if TYPE_CHECKING:
    import threading

    from fairlead.bridges.figures import BridgeFigures
    from fairlead.settings import Settings

ControlBootstrapOption = Annotated[
    str | None,
    typer.Option("--bootstrap", help="The cluster with Fairlead's topics; sets kafka.bootstrap."),
]

RetryQueueNumsOption = Annotated[
    int,
    typer.Option(
        "--retry-queue-nums",
        min=0,
        max=100,
        help="Queues for each delay of a group's retry topic; 0: create no retry topics.",
    ),
]
PollOption = Annotated[
    int, typer.Option("--poll-ms", min=100, help="Look at the topics this often; milliseconds.")
]
RetryGroupsMaxOption = Annotated[
    int,
    typer.Option(
        "--retry-groups-max",
        min=0,
        help="How many groups may have retry topics on the cluster.",
    ),
]
RetryRemoveAfterOption = Annotated[
    int,
    typer.Option(
        "--retry-remove-after-ms",
        min=0,
        help="Remove empty retry topics this long after the group was evicted; 0: never.",
    ),
]
DefaultTopicQueueNumsOption = Annotated[
    int,
    typer.Option(
        "--default-topic-queue-nums",
        min=0,
        max=1_000,
        help="Publish the default route TBW102 with this many queues (RocketMQ: 8); 0: none.",
    ),
]

TopicsOption = Annotated[
    str | None,
    typer.Option("--topics", help="Also watch these topics, separated by commas."),
]
TopicPatternOption = Annotated[
    str | None,
    typer.Option("--topic-pattern", help="Also watch topics whose whole name matches."),
]
ClusterNameOption = Annotated[
    str | None,
    typer.Option("--cluster-name", help="The queues' broker name; default: the cluster's id."),
]
MetricsHostOption = Annotated[
    str,
    typer.Option("--metrics-host", help="The address of /metrics, /healthz and /readyz."),
]
MetricsPortOption = Annotated[
    int,
    typer.Option("--metrics-port", min=0, max=65_535, help="Their port; 0: any, see the log."),
]
SuperviseOption = Annotated[
    bool, typer.Option("--supervise", help="Restart the bridge when it dies; see docs.")
]

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.callback()
def bridge() -> None:
    """Carry topics and offsets of a live cluster into Fairlead's topics."""


@app.command()
def kafka(
    *,
    bootstrap: ControlBootstrapOption = None,
    data_bootstrap: DataBootstrapOption = None,
    topics: TopicsOption = None,
    topic_pattern: TopicPatternOption = None,
    cluster_name: ClusterNameOption = None,
    poll_ms: PollOption = 2_000,
    retry_queue_nums: RetryQueueNumsOption = 1,
    retry_groups_max: RetryGroupsMaxOption = 500,
    retry_remove_after_ms: RetryRemoveAfterOption = 10_800_000,
    default_topic_queue_nums: DefaultTopicQueueNumsOption = 0,
    topic_prefix: TopicPrefixOption = None,
    metrics_host: MetricsHostOption = "127.0.0.1",
    metrics_port: MetricsPortOption = 9_466,
    supervise: SuperviseOption = False,
    profile: ProfileOption = None,
    config: ConfigOption = None,
) -> None:
    """Watch a Kafka cluster: its topics become routes, their partitions queues.

    The bridge also watches topics that groups ask for. It runs until SIGTERM or Ctrl-C.
    """
    from fairlead.bridges.kafka.bridge import BridgeTimes, KafkaBridge
    from fairlead.kafka.connection import library_options

    settings = settings_of(bootstrap, topic_prefix, profile, config)
    options = library_options(settings.kafka)
    carrier = KafkaBridge(
        control_bootstrap=settings.kafka.bootstrap,
        data_bootstrap=data_bootstrap,
        prefix=settings.kafka.topic_prefix,
        topics=[topic.strip() for topic in topics.split(",")] if topics else (),
        topic_pattern=topic_pattern,
        cluster_name=cluster_name,
        times=BridgeTimes(poll_ms=poll_ms, remove_after_ms=retry_remove_after_ms),
        retry_queue_nums=retry_queue_nums,
        retry_groups_max=retry_groups_max,
        default_topic_queue_nums=default_topic_queue_nums,
        control_options=options,
        data_options=options,
    )
    _run(carrier, settings, metrics_host, metrics_port, supervise=supervise)


@app.command()
@takes_sets
def rocketmq(
    *,
    servers: RocketMQOptions,
    cluster_name: Annotated[
        str | None,
        typer.Option(
            "--cluster-name", help="The brokers' cluster; default: the only one there is."
        ),
    ] = None,
    bootstrap: ControlBootstrapOption = None,
    topics: TopicsOption = None,
    topic_pattern: TopicPatternOption = None,
    poll_ms: PollOption = 2_000,
    broker_away_ms: Annotated[
        int,
        typer.Option(
            "--broker-away-ms",
            min=0,
            help="How long a broker that no name server knows keeps its queues.",
        ),
    ] = 600_000,
    topic_prefix: TopicPrefixOption = None,
    metrics_host: MetricsHostOption = "127.0.0.1",
    metrics_port: MetricsPortOption = 9_466,
    supervise: SuperviseOption = False,
    profile: ProfileOption = None,
    config: ConfigOption = None,
) -> None:
    """Watch a cluster of RocketMQ: its topics, as its name servers know them, become routes.

    The bridge also watches topics that groups ask for. It runs until SIGTERM or Ctrl-C.
    """
    from fairlead.bridges.rocketmq.bridge import RocketMQBridge, RocketMQBridgeTimes
    from fairlead.kafka.connection import library_options

    settings = settings_of(bootstrap, topic_prefix, profile, config)
    carrier = RocketMQBridge(
        control_bootstrap=settings.kafka.bootstrap,
        namesrv=servers.namesrv,
        cluster_name=cluster_name,
        prefix=settings.kafka.topic_prefix,
        topics=[topic.strip() for topic in topics.split(",")] if topics else (),
        topic_pattern=topic_pattern,
        times=RocketMQBridgeTimes(poll_ms=poll_ms, away_ms=broker_away_ms),
        connection=servers.connection(),
        control_options=library_options(settings.kafka),
    )
    _run(carrier, settings, metrics_host, metrics_port, supervise=supervise)


class _Carrier(Protocol):
    """A bridge."""

    figures: "BridgeFigures"

    def run(self, stop: "threading.Event") -> None:
        """Work until ``stop`` is set."""


def _run(carrier: _Carrier, settings: "Settings", host: str, port: int, *, supervise: bool) -> None:
    """Run the bridge, or a parent of it, and serve its metrics."""
    import structlog
    from prometheus_client import CollectorRegistry

    from fairlead.bridges.figures import BridgeMetrics
    from fairlead.http.endpoint import answering
    from fairlead.kafka.passed_over_metric import PassedOverMetric
    from fairlead.settings import MetricsSettings

    set_up_log(settings)
    if supervise:
        from fairlead.cli.operate.supervision import supervised

        supervised(sys.argv[1:])
    registry = CollectorRegistry()
    registry.register(BridgeMetrics(carrier.figures))
    registry.register(PassedOverMetric())
    where = settings.model_copy(update={"metrics": MetricsSettings(host=host, port=port)})
    with answering(registry, carrier.figures.verdict, where) as url:
        structlog.get_logger(__name__).info("metrics", url=url)
        carrier.run(stop_on_signals())
