"""Layout: places of nodes or cabinets, and lengths and density of the wires between them."""

from torusweep.stages.layout.placements import PLACEMENTS, Placement, canonical, check_suits, extent, place, spelling_of
from torusweep.stages.layout.record import layout_record

__all__ = ["PLACEMENTS", "Placement", "canonical", "check_suits", "extent", "layout_record", "place", "spelling_of"]
