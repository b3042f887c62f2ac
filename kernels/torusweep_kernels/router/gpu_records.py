"""The structs of records.cuh as NumPy's types, read from the source: arguments of launches, and fields of records."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from torusweep_kernels.cuda import cuda_source

SOURCE = Path(__file__).with_name("router.cu")
DECLARATION = re.compile(r"(?P<constant>Constant<)?(?P<type>[\w ]+?)(?:>|(?P<pointer>\*))? (?P<names>\w+(?:, \w+)*)")
TYPES: dict[str, Any] = {
    "signed char": np.int8,
    "unsigned char": np.uint8,
    "short": np.int16,
    "vcs_t": np.uint16,
    "int": np.int32,
    "long long": np.int64,
    "bits_t": np.uint64,
}


@cache
def declared(struct: str) -> tuple[int, dict[str, tuple[str, bool]]]:
    """(alignment that a struct asks for, 1 = none; of every field: its type, or what it points to, and whether it
    points)."""
    found = re.search(rf"^struct (?:__align__\((\d+)\) )?{struct} {{([^}}]*)}};$", cuda_source(SOURCE), re.MULTILINE)
    assert found, struct
    members: dict[str, tuple[str, bool]] = {}
    for declaration in filter(None, (" ".join(text.split()) for text in found[2].split(";"))):
        read = DECLARATION.fullmatch(declaration)
        assert read, f"{struct}: {declaration}"
        points = bool(read["constant"] or read["pointer"])
        members |= dict.fromkeys(read["names"].split(", "), (read["type"], points))
    return int(found[1] or 1), members


@cache
def structure(struct: str) -> np.dtype[Any]:
    """The type of a struct, with the layout that CUDA gives it; a pointer is an unsigned integer."""
    alignment, members = declared(struct)
    natural = np.dtype(
        [(name, np.uintp if points else TYPES[kind]) for name, (kind, points) in members.items()], align=True
    )
    offsets = [natural.fields[name][1] for name in members] if natural.fields else []
    size = -(-natural.itemsize // alignment) * alignment
    return np.dtype(
        {"names": list(members), "formats": [natural[name] for name in members], "offsets": offsets, "itemsize": size}
    )


def words(record: str) -> int:
    """The size of a record of integers in words of 4 bytes."""
    return structure(record).itemsize // 4


@cache
def fields(record: str) -> dict[str, int]:
    """The index of every field of a record whose fields are all of one type."""
    found = structure(record).fields
    assert found
    return {name: where[1] // where[0].itemsize for name, where in found.items()}


def filled(struct: str, values: Mapping[str, Any]) -> np.ndarray:
    """An array of one struct: a kernel's argument, passed by value.

    values   of every field: a number, or an array on the device, which has to outlive the launches. Raises ValueError
             for one too few or too many, TypeError for an array of another type, OverflowError for too large a number
    """
    _, members = declared(struct)
    if values.keys() != members.keys():
        raise ValueError(f"{struct}: expected {', '.join(members)}, got {', '.join(values)}")
    made = np.zeros(1, structure(struct))
    for name, (kind, points) in members.items():
        value = values[name]
        if points:
            if value.dtype != TYPES.get(kind, value.dtype):
                raise TypeError(f"{struct}.{name}: expected an array of {kind}, got {value.dtype}")
            made[name] = value.data.ptr
        else:
            made[name] = int(value)
    return made
