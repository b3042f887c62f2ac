"""The C sources of this folder, compiled if there is a compiler: an upper bound of the speed of this machine."""

from __future__ import annotations

import ctypes
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

HERE = Path(__file__).resolve().parent
FLAGS = ("-std=gnu11", "-O3", "-march=native", "-shared", "-fPIC", "-pthread")
WIDE = ("-mprefer-vector-width=512",) if platform.machine() == "x86_64" else ()
INTEGER, POINTER = ctypes.c_int64, ctypes.c_void_p


@cache
def library(name: str) -> ctypes.CDLL | None:
    """NAME.c, compiled. Without a C compiler, prints a line that says so and returns None.

    Raises CalledProcessError if the compiler refuses the source.
    """
    compiler = shutil.which("cc")
    if compiler is None:
        print(f"{name}.c: no C compiler `cc` found, left out", file=sys.stderr)
        return None
    with TemporaryDirectory() as folder:
        made = Path(folder) / f"{name}.so"
        subprocess.run([compiler, *FLAGS, *WIDE, str(HERE / f"{name}.c"), "-o", str(made)], check=True)
        return ctypes.CDLL(str(made))  # stays loaded when its file is gone


def call(function: Callable[..., int], *arguments: int | np.ndarray) -> int:
    """Call a C function of int64_t and pointers to arrays, without the GIL."""
    words = [INTEGER(some) if isinstance(some, int) else POINTER(some.ctypes.data) for some in arguments]
    return function(*words)


def distances(ports: np.ndarray, threads: int) -> tuple[np.ndarray, int]:
    """(int64[D+1] pairs of nodes at each distance, rows computed) of peak.c.

    ports: int32[N, P], an undirected graph, every node of P links.
    """
    built = library("peak")
    assert built is not None, "no C compiler"
    neighbours, histogram = np.ascontiguousarray(ports, np.int32), np.zeros(len(ports) + 1, np.int64)
    built.distances.restype = INTEGER
    rows = call(built.distances, *neighbours.shape, neighbours, threads, histogram)
    return np.trim_zeros(histogram, "b"), rows
