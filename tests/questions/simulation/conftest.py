"""A GPU that is none, as in tests/kernels."""

from tests.kernels.conftest import as_cupy, built

__all__ = ["as_cupy", "built"]
