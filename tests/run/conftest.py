"""The sweeps that are run here."""

from tests.run.fixtures import clean, rings

__all__ = ["clean", "rings"]
