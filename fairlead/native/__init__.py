"""Groups that a data plane shares out by itself: looked at, never joined and never written to."""
