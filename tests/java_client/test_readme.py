"""The page of the Java client: its example compiles, and its settings are the client's."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.kit.awaiting import SECONDS
from tools.java_client import ROOT, JavaClient

PAGE = (ROOT / "clients" / "java" / "README.md").read_text(encoding="utf-8")
SOURCES = ROOT / "clients" / "java" / "src" / "main" / "java" / "io" / "fairlead" / "client"
AROUND = """
import io.fairlead.client.*;
import io.fairlead.client.kafka.*;
import java.nio.file.Paths;
import java.time.Duration;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;

class Example {{
  static volatile boolean running;

  static void handle(ConsumerRecord<String, String> record) {{}}

  static void run() {{
    {statements}
  }}
}}
"""


@pytest.mark.java
def test_the_example_compiles(java_client: JavaClient, tmp_path: Path) -> None:
    """Whoever copies the ten lines gets a program."""
    (statements,) = re.findall(r"```java\n(.*?)```", PAGE, re.DOTALL)
    file = tmp_path / "Example.java"
    file.write_text(AROUND.format(statements=statements), encoding="utf-8")
    path = os.pathsep.join(map(str, (java_client.jar, *java_client.kafka)))
    command = [str(java_client.java), "-m", "jdk.compiler/com.sun.tools.javac.Main"]
    done = subprocess.run(
        [
            *command,
            "--release",
            "8",
            "-Xlint:-options",
            "-cp",
            path,
            "-d",
            str(tmp_path),
            str(file),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "heading, file", [("The member", "MemberSettings"), ("The Kafka", "kafka/ConsumerSettings")]
)
def test_every_setting_is_on_the_page(heading: str, file: str) -> None:
    """The tables name each method of the builders, and no other."""
    source = (SOURCES / f"{file}.java").read_text(encoding="utf-8")
    methods = set(re.findall(r"public (?:Builder|ConsumerSettings<K, V>) (\w+)\(", source))
    section = PAGE.partition(f"## {heading}")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    assert set(re.findall(r"`(\w+)\(", " ".join(rows))) == methods
