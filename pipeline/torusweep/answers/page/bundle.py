"""The page's script, bundled with Vega; cached beside Python's bytecode, because bundling takes a second."""

from __future__ import annotations

import contextlib
import hashlib
import sys
from importlib.metadata import version
from importlib.util import cache_from_source
from pathlib import Path

import vl_convert

from torusweep.tables import store


def bundled(own: str) -> str:
    """A script and the libraries that it imports, as one script."""
    key = hashlib.sha256(f"{version('vl-convert-python')}\0{own}".encode()).hexdigest()
    cached = Path(cache_from_source(__file__)).parent / f"{key[:16]}.bundle"
    with contextlib.suppress(OSError, ValueError):
        digest, _, script = cached.read_bytes().partition(b"\n")
        if digest.decode() == store.digest(script):
            return script.decode()
    text = vl_convert.javascript_bundle(own)
    if not sys.dont_write_bytecode:
        with contextlib.suppress(store.CannotWrite):  # the folder is read-only: bundled anew each time
            store.publish(cached, f"{store.digest(text.encode())}\n{text}".encode())
    return text
