"""The log of the whole library: an application says where to, or nothing is written."""

import logging
from typing import Final

LIBRARY_LOG: Final = logging.getLogger("fairlead_client")
LIBRARY_LOG.addHandler(logging.NullHandler())
