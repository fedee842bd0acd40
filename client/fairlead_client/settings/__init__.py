"""The settings of clients, and the checks of their names, types and values."""
