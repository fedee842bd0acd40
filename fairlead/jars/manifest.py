"""What a set of jars consists of: coordinates, sizes and SHA-256 sums, from the TOML files here.

Each set has a folder of its own, because two of them hold different versions of kafka-clients,
which must never meet on one class path.
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
    "rocketmq-5",
    "kafka-assignors",
]
BROKER_SETS: Final[tuple[JarSetName, ...]] = ("broker", "broker-logging")
JAR_SET_NAMES: Final[tuple[JarSetName, ...]] = ("connector", *BROKER_SETS)
"""What a set-up fetches; the others are fetched by the tests and the benchmark that need them."""


@dataclass(frozen=True, slots=True)
class Jar:
    """One pinned jar.

    Attributes:
        organisation: the Maven group id.
        module: the Maven artifact id.
        revision: the version.
        sha256: of the file, in lower-case hexadecimal.
        bytes: the file's size.
    """

    organisation: str
    module: str
    revision: str
    sha256: str
    bytes: int

    @property
    def file_name(self) -> str:
        """The name of the file, as every repository names it."""
        return f"{self.module}-{self.revision}.jar"


@dataclass(frozen=True, slots=True)
class JarSet:
    """Jars that stand together in one folder, sorted by file name."""

    name: str
    jars: tuple[Jar, ...]

    @property
    def bytes(self) -> int:
        """The size of all files together."""
        return sum(jar.bytes for jar in self.jars)

    @property
    def listing_sha256(self) -> str:
        """One sum over all: the SHA-256 of what `LC_ALL=C sha256sum *.jar` prints in the folder."""
        listing = "".join(f"{jar.sha256}  {jar.file_name}\n" for jar in self.jars)
        return hashlib.sha256(listing.encode()).hexdigest()

    @property
    def folder_name(self) -> str:
        """The folder in the cache: another content is another folder."""
        return f"{self.name}-{self.listing_sha256[:12]}"


def load_jar_set(name: JarSetName) -> JarSet:
    """Read the manifest of one set."""
    text = resources.files("fairlead.jars").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    document = tomllib.loads(text)
    jars = (Jar(**row) for row in document["jars"])
    return JarSet(document["name"], tuple(sorted(jars, key=lambda jar: jar.file_name.encode())))
