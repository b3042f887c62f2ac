"""What is left of a network after failures: the distribution over draws of failed links, routers or cubes."""
