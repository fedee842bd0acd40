"""The installed version of this library."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("fairlead-client")
except PackageNotFoundError:
    # The library is used from a folder on the path, such as a zip for a cluster.
    __version__ = "0+unknown"
