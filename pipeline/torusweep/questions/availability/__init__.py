"""Availability: the distribution of measures over draws of failed links, routers or cubes."""
