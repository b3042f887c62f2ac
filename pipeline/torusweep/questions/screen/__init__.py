"""Screening: the few numbers by which one of very many networks is chosen (distances, loads, bounds).

Design spaces are screened in batches: all lattices of a size are compared with bounds and known networks.
"""
