"""File descriptors: each connection takes one, and the system allows a process only so many."""

import resource
from typing import Final

from fairlead.settings import Settings

__all__ = ["descriptors_allowed", "descriptors_needed", "raise_descriptor_limit"]

_OWN: Final = 128
"""Descriptors of the process itself: its log, jars and files, and connections to brokers."""


def descriptors_needed(settings: Settings) -> int:
    """Return how many descriptors ``fairlead serve`` may need with these settings."""
    gateway = settings.gateway
    sessions = gateway.sessions if gateway.enabled else 0
    return settings.http.connections + sessions + _OWN


def descriptors_allowed() -> int:
    """Return how many descriptors a process of this user may have, at most."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return 2**62 if hard == resource.RLIM_INFINITY else hard


def raise_descriptor_limit(needed: int) -> int:
    """Raise this process's own limit as far as needed; return what it may have now.

    Any user may raise the soft limit up to the hard one.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(needed, descriptors_allowed())
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return 2**62 if soft == resource.RLIM_INFINITY else soft
