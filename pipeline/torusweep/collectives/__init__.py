"""Bound the time of collective operations on a network, with proof, and measure the times of algorithms."""
