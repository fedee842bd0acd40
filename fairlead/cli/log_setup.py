"""Sets up the log of a command from its settings."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairlead.settings import KafkaSettings, Settings

__all__ = ["secrets_of", "set_up_log"]


def set_up_log(settings: "Settings") -> None:
    """Log to the standard error, in the form of the settings and without their secrets."""
    from fairlead.logs import configure_logs

    configure_logs(settings.log.form, secrets=secrets_of(settings.kafka))


def secrets_of(kafka: "KafkaSettings") -> list[str]:
    """Return every secret of the settings; an unreadable one fails when it is used."""
    from contextlib import suppress

    from fairlead.errors import UsageError

    secrets = []
    for look_up in (kafka.security.password, kafka.security.key_password):
        with suppress(UsageError):
            secret = look_up()
            if secret is not None:
                secrets.append(secret.get_secret_value())
    return secrets
