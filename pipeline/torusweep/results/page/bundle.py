"""The page's program, bundled with Vega: a second's work, so it is kept where Python keeps what it compiled."""

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
    """A program and the libraries that it imports, as one script. The same text, whether it was kept or is made now."""
    about = hashlib.sha256(f"{version('vl-convert-python')}\0{own}".encode()).hexdigest()
    kept = Path(cache_from_source(__file__)).parent / f"{about[:16]}.bundle"
    with contextlib.suppress(OSError, ValueError):
        digest, _, script = kept.read_bytes().partition(b"\n")
        if digest.decode() == store.digest(script):
            return script.decode()
    text = vl_convert.javascript_bundle(own)
    if not sys.dont_write_bytecode:
        with contextlib.suppress(store.CannotWrite):  # installed where we may not write: made anew each time
            store.publish(kept, f"{store.digest(text.encode())}\n{text}".encode())
    return text
