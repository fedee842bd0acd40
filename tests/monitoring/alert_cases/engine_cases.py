"""When the alerts about the engine fire, and when they do not."""

from tests.monitoring.alert_cases.case import Case, Check, Firing, engine, of_engine

UP = engine("up")
BATCH = engine("fairlead_last_batch_timestamp_seconds")
GENERATION = engine("fairlead_generation")
LOST = engine("fairlead_ticks_total", outcome="lost")
PUBLISH = engine("fairlead_publish_errors_total", reason="KafkaTimeoutError")
REJECTS = engine("fairlead_rejects_total", reason="unknown_kind")


def _bucket(upper: str) -> str:
    return engine("fairlead_batch_duration_seconds_bucket", phase="total", le=upper)


LIVENESS = (
    Case(
        "the engine is killed: EngineDown, and not EngineStalled, as there is nothing to read",
        {UP: "1x7 0x40", BATCH: "0+15x7 stale"},
        [
            Check("3m45s", "EngineDown"),
            Check("4m", "EngineDown", [of_engine()]),
            Check("8m", "EngineStalled"),
        ],
    ),
    Case(
        "no engine is scraped at all",
        {engine("up").replace("engine", "serve"): "1x40"},
        [
            Check("1m45s", "EngineDown"),
            Check("2m", "EngineDown", [Firing({"job": "fairlead-engine"})]),
        ],
    ),
    Case(
        "an engine that is well",
        {UP: "1x200", BATCH: "0+15x200", GENERATION: "7x200", LOST: "0x200"},
        [
            Check("45m", alert)
            for alert in ("EngineDown", "EngineStalled", "EngineRestarting", "TicksLost")
        ],
    ),
    Case(
        "batches end, the process stays",
        {UP: "1x40", BATCH: "0+15x8 120x40"},
        [Check("4m", "EngineStalled"), Check("4m15s", "EngineStalled", [of_engine()])],
    ),
    Case(
        "a start that never commits a batch",
        {UP: "1x40", BATCH: "0x40"},
        [Check("2m45s", "EngineStalled"), Check("3m", "EngineStalled", [of_engine()])],
    ),
    Case(
        "ordinary starts, one of them long: no batch yet is no batch of 1970",
        {
            UP: "1x60",
            BATCH: "_x20 0x7 420+15x30",
            BATCH.replace("e:1", "e:2"): "0+15x20 stale 0x4 390+15x30",
        },
        [Check(at, "EngineStalled") for at in ("6m15s", "6m30s", "6m45s", "7m", "8m")],
    ),
    Case(
        "three starts within 15 minutes; then it stays up",
        {UP: "1x120", GENERATION: "3x10 0x1 4x4 0x2 5x4 0x1 6x90"},
        [
            Check("6m45s", "EngineRestarting"),
            Check("7m", "EngineRestarting", [Firing({"job": "fairlead-engine"}, "3")]),
            Check("20m", "EngineRestarting"),
        ],
    ),
    Case(
        "each start has an address of its own",
        {
            UP: "1x8 stale",
            GENERATION: "1x8 stale",
            UP.replace("e:1", "e:2"): "_x9 1x8 stale",
            GENERATION.replace("e:1", "e:2"): "_x9 2x8 stale",
            UP.replace("e:1", "e:3"): "_x18 1x8 stale",
            GENERATION.replace("e:1", "e:3"): "_x18 3x8 stale",
            UP.replace("e:1", "e:4"): "_x27 1x200",
            GENERATION.replace("e:1", "e:4"): "_x27 4x200",
        },
        [
            Check("6m30s", "EngineRestarting"),
            Check("7m", "EngineRestarting", [Firing({"job": "fairlead-engine"}, "3")]),
            Check("25m", "EngineRestarting"),
        ],
    ),
    Case(
        "two Fairleads of different age, seen for the first time; one moves to another address",
        {
            UP: "1x200",
            GENERATION: "3x200",
            UP.replace("e:1", "e:2"): "1x20 stale",
            GENERATION.replace("e:1", "e:2"): "90x20 stale",
            UP.replace("e:1", "e:3"): "_x22 1x100",
            GENERATION.replace("e:1", "e:3"): "_x22 0x2 91x100",
        },
        [Check(at, "EngineRestarting") for at in ("1m", "5m30s", "7m", "15m")],
    ),
    Case(
        "one start, and one that took over",
        {UP: "1x120", GENERATION: "3x20 0x2 4x20 6x60"},
        [Check("8m", "EngineRestarting")],
    ),
)

WRITING = (
    Case(
        "errors from the first one on: the series is born with it",
        {UP: "1x80", PUBLISH: "_x21 1+1x60"},
        [Check("7m", "PublishFailing"), Check("8m30s", "PublishFailing", [of_engine()])],
    ),
    Case(
        "one error, and the next attempt went well",
        {UP: "1x80", PUBLISH: "_x21 1x60"},
        [Check(at, "PublishFailing") for at in ("5m15s", "8m30s", "9m")],
    ),
    Case(
        "errors go on over a restart of the engine",
        {UP: "1x40 0x1 1x60", PUBLISH: "0+1x40 stale 1+1x60"},
        [Check("12m", "PublishFailing", [of_engine()])],
    ),
    Case(
        "a query that dies every ten minutes, after eight tries each time",
        {UP: "1x200", PUBLISH: "0x20 8x40 16x40 24x90"},
        [
            Check("6m", "PublishFailing"),
            *(Check(at, "PublishFailing", [of_engine()]) for at in ("7m", "15m", "26m", "36m")),
            Check("42m", "PublishFailing"),
        ],
    ),
    Case(
        "errors of last week, which a new Prometheus sees for the first time",
        {UP: "1x80", PUBLISH: "500x80"},
        [Check("5m", "PublishFailing"), Check("15m", "PublishFailing")],
    ),
    Case(
        "ticks are lost for minutes, and once",
        {
            UP: "1x80",
            LOST: "0x20 1+1x60",
            LOST.replace("e:1", "e:2"): "0x20 1x60",
        },
        [
            Check("10m", "TicksLost"),
            Check("10m30s", "TicksLost", [of_engine(outcome="lost")]),
        ],
    ),
)

LOAD = (
    Case(
        "a recovery that does not end, and one that does",
        {
            engine("fairlead_recovering_shards"): "2x60",
            engine("fairlead_recovering_shards").replace("e:1", "e:2"): "2x10 0x60",
        },
        [Check("4m45s", "RecoveringLong"), Check("5m", "RecoveringLong", [of_engine("2")])],
    ),
    Case(
        "a damaged checkpoint is kept, until somebody deletes it and the engine starts again",
        {engine("fairlead_damaged_checkpoints"): "0x8 1x20 0x20"},
        [
            Check("1m", "CheckpointDamaged"),
            Check("4m", "CheckpointDamaged", [of_engine("1")]),
            Check("9m", "CheckpointDamaged"),
        ],
    ),
    Case(
        "one topic is far behind, another a little",
        {
            engine("fairlead_input_lag_records", topic="fairlead.heartbeats"): "25000x60",
            engine("fairlead_input_lag_records", topic="fairlead.releases"): "900x60",
        },
        [
            Check("4m45s", "InputLagHigh"),
            Check("5m", "InputLagHigh", [of_engine("25k", topic="fairlead.heartbeats")]),
        ],
    ),
    Case(
        "batches of 5 to 10 seconds",
        {_bucket("5.0"): "0x100", _bucket("10.0"): "0+1x100", _bucket("+Inf"): "0+1x100"},
        [
            Check("10m", "BatchesSlow"),
            Check("11m", "BatchesSlow", [of_engine("9.75", phase="total")]),
        ],
    ),
    Case(
        "batches of less than half a second",
        {_bucket("0.5"): "0+9x100", _bucket("5.0"): "0+9x100", _bucket("+Inf"): "0+9x100"},
        [Check("20m", "BatchesSlow")],
    ),
)

INPUT = (
    Case(
        "fifteen refused at once: the series is born with them",
        {UP: "1x200", REJECTS: "_x81 15x100"},
        [
            Check("20m", "RejectsRising"),
            Check("20m15s", "RejectsRising", [of_engine("15", reason="unknown_kind")]),
            Check("36m", "RejectsRising"),
        ],
    ),
    Case(
        "a few refused, and many of last week that a new Prometheus sees for the first time",
        {
            UP: "1x200",
            REJECTS: "_x81 3x100",
            REJECTS.replace("unknown_kind", "wrong_partition"): "500x200",
        },
        [Check(at, "RejectsRising") for at in ("1m", "15m", "20m15s", "40m")],
    ),
    Case(
        "many refused after a restart of the engine",
        {UP: "1x100 0x4 1x100", REJECTS: "0+1x100 stale _x3 1+1x100"},
        [Check("36m", "RejectsRising", [of_engine("56", reason="unknown_kind")])],
    ),
    Case(
        "a client invents groups",
        {UP: "1x200", REJECTS.replace("unknown_kind", "quota_new_groups"): "_x81 1500x100"},
        [
            Check("20m", "QuotaExceeded"),
            Check("20m15s", "QuotaExceeded", [of_engine("1.5k", reason="quota_new_groups")]),
            Check("20m15s", "RejectsRising"),
            Check("36m", "QuotaExceeded"),
        ],
    ),
    Case(
        "a shard is full, and has room again",
        {engine("fairlead_full_shards"): "0x4 1x20 0x20"},
        [
            Check("1m45s", "ShardsFull"),
            Check("3m", "ShardsFull", [of_engine("1")]),
            Check("7m", "ShardsFull"),
        ],
    ),
    Case(
        "a clock jumps once",
        {engine("fairlead_clock_jumps_total"): "0x80 1x100"},
        [
            Check("20m", "ClockJumped"),
            Check("20m15s", "ClockJumped", [of_engine()]),
            Check("36m", "ClockJumped"),
        ],
    ),
)

ENGINE_CASES = (*LIVENESS, *WRITING, *LOAD, *INPUT)
