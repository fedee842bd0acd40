"""The requests that wait for their reply: one at most for each session."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from fairlead.gateway.exchange import Exchange

__all__ = ["OpenExchanges"]

_NONE: Final[Mapping[str, Exchange]] = MappingProxyType({})


class OpenExchanges:
    """Exchanges by session, and by group."""

    def __init__(self) -> None:
        self._open: dict[str, Exchange] = {}
        self._by_group: dict[str, dict[str, Exchange]] = {}

    def get(self, session: str) -> Exchange | None:
        """Return the exchange of a session."""
        return self._open.get(session)

    def has(self, exchange: Exchange) -> bool:
        """Tell whether this exchange waits."""
        return self._open.get(exchange.session) is exchange

    def add(self, exchange: Exchange) -> None:
        """Note that an exchange waits; its session has no other one."""
        assert exchange.session not in self._open
        self._open[exchange.session] = exchange
        self._by_group.setdefault(exchange.group, {})[exchange.session] = exchange

    def remove(self, exchange: Exchange) -> None:
        """Note that an exchange waits no longer."""
        if self.has(exchange):
            del self._open[exchange.session]
            members = self._by_group[exchange.group]
            del members[exchange.session]
            if not members:
                del self._by_group[exchange.group]

    def of_group(self, group: str) -> Mapping[str, Exchange]:
        """Return the exchanges of a group, by session."""
        return self._by_group.get(group, _NONE)

    def everybody(self) -> Mapping[str, Exchange]:
        """Return all exchanges, by session."""
        return self._open
