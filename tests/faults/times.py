"""Write into docs/reliability.md how long its tests took: the sum of a row's tests, their cases and what they set up.

make test test-faults                                        leave build/tests.xml and build/faults.xml
.venv/bin/python tests/faults/times.py build/tests.xml build/faults.xml
"""

from __future__ import annotations

import collections
import re
import sys
import xml.etree.ElementTree
from itertools import chain
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reliability.md"


def durations(reports: list[str]) -> dict[tuple[str, str], float]:
    """Seconds by file and test, from pytest's JUnit reports."""
    seconds: dict[tuple[str, str], float] = collections.defaultdict(float)
    for case in chain.from_iterable(xml.etree.ElementTree.parse(report).iter("testcase") for report in reports):
        path = case.attrib["classname"].replace(".", "/") + ".py"
        seconds[path, case.attrib["name"].partition("[")[0]] += float(case.attrib["time"])
    return seconds


def main() -> None:
    seconds = durations(sys.argv[1:])
    lines = PAGE.read_text().splitlines()
    for index, line in enumerate(lines):
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", line)
        known = [seconds[test] for test in named if test in seconds]
        if line.startswith("| ") and known and len(known) == len(named):
            lines[index] = re.sub(r"\| [^|]+ \|$", f"| {f'{sum(known):.0f} s' if sum(known) >= 1 else '< 1 s'} |", line)
    PAGE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
