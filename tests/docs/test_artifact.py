"""The table of docs/artifact.md is read whole, and its quick rows hold."""

from __future__ import annotations

import re

import pytest

from tests.docs.artifact import BOUND, DOCUMENT, HOUR, Claim, claims, found, report, run

TEXT = DOCUMENT.read_text()
CLAIMS = list(claims(TEXT))
QUICK, LONG = 0.3, 0.2  # minutes; rows that take more than LONG are in make test-slow
FEW = 3  # of the quick rows in every run of the tests: each starts a process


def test_every_row_is_read():
    rows = [line for line in TEXT.splitlines() if line.startswith("| [")]
    assert len(CLAIMS) == len(rows) > 35
    assert all(TEXT.count(f"`{one.command}`") == 1 for one in CLAIMS)
    assert {one.apart for one in CLAIMS} == {"", "apart", "GPU"}


def test_all_that_run_take_at_most_an_hour():
    assert sum(one.minutes for one in CLAIMS if not one.apart) <= HOUR


def test_rows_name_pages_that_are_there():
    for name in re.findall(r"^\| \[[^]]+\]\(([^)#]+)", TEXT, re.MULTILINE):
        assert (DOCUMENT.parent / name).is_file(), name


def quick() -> list[object]:
    """The quick rows but ratios of speed: a timed test would fail on a busy machine."""
    brief = (one for one in CLAIMS if one.minutes <= QUICK and not one.apart)
    rows = [one for one in brief if not any(map(BOUND.fullmatch, one.expected))]
    rows.sort(key=lambda one: one.minutes > LONG)
    return [
        pytest.param(one, marks=pytest.mark.slow if one.minutes > LONG else pytest.mark.faults if place >= FEW else ())
        for place, one in enumerate(rows)
    ]


@pytest.mark.parametrize("claim", quick())
def test_a_quick_row_holds(claim: Claim):
    result = run(claim)
    assert result.holds, result.got


@pytest.mark.parametrize(
    ("printed", "expected", "holds"),
    [
        ("nodes   9\ncost 12\n", "nodes 9 cost", True),
        ("nodes   90\n", "nodes 9", False),
        ("mean 9.5\n", "mean 9", False),
        ("mean 19\n", "9", False),
        ("fast 12.5\n", "fast ≥ 12", True),
        ("fast: 11\n", "fast ≥ 12", False),
        ("slow 2\nslow 3\n", "slow ≤ 2", False),
        ("nothing of it\n", "slow ≤ 2", False),
    ],
)
def test_what_must_appear(printed: str, expected: str, holds: bool):
    assert found(printed, expected)[1] is holds


def test_a_claim_that_fails_is_told(capfd):
    rows = (
        "| a | `echo 4` | `4` | 0 |\n| b | `echo 4` | `5` | 0 |\n| c | `echo 6; exit 3` | `6` | 0 |\n"
        "| d | `false` | `1` | GPU, 1 |\n| e | `false` | `1` | apart, 61 |\n"
    )
    assert report(claims(rows)) == 1
    printed = capfd.readouterr().out
    assert [line.split(" | ")[-1] for line in printed.splitlines()[2:7]] == ["yes |", "NO |", "NO |", "– |", "– |"]
    assert "status 3" in printed
    assert "2 do not hold" in printed
    assert report(claims(rows.splitlines()[0])) == 0
