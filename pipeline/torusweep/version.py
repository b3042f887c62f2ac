"""The version of torusweep, apart from all that the package offers, so that what reads it depends on nothing else."""

__version__ = "0.2.0"
