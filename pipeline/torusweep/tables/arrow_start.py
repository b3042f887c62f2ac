"""pyarrow without pandas, which it imports with its first array, for a third of a second, to know pandas' own arrays.

For processes that are ours alone, commands, steps and workers: in them nobody hands Arrow a Series.
"""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder

import pyarrow as pa


def without_pandas() -> None:
    """Let pyarrow look for pandas now, and find none; it looks again when somebody wants pandas of it (`to_pandas`). Not where pandas is there."""
    if "pandas" in sys.modules:
        return
    hiding = _NoPandas()
    sys.meta_path.insert(0, hiding)
    try:
        pa.array([])
    finally:
        sys.meta_path.remove(hiding)


class _NoPandas(MetaPathFinder):
    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(name=fullname)
