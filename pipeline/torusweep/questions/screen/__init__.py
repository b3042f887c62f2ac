"""Screening: the few numbers that choose among very many networks (distances, loads, bounds).

Design spaces are screened in batches: all lattices of a size are compared with bounds and known networks.
"""
