"""How one queue goes from one member to the next, and what may shorten or delay that."""
