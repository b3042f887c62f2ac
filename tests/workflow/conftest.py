"""The sweeps that are run here."""

from fixtures import clean, rings

__all__ = ["clean", "rings"]
