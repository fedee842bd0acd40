"""The command of the Java consumers with a journal, which only a checkout has."""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Sequence

from fairlead.errors import EnvironmentMissingError

__all__ = ["consumer_command"]


def consumer_command(client: str) -> Sequence[str]:
    """Return the command of a consumer with RocketMQ's client; it is compiled first, if need be.

    Raises:
        EnvironmentMissingError: no checkout is here, or it cannot be compiled.
    """
    try:
        found = importlib.util.find_spec("tools.rocketmq_java") is not None
    except ModuleNotFoundError:
        found = False
    if not found:
        raise EnvironmentMissingError(
            "demo-rocketmq: the Java consumers are not here; only a checkout of Fairlead has them.",
            remedy="Run it in a checkout.",
        )
    builder = ["-m", "tools.rocketmq_java", "--command", "ConsumerProbe"]
    made = subprocess.run(
        [sys.executable, *builder, "--client", client],
        stdout=subprocess.PIPE,
        check=False,
    )
    if made.returncode != 0:
        raise EnvironmentMissingError(
            "demo-rocketmq: the Java consumers cannot be compiled; the reason stands above.",
            remedy="Check JDK 17 and the network with: fairlead doctor",
        )
    command: list[str] = json.loads(made.stdout)
    return command
