"""Deadlock: the channel dependency graph of a routing under a virtual-channel rule, and a verdict with its argument."""
