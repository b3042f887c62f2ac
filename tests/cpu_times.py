"""Where the time of tests goes: CPU seconds by file and by test, of these processes and of those that they started.

.venv/bin/python -m pytest -p tests.cpu_times -n 2 --dist loadfile tests/run

CPU seconds mean something on a machine that others use as well; the seconds of --durations do not.
"""

from __future__ import annotations

import collections
import os
from typing import Any

import pytest

from tests.run import forks

LONGEST = 25  # of files and of tests
_before = [0.0]
_by_file: dict[str, float] = collections.defaultdict(float)
_by_test: dict[str, float] = collections.defaultdict(float)


def _seconds() -> float:
    return sum(os.times()[:4]) + forks.spent[0]  # user and system time, here and of children that have ended


def pytest_collection_finish() -> None:
    _before[0] = _seconds()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Any:
    """Called after the set-up, the call and the tear-down of each test."""
    report = yield
    now = _seconds()
    report.cpu_seconds, _before[0] = now - _before[0], now
    return report


def pytest_runtest_logreport(report: Any) -> None:
    """Called where the results are collected, with the reports of all processes."""
    _by_file[report.nodeid.partition("::")[0]] += report.cpu_seconds
    _by_test[report.nodeid.partition("[")[0]] += report.cpu_seconds


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for what, seconds in (("files", _by_file), ("tests, all cases", _by_test)):
        terminalreporter.section(f"CPU seconds of {what}, {sum(seconds.values()):.0f} in all")
        for name in sorted(seconds, key=lambda name: -seconds[name])[:LONGEST]:
            terminalreporter.write_line(f"{seconds[name]:8.1f}  {name}")
