"""Machine code that Numba made of the kernels here, for a copy of them elsewhere."""

from __future__ import annotations

from pathlib import Path

import torusweep_kernels
from numba.core.caching import UserProvidedCacheLocator
from torusweep_kernels.compile import cache_folder


def share(package: Path) -> None:
    """Let a copy of torusweep_kernels keep its machine code where this one does: it compiles nothing again.

    The cache's folder is named after the sources: a copy whose sources differ compiles its own. In it Numba keeps a
    folder for each folder of sources, named after its path.
    """
    here, cache = Path(torusweep_kernels.__path__[0]), Path(cache_folder())
    copied = package / "__pycache__" / cache.name
    copied.mkdir(parents=True)
    for sources in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        kept, theirs = (_kept(folder) for folder in (here / sources.relative_to(package), sources))
        (cache / kept).mkdir(exist_ok=True)
        (copied / theirs).symlink_to(cache / kept)


def _kept(sources: Path) -> str:
    return str(UserProvidedCacheLocator.get_suitable_cache_subpath(str(sources / "any.py")))
