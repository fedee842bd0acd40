"""The demo on RocketMQ: Java consumers under Fairlead, then under RocketMQ's own rebalance."""
