"""The real core and the real client session on a virtual clock, without a process between them."""
