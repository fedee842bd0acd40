"""Routes of topics, and the queues that consumers read and producers write."""
