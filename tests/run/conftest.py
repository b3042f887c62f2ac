"""The sweeps that are run here."""

from tests.run.fixtures import clean, nothing_to_fork_from, rings

__all__ = ["clean", "nothing_to_fork_from", "rings"]
