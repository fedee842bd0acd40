"""The whole job on real parts: broker, Spark, workers, topics."""

import urllib.request
from typing import TYPE_CHECKING

import pytest

from fairlead.settings import Settings
from tests.streaming.fleet import Fleet
from tests.streaming.log import Log, body_of
from tests.streaming.running import job

if TYPE_CHECKING:
    from kafka.consumer.fetcher import ConsumerRecord
    from pyspark.sql import SparkSession


def test_first_assignment(spark: "SparkSession", settings: Settings, log: Log) -> None:
    """A client that waits for the engine gets every queue, each at its bound's position."""
    with Fleet(settings.kafka) as fleet:
        fleet.join("c1")
        with job(spark, settings, log):
            record = log.await_record("assignments", lambda each: bool(body_of(each).get("add")))
    body = body_of(record)
    assert (body["group"], body["client_id"], body["generation"]) == ("orders", "c1", 1)
    assert [add["queue"] for add in body["add"]] == [["orders", "main", n] for n in range(4)]
    assert all(add["after"] == [] and add["why"] == "first_offset" for add in body["add"])
