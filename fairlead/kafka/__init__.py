"""Fairlead and Kafka: connections, topics and their settings, rights, readers and writers."""
