"""The same histories under the engine's own core, with clients that follow the protocol."""
