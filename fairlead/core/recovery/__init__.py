"""The barrier after a start or a loss: what members claim, and what counts at its end."""
