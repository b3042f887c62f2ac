"""What is left of a network after failures: the distribution over draws of failed links, routers or cubes."""

from torusweep.stages.availability.measures import MEASURES
from torusweep.stages.availability.record import availability_rows
from torusweep.stages.availability.request import AvailabilityRequest

__all__ = ["MEASURES", "AvailabilityRequest", "availability_rows"]
