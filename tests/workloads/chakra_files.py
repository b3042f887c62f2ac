"""Chakra execution traces for tests, written byte by byte from et_def.proto: no protobuf library takes part."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

COMPUTE, SEND, RECEIVE, COLLECTIVE, METADATA, LOAD = 4, 5, 6, 7, 1, 2
ALL_REDUCE, REDUCE, ALL_GATHER, GATHER, SCATTER, BROADCAST, ALL_TO_ALL, REDUCE_SCATTER, _, BARRIER = range(10)


def number(value: int) -> bytes:
    """Seven bits a byte, the lowest first; all but the last byte have the highest bit."""
    low, rest = value & 127, value >> 7
    return bytes([low | 128]) + number(rest) if rest else bytes([low])


def field(place: int, value: int | bytes | str) -> bytes:
    """A field of a message: its number and type, and its value."""
    if isinstance(value, int):
        return number(place << 3) + number(value)
    content = value.encode() if isinstance(value, str) else value
    return number(place << 3 | 2) + number(len(content)) + content


def attribute(name: str, value: int | bool | str) -> bytes:
    """bool_val is field 27, string_val 29, int64_val 9."""
    place = 27 if isinstance(value, bool) else 29 if isinstance(value, str) else 9
    return field(1, name) + field(place, int(value) if isinstance(value, bool) else value)


def node(
    identity: int,
    kind: int,
    after: Iterable[int] = (),
    *,
    control: Iterable[int] = (),
    micros: int = 0,
    values: str = "",
    **attributes: int | bool | str,
) -> bytes:
    """A node with data_deps `after` (packed) and ctrl_deps `control`."""
    parts = [field(1, identity), field(2, f"node {identity}"), field(3, kind)]
    parts += [field(4, one) for one in control]
    if packed := b"".join(number(one) for one in after):
        parts.append(field(5, packed))
    parts += [field(7, micros), field(8, field(1, values))] if values else [field(7, micros)]
    return b"".join([*parts, *(field(10, attribute(name, value)) for name, value in attributes.items())])


def trace(*nodes: bytes) -> bytes:
    """A file: the metadata, then the nodes, each after its length."""
    return b"".join(number(len(one)) + one for one in (field(1, "1.0.0"), *nodes))


def write(folder: Path, *ranks: Iterable[bytes]) -> Path:
    """The files t.0.et, t.1.et, … of the nodes of each rank; returns the first."""
    for rank, nodes in enumerate(ranks):
        (folder / f"t.{rank}.et").write_bytes(trace(*nodes))
    return folder / "t.0.et"
