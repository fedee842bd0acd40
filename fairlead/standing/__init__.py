"""How a group stands: its queues, members and state, as Fairlead's topics tell them."""
