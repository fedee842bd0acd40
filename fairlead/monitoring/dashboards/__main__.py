"""Writes the dashboards of deploy/grafana: `python -m fairlead.monitoring.dashboards`."""

import sys

from fairlead.monitoring.dashboards.files import FOLDER, write

if __name__ == "__main__":
    for path in write(FOLDER):
        sys.stdout.write(f"{path}\n")
