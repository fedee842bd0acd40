"""Writes the dashboards of deploy/grafana: `python -m tools.dashboards`."""

import sys

from tools.dashboards.files import FOLDER, write

if __name__ == "__main__":
    for path in write(FOLDER):
        sys.stdout.write(f"{path}\n")
