"""Routing tables: rows of next hops, which are read from files, checked, or made from other routings."""
