"""Why ``[kafka]`` refuses an option of a Kafka library, and what to set instead."""

import re
from typing import Final, NamedTuple

from fairlead.settings.kafka_options import TRANSLATIONS

__all__ = ["Refusal", "refusal_of"]


class Refusal(NamedTuple):
    """The reason for a refusal, and what to do instead."""

    reason: str
    remedy: str


_SECURITY: Final = "use the keys of [kafka.security]"
_REFUSED: Final = (
    (
        r"sasl_jaas_config",
        "a login that names classes to load can run any code (CVE-2023-25194)",
        (
            "set kafka.security.sasl_mechanism, sasl_plain_username and sasl_plain_password_file; "
            "Fairlead makes the login from them"
        ),
    ),
    (
        r"sasl_oauth.*|sasl_login_.*|sasl_kerberos_.*",
        (
            "it makes the library fetch from addresses, or load classes, that the settings name "
            "(CVE-2025-27817), and Fairlead supports only PLAIN and SCRAM"
        ),
        "set kafka.security.sasl_mechanism to PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512",
    ),
    (
        (
            r".*(_class|_classes|_handler|_providers?|reporters?)|ssl_engine_factory.*"
            r"|config_providers.*|.*(de|)serializer|partitioner"
        ),
        "it names code that the library would load and run",
        _SECURITY,
    ),
    (
        r"ssl_(trust|key)store_.*|ssl_(trust|key)manager.*|ssl_context",
        "certificates and keys are PEM files, the same for Python and Java",
        "set kafka.security.ssl_cafile, ssl_certfile and ssl_keyfile",
    ),
    (
        r"password(_file)?",
        "it does not say which of the two passwords it is",
        "name the file in kafka.security.sasl_plain_password_file or ssl_key_password_file",
    ),
    (
        r"(proxy_url|socks5_proxy|socket_options|api_version|security_inter_broker.*)",
        "only one of the two libraries knows it",
        _SECURITY,
    ),
    (
        (
            r"acks|enable_.*|transactional_.*|max_in_flight_.*|isolation_level|auto_offset_reset"
            r"|group_(id|instance_id|protocol)|client_id|allow_auto_create.*|assign.*"
            r"|partition_assignment.*|compression_type|linger_ms|batch_size|retries"
            r"|delivery_timeout_ms|default_api_timeout_ms|max_block_ms|session_timeout_ms"
            r"|heartbeat_interval_ms|max_poll_.*|fetch_.*|auto_commit.*"
        ),
        "Fairlead sets it itself, because its promises depend on it",
        "leave it out",
    ),
)


def refusal_of(name: str) -> Refusal | None:
    """Return why ``[kafka]`` refuses this option of Java's or Python's; None: it is no option.

    If a setting covers the option under another name, the remedy names that setting.
    """
    plain = name.removeprefix("kafka.").replace(".", "_").replace("-", "_").lower()
    for translation in TRANSLATIONS:
        spelled = {each.replace(".", "_") for each in (*translation.library, *translation.java)}
        if plain in spelled and plain != "sasl_jaas_config" and "store" not in plain:
            reason = "Fairlead has a setting of its own for it"
            return Refusal(reason, f"set {translation.key}")
    for pattern, reason, remedy in _REFUSED:
        if re.fullmatch(pattern, plain):
            return Refusal(reason, remedy)
    return None
