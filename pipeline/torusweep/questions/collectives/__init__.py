"""Collective operations: the least time that a network allows, and what each algorithm takes."""
