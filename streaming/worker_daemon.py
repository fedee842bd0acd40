"""The parent of Spark's Python workers: it loads what every worker needs, once, before it forks.

Spark starts it by its name (``spark.python.daemon.module``) and speaks to it as to its own.

ADR 0012 gives the reasons.
"""

import gc

import pyspark.daemon

import streaming.shards  # noqa: F401 - loaded for the workers

if __name__ == "__main__":
    # A worker collects garbage after each task, by looking at all that was ever loaded: 30 ms of a
    # batch. What is loaded now is no garbage.
    gc.freeze()
    pyspark.daemon.manager()
