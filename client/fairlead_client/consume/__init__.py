"""Consumers: the life of one client, what it has in hand, and the messages that it is given."""
