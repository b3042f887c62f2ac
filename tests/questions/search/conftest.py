"""The GPU that is none, for searches."""

from tests.kernels.conftest import as_cupy, built

__all__ = ["as_cupy", "built"]
