"""How a command connects to RocketMQ: its login from a file or the environment, and encryption."""

from pathlib import Path

import pytest

from fairlead.cli.rocketmq_options import RocketMQOptions
from fairlead.errors import UsageError


@pytest.fixture
def login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file as RocketMQ's conf/tools.yml, and no login in the environment."""
    for name in ("ACCESS_KEY", "SECRET_KEY", "SECURITY_TOKEN"):
        monkeypatch.delenv(f"ROCKETMQ_{name}", raising=False)
    path = tmp_path / "tools.yml"
    path.write_text("# for mqadmin\naccessKey: 'fairlead'\nsecretKey: from-the-file\n")
    return path


def test_the_login_of_a_file(login: Path) -> None:
    """It is read as mqadmin reads it; nobody prints the secret."""
    credentials = RocketMQOptions("mq:9876", acl_file=login).connection().credentials
    assert credentials is not None
    assert (credentials.access_key, credentials.secret_key) == ("fairlead", "from-the-file")
    assert "from-the-file" not in repr(credentials)
    assert RocketMQOptions("mq:9876").connection().credentials is None


def test_the_environment_goes_before_the_file(login: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So a container's secret needs no file."""
    monkeypatch.setenv("ROCKETMQ_SECRET_KEY", "from-outside")
    monkeypatch.setenv("ROCKETMQ_SECURITY_TOKEN", "of-a-session")
    credentials = RocketMQOptions("mq:9876", acl_file=login).connection().credentials
    assert credentials is not None
    assert (credentials.secret_key, credentials.security_token) == ("from-outside", "of-a-session")


def test_encryption() -> None:
    """An authority implies it; the host name is checked unless somebody says otherwise."""
    assert RocketMQOptions("mq:9876").connection().tls is None
    checked = RocketMQOptions("mq:9876", tls=True).connection().tls
    assert checked is not None
    assert checked.check_hostname
    unchecked = RocketMQOptions("mq:9876", tls=True, tls_any_host=True).connection().tls
    assert unchecked is not None
    assert not unchecked.check_hostname


def test_what_cannot_work_is_named(login: Path, tmp_path: Path) -> None:
    """Each refusal names the option or the field."""
    half = tmp_path / "half.yml"
    half.write_text("accessKey: fairlead\n")
    for options, words in (
        (RocketMQOptions("mq"), "'mq' is not a valid name server"),
        (RocketMQOptions("mq:9876", acl_file=half), "secret_key"),
        (RocketMQOptions("mq:9876", acl_file=tmp_path / "none.yml"), "none.yml is unreadable"),
        (RocketMQOptions("mq:9876", tls_ca=login), "tls_ca_file"),
    ):
        with pytest.raises(UsageError, match=words):
            options.connection()
