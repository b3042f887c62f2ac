"""Routing tables: rows of next hops, read from files, checked, made of other routings, and drawn from."""
