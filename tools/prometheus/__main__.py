"""Have prometheus and promtool for the tests of the alerts: Debian's package, without root.

PROMETHEUS and PROMTOOL name programs of one's own. Else they are taken from the cache, from the
PATH, or once with apt-get, from wherever this machine's apt gets its packages.
"""

import sys

from fairlead.errors import FairleadError
from tools.prometheus.programs import ensure_programs


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def main() -> int:
    """Fetch both, if need be, and say where they are."""
    try:
        programs = ensure_programs(_say)
    except FairleadError as error:
        sys.stderr.write("error: " + "\n".join(error.lines()) + "\n")
        return error.exit_code
    sys.stdout.writelines(f"{name}: {path}\n" for name, path in programs.items())
    return 0


if __name__ == "__main__":
    sys.exit(main())
