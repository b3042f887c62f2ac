"""Analytic models of latency, a paper a module, as vectorised functions of numbers; networks of equal cost."""
