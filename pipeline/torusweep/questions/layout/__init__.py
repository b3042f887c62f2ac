"""Layout of a network: places of nodes or cabinets, and lengths and density of the wires between them."""
