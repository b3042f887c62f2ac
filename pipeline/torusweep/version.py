"""The version of torusweep, in a module of its own, so that its readers import nothing else."""

__version__ = "0.2.0"
