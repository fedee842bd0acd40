"""The Spark job: source, shards, driver."""
