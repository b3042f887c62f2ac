"""Find and read numeric attributes of links in graph files, under any of their usual names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cache, partial, reduce
from numbers import Real
from pathlib import Path
from typing import Any, Literal

import numpy as np

from torusweep.errors import BadInput, one_line, printable
from torusweep.networks.families.graph_listing import (
    ABSENT,
    BANDWIDTH,
    COST,
    LINK_NUMBERS,
    MOST_PARALLEL,
    SHOWN,
    Listing,
    terminals_of,
)
from torusweep.networks.link_lists import MOST_BANDWIDTH, bandwidth_of
from torusweep.quantities import common_part, counted, rate, rate_of, time, time_of

WEIGHT = "weight"  # a number whose meaning the file does not give
KNOWN = (*LINK_NUMBERS, BANDWIDTH, WEIGHT)
ALSO_CALLED = {"capacity": BANDWIDTH, "bw": BANDWIDTH, "delay": "latency", "weights": WEIGHT}
OTHERS = ("port", "target_port", "link_class", "target_link_class")  # texts under these names are other programs'
DIRECTIONS = {  # name of a column → value → whether the link is directed
    "type": {"directed": True, "undirected": False},
    "directed": {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False},
}
EXPONENT = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)[eE][+-]?\d{1,3}", re.ASCII)
QUANTITY = re.compile(r"\s*[\d.].*[^\W\d_]\s*")  # a number and its unit
Weights = Literal["bandwidth", "latency", "cost", "none"]


def known_names(names: Iterable[str], notes: list[str]) -> dict[str, str]:
    """Return a map from our name of each known column to the file's name. Capitals, hyphens and blanks are ignored.

    `notes` gets unusual names that were recognised. Raises BadInput if two columns mean the same.
    """
    found: dict[str, str] = {}
    for name in sorted(names, key=lambda name: name not in KNOWN):  # our own names go first
        plain = name.strip().lower().replace("-", "_").replace(" ", "_")
        known = ALSO_CALLED.get(plain, plain)
        if known not in KNOWN:
            continue
        if known not in found:
            found[known] = name
        elif found[known] == known:
            notes.append(f"{one_line(printable(name), SHOWN)} of links not read: the file has {known}, too")
        else:
            both = " and ".join(one_line(printable(each), SHOWN) for each in (found[known], name))
            raise BadInput(f"expected one column for {known} of links, got {both}, which both mean it; remove one")
    notes += [
        f"{one_line(printable(name), SHOWN)} of links read as {known}"
        for known, name in found.items()
        if name.strip().lower() != known and known != WEIGHT
    ]
    return found


def direction_of(columns: Mapping[str, Sequence[Any]]) -> tuple[str | None, bool | None]:
    """Return (name of the column that says whether links are directed, its value); (None, None) without such a column.

    The column is Gephi's Type, with the values Directed and Undirected, or directed, with true and false.
    Raises BadInput if rows differ, or if some are empty.
    """
    for name, values in columns.items():
        known = DIRECTIONS.get(name.strip().lower(), {})
        texts = {None if value is None else str(value).strip().lower() for value in values}
        if not known or not texts - {None} or not texts - {None} <= known.keys():
            continue
        said = {known[text] for text in texts - {None} if text is not None}
        shown = one_line(printable(name), SHOWN)
        if None in texts:
            raise BadInput(f"{shown}: expected a direction in every row, got {values.count(None):,} without")
        if len(said) > 1:
            raise BadInput(
                f"{shown}: expected every link directed, or none, got both; write an undirected link as two directed"
                " ones, there and back"
            )
        return name, said.pop()
    return None, None


def whole_of(name: str, value: Any) -> int:
    """Return a link's number in column `name` as an int. Raises BadInput unless it is whole, 0 … 2³¹ − 1."""
    number = value
    if isinstance(value, str):
        digits = value.strip().removesuffix(".0")
        number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 10 else None
    real = (isinstance(number, Real) and not isinstance(number, bool)) or type(number).__name__ == "Decimal"
    if not real or number != number or not 0 <= number <= MOST_PARALLEL or number != int(number):
        raise BadInput(f"{name}: expected whole numbers, 0 … 2³¹ − 1, got {one_line(printable(value), SHOWN)}")
    return int(number)


def width_of(name: str, value: Any) -> float:
    """Return a link's number in column `name` as a float. Raises BadInput unless it is a number above 0."""
    try:
        if isinstance(value, bool):
            raise ValueError
        plain = not isinstance(value, str) or EXPONENT.fullmatch(value.strip())
        return float(bandwidth_of(float(value) if plain else value.strip()))
    except (BadInput, ValueError, TypeError, OverflowError):
        what = "flits a cycle above 0" if name == BANDWIDTH else "numbers above 0"
        with suppress(ValueError, TypeError, OverflowError):
            what += f", 10⁻⁶ … {MOST_BANDWIDTH:,}" if float(value) > 0 else ""
        raise BadInput(f"{name}: expected {what}, got {one_line(printable(value), SHOWN)}") from None


def meaning_of(text: str) -> str | None:
    """Return "bandwidth" or "latency", whichever the unit in a text shows; None without such a unit."""
    for name, read in ((BANDWIDTH, rate_of), ("latency", time_of)):
        try:
            read(text)
        except BadInput:
            continue
        return name
    return None


def in_units(listing: Listing, name: str, values: Sequence[Any]) -> Sequence[Any]:
    """Turn quantities such as "100 Gb/s" into multiples: of the least bandwidth, or of the latencies' common divisor.

    `listing.units` and a note keep the unit. Raises BadInput if only some quantities have a unit.
    """
    texts = list(filter(_with_unit, values))
    if not texts or name not in (BANDWIDTH, "latency"):
        return values
    exactly = cache(rate_of if name == BANDWIDTH else time_of)

    def read(value: Any) -> Fraction:
        if not _with_unit(value):
            some = texts[0].strip()[:SHOWN]
            raise BadInput(f"{name}: expected a unit for every link, as {some}, or for none, got {value}")
        try:
            return exactly(value)
        except BadInput as wrong:
            raise BadInput(f"{name}: {wrong}") from None

    found = read_each(values, read, None)
    exact = {*found} - {None}
    unit = min(exact) if name == BANDWIDTH else reduce(common_part, exact)
    if not unit:
        raise BadInput(f"{name}: expected more than 0 for every link, got {min(texts, key=exactly)}")
    listing.units[name] = unit
    listing.notes.append(f"1 flit a cycle is {rate(unit)}" if name == BANDWIDTH else f"a cycle is {time(unit)}")
    return [None if value is None else value / unit for value in found]


def _with_unit(value: Any) -> bool:
    return isinstance(value, str) and QUANTITY.fullmatch(value) is not None


def read_each(values: Iterable[Any], read: Callable[[Any], Any], absent: Any) -> list[Any]:
    """Read each value with `read`; None becomes `absent`. A BadInput of `read` gets the value's place as its `row`."""
    found: list[Any] = []
    try:
        for value in values:
            found.append(absent if value is None else read(value))
    except BadInput as wrong:
        wrong.row = len(found)
        raise
    return found


def set_numbers(listing: Listing, columns: Mapping[str, Sequence[Any]]) -> None:
    """Store columns of numbers, or of texts that are numbers, by our names; None stands for a link without a value.

    Raises BadInput for other values, except for a port or a class, which is then not read but noted.
    """
    for name, values in columns.items():
        try:
            values = in_units(listing, name, values)
            wide = name in (BANDWIDTH, WEIGHT)
            found = read_each(values, partial(width_of if wide else whole_of, name), np.nan if wide else ABSENT)
            set_column(listing, name, np.array(found, np.float64 if wide else np.int64))
        except BadInput as wrong:
            if name == WEIGHT:
                listing.wrong_weight = wrong
            elif name not in OTHERS:
                raise
            else:
                listing.notes.append(f"not read of links: {wrong}")


def set_terminals(path: Path, listing: Listing, given: Sequence[Any]) -> None:
    """Store each node's number of terminals (None for a node without a number). If no node has a number, do nothing.

    Nodes without a number get no terminal; if other nodes have one, a note says so.
    """
    if any(value is not None for value in given):
        counts = [0 if value is None else whole_of("terminals", value) for value in given]
        listing.terminals = terminals_of(path, np.array(counts, np.int64))
        note_silent(listing, sum(value is None for value in given))


def note_silent(listing: Listing, silent: int) -> None:
    """Note that `silent` nodes have no number of terminals, although others have one."""
    if silent:
        listing.notes.append(f"{counted(silent, 'node')} without a number of terminals, taken as 0")


def note_missing(name: str, missing: int, units: bool, notes: list[str]) -> None:
    """Add a note that `missing` links have no value in column `name`, and which value they get instead.

    Raises BadInput if values have units or are costs, since no value is the obvious one then.
    """
    if missing and (units or name == COST):
        what, remedy = ("weight", ', or say weights="none"') if name == COST else (name, "")
        raise BadInput(f"expected a {what} of every link, got {counted(missing, 'link')} without; add it{remedy}")
    if missing:
        usual = {BANDWIDTH: "1 flit a cycle", "latency": "1 cycle", "multiplicity": "1 link"}.get(name, "class 0")
        notes.append(f"{counted(missing, 'link')} without {name.replace('_', ' ')}, taken as {usual}")


def set_column(listing: Listing, name: str, column: np.ndarray) -> None:
    if name == WEIGHT:
        listing.weight = column
    else:
        listing.numbers[name] = column


def with_weights(listing: Listing, weights: Weights | None) -> None:
    """Store the links' weights with the meaning that the user gives. Raises BadInput if it is missing or impossible."""
    weight, listing.weight = listing.weight, None
    if (wrong := listing.wrong_weight) is not None:
        if weights == "none":
            listing.notes.append("weight of links not read")
            return
        refusal = BadInput(f'{wrong}; say weights="none" to leave weights out')
        refusal.row = wrong.row
        raise refusal
    if weight is None and weights not in (None, "none"):
        raise BadInput(f'weights="{weights}": expected a file with weights of links, got none; leave it out')
    if weight is None or (weights != COST and (np.isnan(weight) | (weight == 1)).all()):
        return
    if weights is None:
        raise BadInput(
            'expected bandwidth or latency of links, got weight, which may mean either; say weights="bandwidth" (flits'
            ' a cycle), "latency" (cycles), "cost" (of a route) or "none"'
        )
    if weights == "none":
        listing.notes.append("weight of links not read")
    elif weights in listing.numbers:
        raise BadInput(
            f'weights="{weights}": expected a file without {weights}, got one that has both it and weight; say'
            ' weights="none", or remove one of the two'
        )
    elif weights in (BANDWIDTH, COST):
        listing.numbers[weights] = weight
    else:
        set_numbers(listing, {"latency": [None if np.isnan(value) else value for value in weight.tolist()]})
