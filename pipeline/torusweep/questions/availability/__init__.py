"""Availability: how measures of a network are distributed if randomly drawn links, routers or cubes fail."""
