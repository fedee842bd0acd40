"""Rules for a Prometheus of others: names with a prefix, runbooks at absolute addresses."""

import argparse
import re
import sys
from urllib.parse import urlsplit

from fairlead.monitoring.alerts.rules import rules_document
from fairlead.monitoring.alerts.yaml_text import yaml_text

_PREFIX = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def main() -> None:
    """Write the rules file to the standard output."""
    parser = argparse.ArgumentParser(
        prog="python -m fairlead.monitoring.alerts", description=__doc__
    )
    parser.add_argument("--name-prefix", type=_prefix, default="", help="such as Fairlead")
    parser.add_argument(
        "--runbook-base",
        type=_base,
        default="",
        help="the address of the folder with the runbooks",
    )
    given = parser.parse_args()
    document = rules_document(name_prefix=given.name_prefix, runbook_base=given.runbook_base)
    sys.stdout.write(yaml_text(document, "Written by `make alert-rules`; see docs/alerts.md."))


def _prefix(text: str) -> str:
    if not _PREFIX.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r}: letters, digits and _, a letter first")
    return text


def _base(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise argparse.ArgumentTypeError(f"{text!r} is no address such as https://host/runbooks/")
    return f"{text.rstrip('/')}/"


if __name__ == "__main__":
    main()
