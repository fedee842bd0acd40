"""The pull service: what pulls messages ahead, what holds it back, and who consumes them."""
