"""Placement of jobs and tasks: the axes of a job on the dimensions of a slice, and tasks on terminals of a network."""
