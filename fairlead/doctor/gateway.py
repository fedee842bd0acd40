"""Checks what the gateway needs of this machine: its key, its times, and file descriptors."""

from collections.abc import Iterator

from fairlead.doctor.answer import Answer, fail, ok, unknown, warn
from fairlead.doctor.context import CheckContext
from fairlead.errors import EnvironmentMissingError
from fairlead.gateway.key_file import is_open_to_others, read_key
from fairlead.http.descriptors import descriptors_allowed, descriptors_needed
from fairlead.kafka.acls import Role
from fairlead.settings import Settings

__all__ = ["gateway"]


def gateway(context: CheckContext) -> Iterator[Answer]:
    """Check the key file, the times and the file descriptors of the gateway."""
    settings = context.settings
    if not settings.gateway.enabled:
        if context.role is Role.GATEWAY:
            yield fail(
                "gateway.enabled is false: `fairlead serve` has no gateway with these settings",
                "set gateway.enabled = true, or give the doctor the settings of the gateway",
            )
        else:
            yield unknown("gateway.enabled is false: there is no gateway with these settings")
        return
    yield _key(settings.gateway.key_file)
    yield _times(settings)
    yield _descriptors(settings)


def _key(file: str) -> Answer:
    if not file:
        return warn(
            "gateway.key_file is empty: each start makes a new key, so clients join again after "
            "every restart, and two gateways do not know each other's clients",
            "openssl rand -hex 32 > KEY; chmod 0400 KEY; set gateway.key_file to it at all "
            "gateways behind one address",
        )
    try:
        key = read_key(file)
        is_open = is_open_to_others(file)
    except EnvironmentMissingError as error:
        return fail(error.message, error.remedy)
    if is_open:
        return fail(
            f"other users may read or change {file}: whoever has the key can take part as any "
            "client",
            f"chmod 0400 {file}, and make a new key if others may have read it",
        )
    return ok(f"the key in {file} has {len(key)} bytes, and is closed to other users")


def _times(settings: Settings) -> Answer:
    times = settings.gateway
    polls = times.lease_ms / times.poll_ms
    # Settings with fewer than three are refused.
    says = f"{polls:.1f} polls fit into a lease of {times.lease_ms / 1_000:g} s"
    return ok(f"{says}: a client may lose {int(polls) - 1} in a row")


def _descriptors(settings: Settings) -> Answer:
    needed, allowed = descriptors_needed(settings), descriptors_allowed()
    says = f"gateway.sessions and http.connections need up to {needed:,} file descriptors"
    if allowed < needed:
        return fail(
            f"{says}, and this user may have {allowed:,}",
            "raise the hard limit (LimitNOFILE of the service, --ulimit nofile of the container), "
            "or lower gateway.sessions",
        )
    return ok(f"{says}; this user may have them")
