"""Keeps credentials out of the logs of kafka-python.

At level DEBUG it logs every request, the one that authenticates too, and every byte sent. Once a
client with SASL credentials is made in the process, both are left out; other debug lines stay.
"""

import logging
from typing import Final

REDACTED: Final = "<redacted>"
LOGGERS: Final = ("kafka.net.connection", "kafka.protocol.parser")


class CredentialFilter(logging.Filter):
    """Replaces what may hold credentials in a record's arguments; lets every record pass."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Redact."""
        if isinstance(record.args, tuple):
            record.args = tuple(
                REDACTED if _may_hold_credentials(value) else value for value in record.args
            )
        return True


def _may_hold_credentials(value: object) -> bool:
    return isinstance(value, bytes | bytearray) or type(value).__name__.startswith("Sasl")


def redact_credentials() -> None:
    """Put the filter on the loggers that need it, once."""
    for name in LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(known, CredentialFilter) for known in logger.filters):
            logger.addFilter(CredentialFilter())
