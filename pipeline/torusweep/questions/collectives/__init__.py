"""Collective operations: the least time that a network allows, and the time of each algorithm."""
