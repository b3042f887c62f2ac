"""Sweeps: reading a configuration, expanding it to points, estimating their time, batches, and derived tables."""
