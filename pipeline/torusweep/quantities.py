"""Read and write quantities with units: sizes, bandwidths and times (64MiB, 50GB/s, 1us), and counts with a noun.

KiB, MiB, GiB, TiB are powers of 1024; kB, MB, GB, TB are powers of 1000. B is a byte of 8 bits, and b or bit is a bit:
GB/s are bytes and Gb/s bits per second. Case matters, except for K and k.
"""

from __future__ import annotations

import re
from fractions import Fraction
from math import floor, gcd, log10

from torusweep.errors import BadInput, nearest, printable

_SCALES = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
BYTES = {f"{scale}B": Fraction(number) for scale, number in {**_SCALES, **_BINARY}.items()}
RATES = {  # in bits a second
    **{f"{unit}{per}": 8 * number for unit, number in BYTES.items() for per in ("/s", "ps")},
    **{f"{scale}{unit}": Fraction(number) for unit in ("b/s", "bit/s", "bps") for scale, number in _SCALES.items()},
}
RATE_UNITS = "Gb/s, Gbit/s, Gbps (bits), GB/s, GBps (bytes), GiB/s (2³⁰ bytes), with k, M, T or nothing in place of G"
SECONDS = {
    "s": Fraction(1),
    "ms": Fraction(1, 10**3),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),  # the micro sign
    "μs": Fraction(1, 10**6),  # the Greek letter
    "ns": Fraction(1, 10**9),
}
MOST_BYTES = 2**60
MOST_BANDWIDTH = 10**18  # bytes a second
MOST_SECONDS = 10**6
_NUMBER = re.compile(r"(\d{1,18}(?:\.\d{0,18})?(?:e[+-]?\d{1,2})?)\s*(\S*)", re.ASCII)


def counted(number: float, thing: str, form: str = ",") -> str:
    """Return a number with its noun, such as '12,000 points' or '0.5 points'; `form` is the number's format."""
    shown = format(number, form)
    return f"{shown} {thing}{'' if shown == '1' else 's'}"


def duration(seconds: float) -> str:
    """Return a time in a suitable unit, with one decimal below ten: '4.2 s', '12 min', '3 days'; at least '< 0.1 s'."""
    if seconds < 0.1:
        return "< 0.1 s"
    for unit, length, most in (("s", 1.0, 100.0), ("min", 60.0, 100.0), ("h", 3600.0, 48.0)):
        if seconds < most * length:
            return f"{_two_digits(seconds / length)} {unit}"
    return f"{_two_digits(seconds / 86_400)} days"


def size(count: float) -> str:
    """Return a number of bytes, such as '7.2 MiB', in the largest binary unit in which the number is at least 1."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{_two_digits(count)} {unit}"
        count /= 1024
    return f"{_two_digits(count)} TiB"


def size_as_given(count: int) -> str:
    """Return a number of bytes in whole decimal units, as '1 GB', or like `size` if a larger binary unit divides it."""
    decimal, binary = (
        max(part for part in units.values() if count % part == 0) for units in (_SCALES, _BINARY | {"": 1})
    )
    if decimal <= binary:
        return size(count)
    return f"{count // decimal:,} {max(name for name, number in _SCALES.items() if number == decimal)}B"


def _two_digits(number: float) -> str:
    return f"{number:.1f}" if 0 < number < 9.95 else f"{number:,.0f}"


def bytes_of(text: str | int) -> int:
    """Return the bytes, 1 … 2⁶⁰, that a size such as "64MiB", "1.5 GB" or "100" means; without a unit, bytes.

    Raises BadInput if the text is not a size, or not a whole number of bytes.
    """
    number = _quantity(text, BYTES, "a size such as 64MiB", "B")
    if number.denominator != 1 or not 1 <= number <= MOST_BYTES:
        raise BadInput(f"expected a whole number of bytes, 1 … 2⁶⁰, got '{_shown(text)}'; choose another, as 64MiB")
    return int(number)


def bandwidth_of(text: str) -> float:
    """Return the bytes per second, above 0, of a bandwidth such as "400 Gb/s". Raises BadInput for other text."""
    return float(rate_of(text) / 8)


def seconds_of(text: str) -> float:
    """Return the seconds, 0 … 10⁶, of a time such as "1us"; 0 needs no unit. Raises BadInput for other text."""
    number = _quantity(text, SECONDS, "a time such as 1us", "s" if str(text).strip() == "0" else "")
    if number > MOST_SECONDS:
        raise BadInput(f"expected a time of at most 10⁶ s, got '{_shown(text)}'; choose a shorter one, as 1us")
    return float(number)


def rate_of(text: str) -> Fraction:
    """Return the exact bits per second, above 0, of a bandwidth such as "100 Gb/s". Raises BadInput for other text."""
    number = _quantity(text, RATES, "a bandwidth such as 100 Gb/s", "", RATE_UNITS)
    if not 0 < number <= 8 * MOST_BANDWIDTH:
        raise BadInput(f"expected a bandwidth above 0, at most 10⁶TB/s, got '{_shown(text)}'; choose another")
    return number


def time_of(text: str) -> Fraction:
    """Return the exact seconds, 0 or more, of a time such as "5 ns". Raises BadInput for other text."""
    return _quantity(text, SECONDS, "a time such as 5 ns", "")


def rate(bits: Fraction) -> str:
    """Return bits per second, such as '100 Gb/s', in the largest unit in which the number is at least 1."""
    scale = max((number for number in _SCALES.values() if number <= bits), default=1)
    return f"{float(bits / scale):,.6g} {next(name for name, number in _SCALES.items() if number == scale)}b/s"


def time(seconds: Fraction) -> str:
    """Return seconds, such as '5 µs', in the largest unit from ns to s in which the number is at least 1."""
    unit = next((unit for unit in ("s", "ms", "µs") if SECONDS[unit] <= seconds), "ns")
    return f"{float(seconds / SECONDS[unit]):,.6g} {unit}"


def four_digits(number: float) -> str:
    """Return a number without exponent: to four digits below 1000, such as '82.51', else to units, as '257,822'."""
    if number >= 1000:
        return f"{number:,.0f}"
    shown = f"{number:.4g}"
    return f"{number:.{3 - floor(log10(number))}f}" if "e" in shown else shown


def common_part(one: Fraction, other: Fraction) -> Fraction:
    """Return the largest fraction that divides both given fractions without remainder."""
    below = one.denominator * other.denominator
    return Fraction(gcd(one.numerator * other.denominator, other.numerator * one.denominator), below)


def byte_range(text: str) -> list[int]:
    """Return sizes in bytes: [64 MiB] for "64MiB"; for "1MiB:16GiB" the powers of two from 1 MiB to 16 GiB inclusive.

    Raises BadInput if the text is neither, or if the range has no power of two.
    """
    first, colon, last = str(text).partition(":")
    if not colon:
        return [bytes_of(first)]
    least, most = bytes_of(first), bytes_of(last)
    powers = [1 << place for place in range(MOST_BYTES.bit_length()) if least <= 1 << place <= most]
    if not powers:
        what = "the smaller size first" if least > most else "a power of two between them"
        raise BadInput(f"expected sizes as in 1MiB:16GiB, {what}, got '{_shown(text)}'; choose others")
    return powers


def _quantity(text: str | int, units: dict[str, Fraction], expected: str, default: str, listed: str = "") -> Fraction:
    """Return the number in a text times its unit. Raises BadInput if there is no number, or an unknown unit.

    expected   what the text should be, for the message
    default    unit of a number without a unit; "" if a unit must be written
    listed     list of the units for the message; "" to list all names in `units`
    """
    found = None if isinstance(text, bool) else _NUMBER.fullmatch(str(text).strip())
    if found is None:
        raise BadInput(f"expected {expected}, got '{_shown(text)}'; write a number and a unit")
    unit = found[2] or default
    if unit not in units:
        known = [name for name in units if name != "μs"]
        got = f"'{_shown(text)}'" + (f" with the unit '{_shown(unit)}'" if unit else ", which has no unit")
        but_for_case = [f"'{name}'" for name in known if name.lower() == unit.lower()]  # gb/s may be of bits or bytes
        same = [name for name in known if all(letter in name for letter in "bB" if letter in unit)]  # Gb: never bytes
        near = f" (did you mean {' or '.join(but_for_case)}?)" if but_for_case else nearest(unit, same) if unit else ""
        raise BadInput(f"expected {expected}, got {got}{near}; units are {listed or ', '.join(known)}")
    return Fraction(found[1]) * units[unit]


def _shown(text: object) -> str:
    return printable(str(text)[:40])
