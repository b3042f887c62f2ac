"""Queries over a sweep's tables: SQL, joined designs, Pareto fronts, plots, the page."""
