"""Availability: the distribution of a network's measures if randomly drawn links, routers or cubes fail."""
