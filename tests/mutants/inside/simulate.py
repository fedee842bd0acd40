"""Runs in a copy of the source: schedule after schedule, until one breaks a promise."""

import json
import sys
from typing import Any

from fairlead_proof.sim.schedule import run_schedule


def simulated(schedules: int) -> dict[str, Any]:
    """Return the first breach, and after how many schedules it came."""
    for number in range(1, schedules + 1):
        outcome = run_schedule(number)
        if outcome.breach is not None:
            rule, detail = outcome.breach
            last = detail.strip().splitlines()[-1]
            return {"schedules": number, "violation": f"{rule}: {last}"}
    return {"schedules": schedules}


if __name__ == "__main__":
    print(json.dumps(simulated(int(sys.argv[1]))))  # noqa: T201 - the answer
