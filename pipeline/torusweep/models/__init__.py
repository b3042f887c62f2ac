"""Analytic models of latency: one paper's a module, vectorised functions of numbers; and what networks of equal cost are."""
