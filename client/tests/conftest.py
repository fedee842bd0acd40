"""The real broker of the engine's tests serves the client's tests too."""

pytest_plugins = ["tests.fixtures.kafka", "tests.fixtures.rocketmq"]
