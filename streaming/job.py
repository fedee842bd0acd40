"""One run of the driver: checks, claim, clock, query, end.

The order matters. The driver claims nothing before all checks have passed; the rules are in the log
before the first batch; ticks are in every partition before the query looks for data.
"""

import contextlib
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import pyspark
import structlog
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from fairlead.core.allocation import Strategy
from fairlead.core.records import Tick
from fairlead.engine.drivers import settings_of
from fairlead.engine.seals import seal_of
from fairlead.errors import FairleadError, QueryDiedError
from fairlead.http.endpoint import answering
from fairlead.kafka.connection import sink_options
from fairlead.kafka.topic_ids import check_topic_ids, read_topic_ids
from fairlead.settings import Settings
from fairlead.stop_signal import StopSignal
from sinks import KafkaSink, Sink
from strategies.registry import STRATEGIES
from streaming.checkpoint import Checkpoint, Layout, Offsets, check_layout
from streaming.clock import Ticker
from streaming.cluster import ClusterFacts, PartitionGuard, prepare_topics, read_cluster
from streaming.damage import copies_of
from streaming.generation import GenerationWatch, claim_generation, earlier_generations
from streaming.health import Health, Patience
from streaming.heap import HeapWatch, JvmHeap
from streaming.inspection import inspect, refusal_of
from streaming.jvm import Jvm
from streaming.jvm_end import HeapExhaustedError, JvmProcess, error_of_end, heap_error
from streaming.jvm_lock import jvm_owns
from streaming.lost_input import check_input
from streaming.metrics import EngineMetrics
from streaming.progress import ProgressListener
from streaming.publish_errors import PublishErrors
from streaming.query import QueryPlan, shard_context, start_query
from streaming.rules import publish_rules, wanted_rules
from streaming.shutdown import Ending, cause_of_end, java_causes, quietly
from streaming.skipping import Skip, SkippedPlace, check_skips, log_suspects, skip_records
from streaming.stall_probe import StallProbe
from streaming.start_positions import (
    Begin,
    begin_without_state,
    control_ends,
    ends_before_claim,
    first_ticks,
)
from streaming.starting import SessionSource

log = structlog.get_logger()

_LOOK_SECONDS: Final = 0.5
_BATCH_SECONDS_MAX: Final = 10.0
"""How long a stop waits for the running batch; the next driver runs an interrupted batch again."""


@dataclass(frozen=True, slots=True)
class JobOptions:
    """What a run needs besides the settings.

    Attributes:
        session: provides the Spark session.
        restarts: how often the supervisor has restarted the driver.
        strategies: the strategies that rules can name.
        sink: where the output goes; None: into the topics.
        accept_lost_input: go on although the log has lost records that the engine has not read.
        skips: records that the engine skips unread.
        patience: how long each part of the work may take before `/readyz` reports another state.
        health: where the run notes its state; the run sets its patience and recovery.
    """

    session: SessionSource
    restarts: int = 0
    strategies: Mapping[str, Strategy] = field(default_factory=lambda: STRATEGIES)
    sink: Sink | None = None
    accept_lost_input: bool = False
    skips: tuple[SkippedPlace, ...] = ()
    patience: Patience = field(default_factory=Patience)
    health: Health = field(default_factory=Health)


@dataclass(frozen=True, slots=True)
class Prepared:
    """The result of a start's checks.

    Attributes:
        layout: the checkpoint's layout.
        control: the offset behind the newest record of each partition of control.
        input_lost: the log has lost unread records, and the operator accepts that.
        skips: what the engine skips on the operator's order.
    """

    layout: Layout
    control: Mapping[int, int]
    input_lost: bool
    skips: Sequence[Skip] = ()


def run_job(settings: Settings, options: JobOptions, stop: StopSignal) -> None:
    """Run the engine until `stop` is set; return after a clean stop.

    Raises:
        RefusedError: going on could give a queue two owners or lose progress.
        EnvironmentMissingError: something that the engine needs is missing.
        SupersededError: another driver has taken over.
        QueryDiedError: the query, or the ticker, ended by itself.
    """
    checkpoint = Checkpoint(settings.engine.checkpoint)
    metrics = EngineMetrics(pyspark.__version__, options.restarts)
    rest_ms, health = settings.engine.trigger_interval_ms + settings.engine.tick_ms, options.health
    health.patience = options.patience.between(rest_ms / 1_000)
    health.recovering = lambda: metrics.recovery.shards
    metrics.damaged.set(len(copies_of(checkpoint.folder)))
    with contextlib.ExitStack() as stack:
        stack.enter_context(checkpoint.owned())
        url = stack.enter_context(answering(metrics.registry, health.verdict, settings))
        log.info("metrics", url=url)
        prepared = prepare(settings, checkpoint, options)
        spark = options.session.result(stop)
        if spark is None:
            return
        stack.callback(options.session.close)
        stack.enter_context(jvm_owns(spark, checkpoint))
        try:
            run = Run(settings, options, checkpoint, prepared, metrics=metrics, health=health)
            run.run(spark, Ending(stop))
        except Exception as error:
            health.ended(error)
            raise


def prepare(settings: Settings, checkpoint: Checkpoint, options: JobOptions) -> Prepared:
    """Run every check that can refuse a start.

    When it returns, the layout is stored and the rules of conf/ are in the log.

    Raises:
        RefusedError: the checkpoint has another layout or is damaged; or the log no longer holds
            the records that the engine would read next.
        EnvironmentMissingError: the cluster does not answer.
        UsageError: conf/ holds a value that cannot be a rule.
    """
    wanted = wanted_rules(settings, options.strategies)
    inspect(checkpoint)
    stored = checkpoint.stored_layout()
    prepare_topics(settings, may_create=stored is None)
    current = _layout(settings, read_cluster(settings))
    if stored is not None:
        check_layout(stored, current)
    input_lost = False
    topic_ids = read_topic_ids(settings.kafka)
    if checkpoint.has_state():
        check_topic_ids(checkpoint.stored_topic_ids(), topic_ids)
        input_lost = check_input(settings.kafka, checkpoint, accept_lost=options.accept_lost_input)
    else:
        _log_lost_state(checkpoint, earlier_generations(settings.kafka))
    if checkpoint.has_state() and checkpoint.newest_plan() != checkpoint.newest_commit():
        log_suspects(settings.kafka, checkpoint)
    skips = check_skips(settings.kafka, checkpoint, options.skips)
    if stored is None:
        checkpoint.store_layout(current)
    checkpoint.store_topic_ids(topic_ids)
    publish_rules(settings, current.shards, wanted)
    control = control_ends(settings.kafka, current.shards)
    return Prepared(stored or current, control, input_lost, skips)


def _log_lost_state(checkpoint: Checkpoint, earlier: int) -> None:
    """Warn that an earlier engine had state and this checkpoint has none: the engine recovers."""
    if earlier > 0:
        log.warning(
            "the checkpoint holds no state, but an engine has run on these topics: recovering from "
            "the clients' claims",
            checkpoint=str(checkpoint.folder),
            generation=earlier,
        )


class Run:
    """The part of a run that has a session."""

    def __init__(
        self,
        settings: Settings,
        options: JobOptions,
        checkpoint: Checkpoint,
        prepared: Prepared,
        *,
        metrics: EngineMetrics,
        health: Health,
    ) -> None:
        self._settings = settings
        self._options = options
        self._checkpoint = checkpoint
        self._layout = prepared.layout
        self._prepared = prepared
        self._metrics = metrics
        self._health = health

    def run(self, spark: SparkSession, ending: Ending) -> None:
        """Claim, start everything, wait for the end, stop everything."""
        settings, layout = self._settings, self._layout
        # The claim carries this driver's settings; its generation is not known before.
        ran_under = settings_of(shard_context(self._plan(generation=0)))
        ends = self._ends_without_state()
        # Each appears once, in a first tick, so nobody can have copied it before.
        drawn = [secrets.token_hex(32) for _ in range(layout.shards)]
        seals = tuple(seal_of(secret) for secret in drawn)
        generation = claim_generation(settings.kafka, ran_under, seals)
        self._metrics.generation.set(generation)
        with contextlib.ExitStack() as stack:
            watch = GenerationWatch(settings.kafka, generation, ending.fail)
            _run_while_open(stack, watch.start, watch.stop)
            ticker = Ticker(
                settings.kafka, layout.shards, settings.engine.tick_ms, ending.fail_ticker
            )
            self._metrics.ticks.follow(lambda: ticker.counts)
            self._health.claimed(generation, lambda: ticker.appended_at)
            stack.callback(ticker.stop)
            marked_ms = ticker.start(generation, self._first_ticks(generation, drawn))
            begin = self._begin(generation, ends, marked_ms)
            self._skip(spark, generation)
            facts = ClusterFacts(layout.cluster_id, layout.shards, layout.assignments_partitions)
            guard = PartitionGuard(settings, facts, ending.fail, self._metrics.topics_wrong.set)
            _run_while_open(stack, guard.start, guard.stop)
            errors = PublishErrors(self._metrics.publish_errors, self._checkpoint.publish_errors)
            listener = ProgressListener(
                self._metrics,
                ending.note_query_end,
                lambda run: errors.update(spark, run),
                self._health.committed,
            )
            listener.register(spark)
            stack.callback(quietly, lambda: listener.unregister(spark))
            query = self._start(spark, self._plan(generation, begin, seals))
            log.info("engine runs", generation=generation, shards=layout.shards)
            # Runs before the listener and the JVM go.
            stack.callback(quietly, lambda: errors.update(spark, str(query.runId)))
            stalls = StallProbe(
                self._health,
                self._checkpoint,
                spark,
                lambda: errors.update(spark, str(query.runId)),
            )
            heap = HeapWatch(JvmHeap(spark).read, settings.engine)
            self._metrics.heap.follow(heap)
            self._health.pressure = lambda: heap.pressure
            self._wait_for_end(query, ending, ticker, Jvm(JvmProcess(spark), stalls, heap))

    def _start(
        self, spark: SparkSession, plan: QueryPlan, *, planned_only: bool = False
    ) -> StreamingQuery:
        """Start the query; an error of Spark's ends this run in order."""
        try:
            return start_query(spark, self._checkpoint, plan, planned_only=planned_only)
        except (PySparkException, Py4JError, OSError) as error:
            raise cause_of_end(str(error), self._checkpoint) from error

    def _skip(self, spark: SparkSession, generation: int) -> None:
        """Skip the records that the operator named; read what precedes them first.

        Raises:
            QueryDiedError: the batch before the record failed.
        """

        def run_planned_batch() -> None:
            query = self._start(spark, self._plan(generation), planned_only=True)
            try:
                query.awaitTermination()
            except PySparkException as error:
                raise cause_of_end(str(error), self._checkpoint, java_causes(query)) from error

        skip_records(
            self._settings.kafka, self._checkpoint, self._prepared.skips, run_planned_batch
        )

    def _wait_for_end(
        self, query: StreamingQuery, ending: Ending, ticker: Ticker, jvm: Jvm
    ) -> None:
        """Return after a requested stop; otherwise raise the error that ended the query."""
        try:
            while not ending.stop.wait(_LOOK_SECONDS) and query.isActive:
                jvm.check()
            if ending.is_asked_for or ending.error is not None:
                self._health.ended(ending.error)
            if ending.error is not None:
                # The new driver decides now, so interrupt the running batch.
                query.stop()
                raise ending.error
            if query.isActive:
                ticker.stop()
                stop_between_batches(query, self._checkpoint)
            failure = query.exception()
        except HeapExhaustedError:
            # An orderly stop would take minutes. The next driver runs the batch again.
            jvm.process.kill()
            raise
        except (Py4JError, ConnectionError, PySparkException) as error:
            if ending.is_asked_for:
                # The signal has stopped the JVM as well; the next driver runs the batch again.
                log.warning("the JVM ended before the query was stopped")
                return
            refusal = refusal_of(self._checkpoint)
            raise refusal or error_of_end(
                jvm.process.exit_code(), self._settings.engine, error
            ) from error
        if failure is not None:
            log.error("the query ended", exception=str(failure))
            causes = java_causes(query)
            cause: FairleadError = cause_of_end(str(failure), self._checkpoint, causes)
            if isinstance(cause, QueryDiedError):
                cause = heap_error(self._settings.engine, (str(failure), *causes)) or cause
            raise cause

    def _ends_without_state(self) -> Offsets | None:
        """Return where the log ends, if there is no state; None if there is state."""
        if self._checkpoint.has_state():
            return None
        self._checkpoint.forget_first_batch()
        return ends_before_claim(self._settings.kafka, self._layout.shards)

    def _first_ticks(self, generation: int, drawn: Sequence[str]) -> dict[int, Tick]:
        prepared = self._prepared
        return first_ticks(generation, prepared.control, drawn, input_lost=prepared.input_lost)

    def _begin(
        self, generation: int, ends: Offsets | None, marked_ms: Mapping[int, int]
    ) -> Begin | None:
        """Return where the query begins to read if the state was lost; None if it was not."""
        if ends is None or generation == 1:
            return None
        margin_ms = self._settings.group_defaults.margin_ms
        begin = begin_without_state(self._settings.kafka, ends, marked_ms, margin_ms)
        log.info("recovery reads from", begin=begin)
        return begin

    def _plan(
        self, generation: int, begin: Begin | None = None, seals: tuple[str, ...] = ()
    ) -> QueryPlan:
        options = {
            name: value
            for name, value in sink_options(self._settings.kafka, self._settings.engine).items()
            if name != "kafka.bootstrap.servers"
        }
        sink = self._options.sink or KafkaSink(self._settings.kafka.bootstrap, options)
        return QueryPlan(
            self._settings,
            self._layout,
            generation,
            self._options.strategies,
            sink,
            self._prepared.input_lost,
            begin,
            seals,
        )


def stop_between_batches(query: StreamingQuery, checkpoint: Checkpoint) -> None:
    """Stop the query when no batch runs, or after a time limit.

    Under load one batch follows the other, so the function waits for a commit: the next batch is
    then being planned and has mostly written nothing. If it has, the next start runs it again: the
    wait only makes that start quicker.
    """
    deadline = time.monotonic() + _BATCH_SECONDS_MAX
    running = checkpoint.newest_commit()
    while query.status["isTriggerActive"] and time.monotonic() < deadline:
        if checkpoint.newest_commit() != running:
            break
        time.sleep(0.002)
    query.stop()


def _layout(settings: Settings, facts: ClusterFacts) -> Layout:
    return Layout.of(
        facts.cluster_id,
        settings.kafka.topic_prefix,
        (facts.shards, facts.assignments_partitions),
        settings.engine.shuffle_partitions,
    )


def _run_while_open(
    stack: contextlib.ExitStack, start: Callable[[], None], stop: Callable[[], None]
) -> None:
    start()
    stack.callback(stop)
