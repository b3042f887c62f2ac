"""What a network costs: models of prices as data (models/*.yaml), and the arithmetic on them."""

from torusweep.costs.arithmetic import Cables, Counts, Prices, prices
from torusweep.costs.model import CostModel, Sourced
from torusweep.costs.reading import (
    DEFAULT_MODEL,
    MODELS,
    canonical,
    cost_model,
    description_of,
    file_of,
    files_of,
    readable,
)

__all__ = [
    "DEFAULT_MODEL",
    "MODELS",
    "Cables",
    "CostModel",
    "Counts",
    "Prices",
    "Sourced",
    "canonical",
    "cost_model",
    "description_of",
    "file_of",
    "files_of",
    "prices",
    "readable",
]
