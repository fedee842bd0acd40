"""Rules for a Prometheus of others: names with a prefix, runbooks at absolute addresses.

Both are settings, alerts.name_prefix and alerts.runbook_base; the flags win over them.
"""

import argparse
import re
import sys
from pathlib import Path
from urllib.parse import urlsplit

from fairlead.errors import FairleadError
from fairlead.settings import load_settings
from tools.alerts.rules import rules_document
from tools.alerts.yaml_text import yaml_text

_PREFIX = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def main() -> None:
    """Write the rules file to the standard output."""
    parser = argparse.ArgumentParser(prog="python -m tools.alerts", description=__doc__)
    parser.add_argument("--name-prefix", type=_prefix, help="such as Fairlead")
    parser.add_argument(
        "--runbook-base", type=_base, help="the address of the folder with the runbooks"
    )
    parser.add_argument("--profile", help="a profile of conf/")
    parser.add_argument(
        "--config", type=Path, action="append", default=[], help="a file of settings; may repeat"
    )
    given = parser.parse_args()
    flags = {"name_prefix": given.name_prefix, "runbook_base": given.runbook_base}
    try:
        alerts = load_settings(
            profile=given.profile,
            files=given.config,
            overrides={f"alerts.{name}": value for name, value in flags.items()},
        ).alerts
    except FairleadError as error:
        parser.error(f"{error.message} {error.remedy}")
    base = f"{alerts.runbook_base.rstrip('/')}/" if alerts.runbook_base else ""
    document = rules_document(name_prefix=alerts.name_prefix, runbook_base=base)
    sys.stdout.write(yaml_text(document, "Written by `make alert-rules`; see docs/alerts.md."))


def _prefix(text: str) -> str:
    if not _PREFIX.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r}: letters, digits and _, a letter first")
    return text


def _base(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise argparse.ArgumentTypeError(f"{text!r} is no address such as https://host/runbooks/")
    return text


if __name__ == "__main__":
    main()
