"""The sets of jars that only tests need, fetched side by side.

A repository is asked for each jar in its turn: of the largest set that takes a minute and a half,
in which hardly anything is computed. `python -m tests.jar_sets` brings them beside the checks;
where it was not run, each test waits for its own set.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from fairlead.errors import EnvironmentMissingError
from fairlead.jars import ensure_jars
from fairlead.jars.manifest import JarSetName

_SETS: Final[tuple[JarSetName, ...]] = (
    "rocketmq-server-5",
    "rocketmq-server-4",
    "kafka-assignors",
    "rocketmq-5",
    "rocketmq",
    "rocketmq-4.7",
)
"""Those of `make test`; the slow tests fetch what else they need."""


def main() -> int:
    """Bring them; return 1 if one cannot be had."""
    with ThreadPoolExecutor(len(_SETS)) as threads:
        fetched = {name: threads.submit(ensure_jars, name) for name in _SETS}
    failed = False
    for name, folder in fetched.items():
        try:
            print(f"{name}: {folder.result()}")  # noqa: T201 - the answer
        except EnvironmentMissingError as error:
            print(f"{error} {error.remedy}", file=sys.stderr)  # noqa: T201 - the answer
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
