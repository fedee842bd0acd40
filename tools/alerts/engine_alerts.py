"""Alerts about the engine itself, from its own metrics."""

from typing import Final

from tools.alerts.alert import ENGINE, Alert, Growth

PUBLISH_ERRORS: Final = Growth("fairlead_publish_errors_total", "15m", ENGINE, over=("reason",))
REJECTS: Final = Growth("fairlead_rejects_total", "15m", ENGINE)

ENGINE_GROWTHS: Final = (PUBLISH_ERRORS, REJECTS)

ENGINE_ALERTS: Final = (
    Alert(
        name="EngineDown",
        job=ENGINE,
        severity="page",
        expression='up{job="fairlead-engine"} == 0\nor absent(up{job="fairlead-engine"})',
        hold="2m",
        when="the engine's /metrics does not answer, or no engine is scraped at all",
        summary="The engine is down",
        description="Owners go on working on the queues that they have. Nobody who joins gets a"
        " queue, and the queues of clients that leave or die have nobody. See how it ended: its"
        " exit code and the end of its log.",
    ),
    Alert(
        name="EngineStalled",
        job=ENGINE,
        severity="page",
        # 0 before the first batch: an age of that would be the time since 1970.
        expression="time() - (fairlead_last_batch_timestamp_seconds > 0) > seconds(60s)\n"
        "or max_over_time(fairlead_last_batch_timestamp_seconds[2m]) == 0\n"
        "  and fairlead_last_batch_timestamp_seconds offset 2m",
        hold="1m",
        when="the engine answers, and has committed no batch for 60 seconds, or none in 2 minutes"
        " since its start",
        summary="The engine runs and decides nothing",
        description="It commits a batch at least at each tick, so something holds it up: most often"
        " a broker that does not answer. Nothing moves until it goes on. See its log, and"
        " fairlead doctor.",
    ),
    Alert(
        name="EngineRestarting",
        job=ENGINE,
        severity="page",
        # Where each start has an address of its own, an engine that is gone is one that ended.
        # Not the least and the greatest of a job: two Fairleads have generations far apart.
        expression="sum by (job) (max_over_time(fairlead_generation[15m])"
        " - min_over_time((fairlead_generation > 0)[15m:15s]))\n"
        "+ (count by (job) (max_over_time(fairlead_generation[15m]) unless on (job, instance) up)"
        " or 0 * sum by (job) (max_over_time(fairlead_generation[15m])))\n> 2",
        hold="0s",
        when="three or more generations were claimed within 15 minutes, also by engines at new"
        " addresses",
        summary="The engine starts again and again: {{ $value | humanize }} times in 15 minutes",
        description="Each start passes every group through a barrier, and between two starts"
        " nothing is decided. See why it ends: the end of its log before each start.",
    ),
    Alert(
        name="PublishFailing",
        job=ENGINE,
        severity="page",
        # More than a hiccup; and long enough to see a query that dies of it every ten minutes.
        expression=f"{PUBLISH_ERRORS.name} > 5",
        hold="1m",
        when="more than five writes of the engine failed within 15 minutes",
        summary="The engine cannot write what it decides",
        description="Decisions and assignments do not reach the topics, so clients are not told."
        " Look at the broker, at the topics' settings and at the engine's rights:"
        " fairlead doctor.",
    ),
    Alert(
        name="TicksLost",
        job=ENGINE,
        severity="page",
        expression='increase(fairlead_ticks_total{outcome="lost"}[2m]) > 0',
        hold="5m",
        when="ticks were lost, again and again for 5 minutes",
        summary="The engine's ticks are lost: the clock of the log stands still",
        description="No broker took them in five seconds. While the clock stands, nobody's lease"
        " ends: the queues of a client that dies stay with it.",
    ),
    Alert(
        name="RecoveringLong",
        job=ENGINE,
        severity="page",
        expression="fairlead_recovering_shards > 0",
        hold="5m",
        when="shards recover from a lost checkpoint, or groups of theirs, for 5 minutes",
        summary="{{ $value | humanize }} shards recover for too long: nothing of theirs moves",
        description="The recovery waits for every live client to say what it holds. One that"
        " heartbeats and does not acknowledge holds it up: the group has the alarm barrier_mute.",
    ),
    Alert(
        name="CheckpointDamaged",
        job=ENGINE,
        severity="ticket",
        expression="fairlead_damaged_checkpoints > 0",
        hold="0s",
        when="a damaged checkpoint was moved aside (--recover-damaged) and is still there",
        summary="{{ $value | humanize }} damaged checkpoints are kept beside the engine's",
        description="The engine has recovered without them. Something damaged them: most often the"
        " disk. With engine.damaged_kept of them the next damage stops the engine, so look at the"
        " disk, then delete them.",
    ),
    Alert(
        name="InputLagHigh",
        job=ENGINE,
        severity="ticket",
        expression="fairlead_input_lag_records > 10000",
        hold="5m",
        when="more than 10,000 records of an input topic are unread after each batch",
        summary="The engine is {{ $value | humanize }} records of {{ $labels.topic }} behind",
        description="Decisions come late. After a long stop this is how it catches up; else it has"
        " too little processor time, or somebody writes far too much.",
    ),
    Alert(
        name="BatchesSlow",
        job=ENGINE,
        severity="ticket",
        expression="histogram_quantile(0.95,"
        ' rate(fairlead_batch_duration_seconds_bucket{phase="total"}[10m])) > 5',
        hold="10m",
        when="one batch in twenty takes longer than 5 seconds",
        summary="Batches of the engine take {{ $value | humanize }} s (p95)",
        description="A join or a leave is decided one or two batches later, so it takes as long."
        " The phases of fairlead_batch_duration_seconds say where the time goes.",
    ),
    Alert(
        name="StateGrowing",
        job=ENGINE,
        severity="ticket",
        expression="sum without (operator)"
        " (predict_linear(fairlead_state_bytes[6h], seconds(1d))) > 500e6\n"
        'and on (job, instance) up{job="fairlead-engine"} offset 6h == 1',
        hold="1h",
        when="the state will take more than 500 MB in a day, by how it grew in the last 6 hours",
        summary="The engine's state will take {{ $value | humanize1024 }}B in a day",
        description="The heap has 1 GiB unless engine.java_heap says otherwise. Groups that come"
        " and never go are the usual cause.",
    ),
    Alert(
        name="RejectsRising",
        job=ENGINE,
        severity="ticket",
        expression=f'{REJECTS.name}{{reason!~"quota_.+"}} > 10',
        hold="0s",
        when="more than ten records were refused for one reason within 15 minutes",
        summary="{{ $value | humanize }} records were refused: {{ $labels.reason }}",
        description="What is refused has no effect: a client of another version, a bridge or a"
        " script writes what the protocol does not know. The rejects topic has each of them, with"
        " its remedy.",
    ),
    Alert(
        name="QuotaExceeded",
        job=ENGINE,
        severity="ticket",
        expression=f'{REJECTS.name}{{reason=~"quota_.+"}} > 0',
        hold="0s",
        when="a quota refused records within 15 minutes",
        summary="{{ $value | humanize }} records were refused: {{ $labels.reason }}",
        description="Somebody asks for more than there is for one: groups, members, topics, queues,"
        " records or state. What was there goes on; the surplus waits until it stops, or until the"
        " quota is raised.",
    ),
    Alert(
        name="ShardsFull",
        job=ENGINE,
        severity="ticket",
        expression="fairlead_full_shards > 0",
        hold="1m",
        when="for a minute as much was kept of all groups as may be",
        summary="{{ $value | humanize }} shards hold their share of groups.state_bytes",
        description="What was there goes on, and small groups still take a member; no new group is"
        " made, and no group adds a topic. Somebody fills the engine up, or the fleet has grown.",
    ),
    Alert(
        name="ClockJumped",
        job=ENGINE,
        severity="ticket",
        expression="round(increase(fairlead_clock_jumps_total[15m])) > 0",
        hold="0s",
        when="append times of the brokers jumped by more than two ticks within 15 minutes",
        summary="The log's clock jumped",
        description="Append times went ahead at once: a broker's clock was set, or for a while"
        " nobody wrote, as the brokers were away or the engine stood still. Leases are counted on"
        " append times, so one set ahead ends them early. Look at the brokers' time"
        " synchronisation.",
    ),
)
