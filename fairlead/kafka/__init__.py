"""Access to Kafka: connections, topics and their settings, permissions, readers and writers."""
