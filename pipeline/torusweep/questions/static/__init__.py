"""Static properties of a network: distances, connectivity, bisection, symmetry, fault diameter."""
