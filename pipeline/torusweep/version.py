"""The version of torusweep, in a separate module, so that reading the version imports nothing else."""

__version__ = "0.2.0"
