"""`fairlead proof conform` where the client's library is not installed."""

import json
import subprocess
import sys

from fairlead.errors import ExitCode

PROGRAM = """
import sys
sys.modules["fairlead_client"] = None
from fairlead.cli.main import main
main(["proof", "conform"])
"""


def test_kinds_of_the_client() -> None:
    """What the engine answers is answered; a kind of the client's ends the run with the remedy."""
    sort = {"id": 1, "kind": "sort_clients", "clients": ["b", "a"]}
    route = {"id": 2, "kind": "route_changed", "old": None, "new": {}}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input="".join(f"{json.dumps(case)}\n" for case in (sort, route)) + "{1:2}\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"id": 1, "result": ["a", "b"]}
    ]
    assert done.returncode == ExitCode.ENVIRONMENT, done.stderr
    assert "fairlead-client" in done.stderr
