"""The parent of Spark's Python workers: loads every worker's modules once, before it forks.

Spark starts it by its name (``spark.python.daemon.module``) in place of its own daemon.

ADR 0012 gives the reasons.
"""

import gc

import pyspark.daemon

import streaming.shards  # noqa: F401 - loaded for the workers

if __name__ == "__main__":
    # A worker collects garbage after each task and visits every object: 30 ms of a batch. The
    # objects loaded by now are no garbage.
    gc.freeze()
    pyspark.daemon.manager()
