"""Where a queue is read from: first positions, known bounds, resets, recreated topics."""
