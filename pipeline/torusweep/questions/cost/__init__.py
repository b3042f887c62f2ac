"""Cost: cabinets on a floor, cables between them, prices and watts by a cost model.

Models of prices are data (models/*.yaml); the arithmetic on them is here.
"""
