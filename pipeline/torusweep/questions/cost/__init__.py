"""Cost: cabinets on a floor, cables between them, prices and watts by a cost model.

What a network costs: models of prices as data (models/*.yaml), and the arithmetic on them.
"""
