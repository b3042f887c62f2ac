"""What chooses a network, for very many of them: distances, loads, bounds.

Design spaces screened as batches: all lattices of a size, measured, compared with bounds and known networks.
"""
