"""The papers' printed numbers, their comparison with computed ones, and the papers' figures."""
