"""Collective operations: the least time that a network allows, with proof, and the times of algorithms."""
