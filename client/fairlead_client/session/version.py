"""Which version of this library is installed."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("fairlead-client")
except PackageNotFoundError:
    # Used from a folder that was put on the path, as in a zip for a cluster.
    __version__ = "0+unknown"
