"""What only a user of RocketMQ asks for: its exact selections of queues, its forms of routes."""
