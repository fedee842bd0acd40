"""Compiles the auto-configuration that attaches the consumers of RocketMQ's Spring Boot starter.

``python -m tools.rocketmq_spring`` prints where its jar is. It needs the jars of
`tools.rocketmq_java` beside it.
"""

import hashlib
import sys
from dataclasses import replace
from typing import Final

from fairlead import __version__
from fairlead.errors import FairleadError
from fairlead.jars import ensure_jars, load_jar_set
from fairlead.jars.lock import locked
from tools.java_client import ROOT
from tools.rocketmq_java import BUILD, RocketMQJava, build_jar, built_rocketmq_java

__all__ = ["built_rocketmq_spring"]

SOURCES: Final = ROOT / "clients" / "rocketmq-spring" / "src"
_PACKAGE: Final = "io.fairlead.rocketmq.spring"


def built_rocketmq_spring() -> RocketMQJava:
    """Return the jar, and build it first if need be.

    Raises:
        EnvironmentMissingError: no JDK, no jars and no network, or sources that do not compile.
    """
    client = built_rocketmq_java("rocketmq-5")
    spring = map(str, sorted(ensure_jars("rocketmq-spring").glob("*.jar")))
    beside = (str(client.jar), *client.beside, *spring)
    digest = hashlib.sha256(f"{client.jar}{load_jar_set('rocketmq-spring').folder_name}".encode())
    paths = {part: sorted((SOURCES / part / "java").rglob("*.java")) for part in ("main", "test")}
    resources = SOURCES / "main" / "resources"
    files = sorted(path for path in resources.rglob("*") if path.is_file())
    for path in (*paths["main"], *paths["test"], *files):
        digest.update(path.name.encode() + path.read_bytes())
    folder = BUILD / f"spring-{digest.hexdigest()[:12]}"
    jar = folder / f"fairlead-rocketmq-spring-{__version__}.jar"
    if not folder.is_dir():
        with locked(BUILD / ".spring.lock", lambda: None):
            if not folder.is_dir():
                build_jar(paths, beside, folder, jar.name, resources)
    return replace(client, jar=jar, tests=folder / "tests", beside=beside, package=_PACKAGE)


def main() -> int:
    """Build, and say where the jar is."""
    try:
        built = built_rocketmq_spring()
    except FairleadError as error:
        sys.stderr.write("error: " + "\n".join(error.lines()) + "\n")
        return error.exit_code
    sys.stdout.write(f"{built.jar.relative_to(ROOT)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
