"""The Prometheus that the tests run: found, or fetched once as Debian's package, without root."""

from tools.prometheus.programs import ensure_programs, find_program

__all__ = ["ensure_programs", "find_program"]
