"""The parent of Spark's Python workers: it loads what every worker needs, once, before it forks.

Spark starts it by its name (``spark.python.daemon.module``) and speaks to it as to its own.
"""

import pyspark.daemon

import streaming.shards  # noqa: F401 - loaded for the workers

if __name__ == "__main__":
    pyspark.daemon.manager()
