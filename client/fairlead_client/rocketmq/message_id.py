"""The ids that producers give their messages (MessageClientIDSetter)."""

import os
import random
import struct
from datetime import datetime
from itertools import count
from typing import Final

__all__ = ["MessageIds"]

_UINT: Final = 0xFFFFFFFF
_USHORT: Final = 0xFFFF


class MessageIds:
    """Makes ids of 32 hexadecimal digits, unique in the cluster. Any thread may call it.

    RocketMQ's tools read the time of a message out of its id: the milliseconds since the month
    began. Instead of this machine's address and a class loader's hash it has eight random bytes.
    """

    def __init__(self) -> None:
        source = random.SystemRandom()
        process = os.getpid() & _USHORT
        self._head = struct.pack(
            ">IHI", source.randrange(_UINT), process, source.randrange(_UINT)
        ).hex()
        self._numbers = count(source.randrange(_USHORT))

    def next(self, born_ms: int) -> str:
        """Return the next id, for a message born at this time, in ms since 1970."""
        born = datetime.fromtimestamp(born_ms / 1_000)  # noqa: DTZ006 - the tools read local time
        month = born.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        since_ms = int((born - month).total_seconds() * 1_000) & _UINT
        return f"{self._head}{since_ms:08x}{next(self._numbers) & _USHORT:04x}".upper()
