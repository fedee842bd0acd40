"""Group state to bytes and back, with a version."""
