"""The GPU that is none, for sampled loads."""

from tests.kernels.conftest import as_cupy, built

__all__ = ["as_cupy", "built"]
