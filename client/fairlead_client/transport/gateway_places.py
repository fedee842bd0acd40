"""The addresses of gateways: the one that answered last comes first."""

from collections.abc import Sequence

from fairlead_client.settings.gateway_settings import GatewayAddress

__all__ = ["GatewayPlaces"]


class GatewayPlaces:
    """Chooses among the addresses; any thread may use it.

    Args:
        addresses: all of them, in the order of the settings.
    """

    def __init__(self, addresses: Sequence[GatewayAddress]) -> None:
        self.all = tuple(addresses)
        self._first = 0

    def in_turn(self) -> list[GatewayAddress]:
        """Return all addresses, the best one first."""
        first = self._first
        return [*self.all[first:], *self.all[:first]]

    def stay(self, address: GatewayAddress) -> None:
        """Note that an address answers."""
        self._first = self.all.index(address)

    def leave(self, address: GatewayAddress) -> None:
        """Note that an address does not answer: the next request goes to the one behind it."""
        if self.all[self._first] == address:
            self._first = (self._first + 1) % len(self.all)
