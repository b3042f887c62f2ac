"""Bytes drawn at random, and whole files that are damaged at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

# by name: what is drawn, what holds, its share of the examples
Properties = dict[str, tuple[st.SearchStrategy[Any], Callable[[Any], None], int]]
CHANGES = st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 255)), min_size=1, max_size=4)


def mixed(*words: bytes) -> st.SearchStrategy[bytes]:
    """Bytes: any at all, or words that the reader knows in any order."""
    return st.binary(max_size=120) | st.lists(
        st.sampled_from([*words, b" ", b"\n", b"\x00", b"\xff", "é\u202e".encode()]), max_size=30
    ).map(b"".join)


def changed(content: bytes, changes: list[tuple[int, int]], length: int | None = None) -> bytes:
    """Some bytes of a file overwritten, and its end cut off."""
    altered = bytearray(content)
    for place, value in changes:
        altered[place % len(altered)] = value
    return bytes(altered[:length])
