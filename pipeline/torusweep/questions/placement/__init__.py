"""Placements: the axes of a job on the axes of a slice, scored by the busiest link of each collective."""
