"""What the JVM writes into the engine's log, by the layouts that it has there."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from streaming import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HIDDEN = "made-up by-nobody"
FORMS = Path(session.__file__).with_name("log4j2.properties")


def _line(spark: "SparkSession", form: str, text: str) -> str:
    """Return the line that a message becomes."""
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001 - PySpark has no other way to its JVM
    told = jvm.java.util.Properties()
    told.load(jvm.java.io.FileReader(str(FORMS)))
    pattern = told.getProperty(f"appender.{form}.layout.pattern")
    log4j = jvm.org.apache.logging.log4j.core
    layout = log4j.layout.PatternLayout.newBuilder().withPattern(pattern).build()
    message = jvm.org.apache.logging.log4j.message.SimpleMessage(text)
    event = log4j.impl.Log4jLogEvent.newBuilder().setLoggerName("a.Logger").setMessage(message)
    return str(
        layout.toSerializable(event.setLevel(jvm.org.apache.logging.log4j.Level.WARN).build())
    )


@pytest.mark.parametrize("form", ["console", "json"])
@pytest.mark.parametrize(
    "text",
    [
        f'sasl.jaas.config = login required username="u" password="{HIDDEN}";',
        f"ssl.keystore.password={HIDDEN.replace(' ', '-')}, ssl.protocol=TLS",
        f"""{{"oauth.client.secret": "{HIDDEN}", "group": "orders"}}""",
        f"--passphrase='{HIDDEN}' --port 1",
    ],
)
def test_a_secret_is_left_out_of_a_line_of_the_jvm(
    spark: "SparkSession", form: str, text: str
) -> None:
    """What stands behind the name of a secret is left out, and nothing behind it is."""
    line = _line(spark, form, text)
    assert "made-up" not in line
    assert "by-nobody" not in line
    assert "***" in line
    assert any(word in line for word in ("***;", "***, ssl.protocol=TLS", "orders", "--port 1"))


def test_no_text_steers_a_terminal(spark: "SparkSession") -> None:
    """Control characters are written as a question mark, or as JSON has them."""
    assert "gr?[31moup" in _line(spark, "console", "gr\x1b[31moup")
    body = orjson.loads(_line(spark, "json", "gr\x1b[31moup\n"))
    assert body["event"] == "gr\x1b[31moup\n"
    assert (body["level"], body["logger"]) == ("warning", "Logger")
