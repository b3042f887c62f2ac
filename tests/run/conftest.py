"""The sweeps that are run here."""

from fixtures import clean, nothing_to_fork_from, rings

__all__ = ["clean", "nothing_to_fork_from", "rings"]
