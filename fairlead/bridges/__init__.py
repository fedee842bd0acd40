"""Bridges write the routes and offsets of live clusters into Fairlead's topics."""
