"""Cost: cabinets on a floor, cables between them, prices and watts by a cost model."""

from torusweep.stages.cost.packing import AUTOMATIC, check_suits, pack
from torusweep.stages.cost.record import cost_record

__all__ = ["AUTOMATIC", "check_suits", "cost_record", "pack"]
