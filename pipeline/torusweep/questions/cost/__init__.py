"""Cost of a network: cabinets on a floor, the cables between them, and prices and watts from a cost model.

Cost models are data (models/*.yaml); the modules here compute with them.
"""
