"""The topics that a client uses, under the application's prefix."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Topics:
    """Full names of the topics."""

    prefix: str

    @property
    def heartbeats(self) -> str:
        """Written: heartbeats, leaves, progress, claims."""
        return f"{self.prefix}heartbeats"

    @property
    def releases(self) -> str:
        """Written: releases, for the engine."""
        return f"{self.prefix}releases"

    @property
    def handovers(self) -> str:
        """Written and read: the same releases, for the clients that wait for them."""
        return f"{self.prefix}handovers"

    @property
    def generations(self) -> str:
        """Read: claims of engine drivers, in one partition."""
        return f"{self.prefix}generations"

    @property
    def assignments(self) -> str:
        """Read: what the engine decided."""
        return f"{self.prefix}assignments"

    @property
    def routes(self) -> str:
        """Read by producers and broadcasting members: what topics consist of, in one partition."""
        return f"{self.prefix}routes"

    @property
    def requests(self) -> str:
        """Written by producers that lack a route, and by members that lack their retry topic."""
        return f"{self.prefix}requests"

    @property
    def needed(self) -> tuple[str, str]:
        """The topics that a writer needs; without handovers, a handover takes longer."""
        return self.heartbeats, self.releases

    @property
    def written(self) -> tuple[str, str, str]:
        """The topics that a writer writes."""
        return *self.needed, self.handovers

    @property
    def followed(self) -> tuple[str, str, str]:
        """The topics that a reader follows."""
        return self.assignments, self.handovers, self.generations
