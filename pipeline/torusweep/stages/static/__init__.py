"""Static properties of a network: distances, connectivity, bisection, symmetry, fault diameter."""

from torusweep.stages.static.record import static_record, whole_numbers

__all__ = ["static_record", "whole_numbers"]
