"""What chooses a network, for very many of them: distances, loads, bounds."""
