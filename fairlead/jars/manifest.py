"""The content of a set of jars: coordinates, sizes and SHA-256 sums, from the TOML files here.

Each set has its own folder, because two of them hold different versions of kafka-clients, which
must never be on the same class path.
"""

import hashlib
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Final, Literal

JarSetName = Literal[
    "connector",
    "broker",
    "broker-logging",
    "rocketmq",
    "rocketmq-4.7",
    "rocketmq-4.9.4",
    "rocketmq-5",
    "rocketmq-5.1",
    "rocketmq-5.5",
    "rocketmq-spring",
    "rocketmq-server-4",
    "rocketmq-server-5",
    "kafka-assignors",
]
BROKER_SETS: Final[tuple[JarSetName, ...]] = ("broker", "broker-logging")
ROCKETMQ_SERVER_SETS: Final[dict[str, JarSetName]] = {
    "4.9.7": "rocketmq-server-4",
    "5.3.3": "rocketmq-server-5",
}
"""The servers of each version; `fairlead rocketmq start` fetches them."""
JAR_SET_NAMES: Final[tuple[JarSetName, ...]] = ("connector", *BROKER_SETS)
"""The sets that `fairlead setup` fetches; tests and benchmarks fetch the others themselves."""


@dataclass(frozen=True, slots=True)
class Jar:
    """One pinned jar.

    Attributes:
        organisation: the Maven group id.
        module: the Maven artifact id.
        revision: the version.
        sha256: the file's SHA-256, in lower-case hexadecimal.
        bytes: the file's size.
    """

    organisation: str
    module: str
    revision: str
    sha256: str
    bytes: int

    @property
    def file_name(self) -> str:
        """The file's name in every repository."""
        return f"{self.module}-{self.revision}.jar"


@dataclass(frozen=True, slots=True)
class JarSet:
    """Jars of one folder, sorted by file name."""

    name: str
    jars: tuple[Jar, ...]

    @property
    def bytes(self) -> int:
        """The total size of all files."""
        return sum(jar.bytes for jar in self.jars)

    @property
    def listing_sha256(self) -> str:
        """The SHA-256 of the output of `LC_ALL=C sha256sum *.jar` in the folder."""
        listing = "".join(f"{jar.sha256}  {jar.file_name}\n" for jar in self.jars)
        return hashlib.sha256(listing.encode()).hexdigest()

    @property
    def folder_name(self) -> str:
        """The folder's name in the cache; another content has another name."""
        return f"{self.name}-{self.listing_sha256[:12]}"


def load_jar_set(name: JarSetName) -> JarSet:
    """Read the manifest of one set."""
    text = resources.files("fairlead.jars").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    document = tomllib.loads(text)
    jars = (Jar(**row) for row in document["jars"])
    return JarSet(document["name"], tuple(sorted(jars, key=lambda jar: jar.file_name.encode())))
