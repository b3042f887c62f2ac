"""Search for graphs of a size and degree with short distances, by simulated annealing."""
