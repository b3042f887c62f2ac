"""Mean latency by the analytic models of two papers, each in its own module, and networks at equal cost."""
