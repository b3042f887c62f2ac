"""Mean latency by the analytic models of two papers, each in a module of its own, and networks at equal cost."""
