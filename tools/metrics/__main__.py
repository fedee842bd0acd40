"""Writes docs/metrics.md anew; with --record from a run that it makes: broker, engine and all."""

import sys

from tools.metrics.page import PAGE, filled
from tools.metrics.recording import record
from tools.metrics.samples import RECORDED, samples_text

if __name__ == "__main__":
    if sys.argv[1:] == ["--record"]:
        RECORDED.write_text(samples_text(record()), encoding="utf-8")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
