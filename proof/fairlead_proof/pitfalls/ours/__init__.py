"""The same histories under the engine's own core, with clients that keep the protocol's rules."""
