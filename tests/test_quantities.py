"""Sizes, bandwidths and times with units; values written out by hand."""

from __future__ import annotations

import pytest
from torusweep.errors import BadInput
from torusweep.quantities import bandwidth_of, byte_range, bytes_of, counted, seconds_of, size_as_given


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("64MiB", 67_108_864),
        ("64 MiB", 67_108_864),
        ("64MB", 64_000_000),
        ("1.5KiB", 1536),
        ("1kB", 1000),
        ("1KB", 1000),
        ("100B", 100),
        ("100", 100),
        (100, 100),
        ("2e3", 2000),
        ("16GiB", 17_179_869_184),
        ("1TiB", 1_099_511_627_776),
        ("1TB", 1_000_000_000_000),
        ("0.1MB", 100_000),  # exact, though 0.1 is no binary fraction
    ],
)
def test_sizes(text, number):
    assert bytes_of(text) == number
    assert isinstance(bytes_of(text), int)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("50GB/s", 50e9),
        ("400Gbit/s", 50e9),
        ("1 GiB/s", 1073741824.0),
        ("8bit/s", 1.0),
        ("0.5TB/s", 500e9),
        ("100 Gb/s", 12.5e9),
        ("100Gbps", 12.5e9),
        ("100 GBps", 100e9),
        ("8b/s", 1.0),
        ("64 kb/s", 8000.0),
        ("1GiBps", 1073741824.0),
    ],
)
def test_bandwidths(text, number):
    assert bandwidth_of(text) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [("1us", 1e-6), ("1µs", 1e-6), ("1μs", 1e-6), ("2.5 ms", 0.0025), ("700ns", 7e-7), ("3s", 3.0), ("0", 0.0)],
)
def test_times(text, number):
    assert seconds_of(text) == number


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("1MiB", [1048576]),
        ("1000", [1000]),
        ("1KiB:8KiB", [1024, 2048, 4096, 8192]),
        ("3:20", [4, 8, 16]),
        ("1B:1B", [1]),
    ],
)
def test_ranges(text, sizes):
    assert byte_range(text) == sizes


def test_a_range_to_16_gib():
    assert byte_range("1MiB:16GiB") == [2**power for power in range(20, 35)]


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (bytes_of, "64MiBs", "units are"),
        (bytes_of, "64mib", "did you mean 'MiB'"),
        (bytes_of, "-1MiB", "write a number and a unit"),
        (bytes_of, "", "write a number and a unit"),
        (bytes_of, "nan", "write a number and a unit"),
        (bytes_of, "1.5B", "whole number of bytes"),
        (bytes_of, "0", "whole number of bytes"),
        (bytes_of, "2e60", "whole number of bytes"),
        (bytes_of, True, "write a number and a unit"),
        (bytes_of, "٣MiB", "write a number and a unit"),  # Arabic digits
        (bytes_of, "1\x1b[31mMiB", "units are"),
        (bandwidth_of, "50", "has no unit"),
        (bandwidth_of, "50gb/s", "did you mean 'GB/s' or 'Gb/s'?"),  # bytes or bits?
        (bandwidth_of, "50gBPS", "did you mean 'GBps' or 'Gbps'?"),
        (bandwidth_of, "400Gb", "did you mean 'Gbps'?"),  # a bit is never taken for a byte, which is eight
        (bandwidth_of, "400Gbs", "did you mean 'Gbps'?"),
        (bandwidth_of, "400GBs", "did you mean 'GBps'?"),
        (bandwidth_of, "50Gib", "units are Gb/s"),
        (bandwidth_of, "0GB/s", "above 0"),
        (bandwidth_of, "50GB", "units are"),
        (seconds_of, "1", "has no unit"),
        (seconds_of, "1min", "units are"),
        (seconds_of, "1e7s", "at most"),
        (byte_range, "5:7", "power of two between"),
        (byte_range, "2MiB:1MiB", "the smaller size first"),
        (byte_range, "1MiB:", "write a number and a unit"),
        (byte_range, "1:2:3", "units are"),
    ],
)
def test_what_is_no_quantity_is_refused_in_one_line(read, text, message):
    with pytest.raises(BadInput) as refusal:
        read(text)
    line = str(refusal.value)
    assert message in line
    assert "\n" not in line
    assert "\x1b" not in line
    assert line.startswith("expected ")


@pytest.mark.parametrize(
    ("number", "form", "text"),
    [
        (1, ",", "1 hop"),
        (0, ",", "0 hops"),
        (12_000, ",", "12,000 hops"),
        (1.0, ".10g", "1 hop"),
        (0.5, ".10g", "0.5 hops"),
        (1.0000001, ".6g", "1 hop"),  # as it reads
        (1.5, ".6g", "1.5 hops"),
    ],
)
def test_one_is_singular(number, form, text):
    assert counted(number, "hop", form) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (10**9, "1 GB"),
        (1_500 * 10**6, "1,500 MB"),
        (10**12, "1 TB"),  # a multiple of 2¹², too
        (2_000, "2 kB"),
        (64 << 20, "64 MiB"),
        (1_000 << 20, "1,000 MiB"),
        (1_000_001, "977 KiB"),
        (7, "7.0 bytes"),
    ],
)
def test_a_size_is_shown_in_the_units_in_which_it_is_written(number, text):
    assert size_as_given(number) == text
