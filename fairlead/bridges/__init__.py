"""Bridges: routes, bounds and members of live clusters, written into the topics."""
