"""A client of the gateway: four rules instead of the handover protocol."""
