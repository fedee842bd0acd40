"""STICKY, the strategy that moves little: a queue moves only if balance requires it."""
