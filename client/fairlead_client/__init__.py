"""The consumer side of Fairlead: a session without input or output, and a Kafka transport."""
