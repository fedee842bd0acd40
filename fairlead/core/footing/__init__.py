"""Who shares a group's queues out, RocketMQ inside its clients or the engine; how that turns."""
