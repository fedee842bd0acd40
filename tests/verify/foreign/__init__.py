"""A harness as somebody else would write it: the client, journals and a fault log by the page."""
