"""Routing tables: a routing as rows of next hops, read, checked, made of other routings and drawn from."""
