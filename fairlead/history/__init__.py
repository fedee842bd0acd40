"""What happened to the queues of a group and why: its decisions, and the records behind them."""
