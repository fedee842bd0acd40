"""Who should own which queue: a strategy's answer, and the weights of queues."""
