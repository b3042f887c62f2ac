"""The artefact: what the documents claim, the command that shows it, and what must appear (docs/artifact.md).

`python -m tests.docs.artifact [WORD …]` runs the rows of the document's table whose minutes are a number
alone (of them those whose claim has one of the words), prints the table filled, and ends with status 1 where something
does not appear. Other rows (`apart, 90`; `GPU, 9`) are listed.

Each code span of the cell "must appear" is looked for in what the command prints, whatever the blanks between words. A
span `name ≥ 3` or `name ≤ 3` is a bound of the number behind that name.
"""

from __future__ import annotations

import argparse
import difflib
import operator
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

DOCUMENT = Path(__file__).parents[2] / "docs" / "artifact.md"
CELLS = re.compile(r"(?<!\\)\|")
SPAN = re.compile(r"`([^`]+)`")
BOUND = re.compile(r"(?P<name>.+) (?P<sign>[≥≤]) (?P<limit>[\d.]+)")
COMPARE = {"≥": operator.ge, "≤": operator.le}
HOUR = 60  # minutes that all rows together may take


class Claim(NamedTuple):
    """A row of the table; `apart` says why it is not run with the others, and is empty where it is."""

    claim: str
    command: str
    expected: tuple[str, ...]
    minutes: float
    apart: str


class Result(NamedTuple):
    """What a command printed of what must appear."""

    got: tuple[str, ...]
    seconds: float
    holds: bool


def claims(text: str) -> Iterator[Claim]:
    """The rows of a document whose second cell is a command. A row that cannot be read is an error."""
    for line in text.splitlines():
        cells = [cell.strip().replace(r"\|", "|") for cell in CELLS.split(line)[1:-1]]
        if len(cells) > 1 and cells[1].startswith("`"):
            claim, command, expected, minutes = cells
            spans = tuple(SPAN.findall(expected))
            assert spans, f"expected a code span that must appear, got: {line}"
            *apart, number = minutes.split(", ")
            yield Claim(claim, command.strip("`"), spans, float(number), *(apart or [""]))


def found(printed: str, expected: str) -> tuple[str, bool]:
    """What stands in the print for something that must appear, and whether it is that."""
    lines = [" ".join(line.split()) for line in printed.splitlines() if line.strip()]
    if bound := BOUND.fullmatch(expected):
        numbers = re.findall(rf"(?<!\w){re.escape(bound['name'])}:? +([\d.]*\d)", "\n".join(lines))
        compare, limit = COMPARE[bound["sign"]], float(bound["limit"])
        holds = bool(numbers) and all(compare(float(number), limit) for number in numbers)
        return f"{bound['name']} {', '.join(numbers) or 'is not there'}", holds
    if re.search(rf"(?<![\w.,]){re.escape(expected)}(?!\w|[.,]\d)", " ".join(lines)):
        return expected, True
    return (difflib.get_close_matches(expected, lines, 1, 0) or ["nothing"])[0], False


def run(claim: Claim) -> Result:
    """Run a command in the current folder, with this Python's programs first."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    began = time.monotonic()
    ended = subprocess.run(
        ["timeout", f"{HOUR}m", "bash", "-c", claim.command],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    seconds = time.monotonic() - began
    printed = ended.stdout if ended.returncode == 0 else f"{ended.stdout}\nended with status {ended.returncode}"
    got, holds = zip(*(found(printed, one) for one in claim.expected))
    if ended.returncode:
        got = (*got, f"ended with status {ended.returncode}")
    return Result(got, seconds, all(holds) and ended.returncode == 0)


def report(chosen: Iterable[Claim]) -> int:
    """Run claims and print a row for each as it ends; the exit status."""
    print("| claim | must appear | got | seconds | holds |\n|---|---|---|--:|---|", flush=True)
    failed = 0
    for claim in chosen:
        if claim.apart:
            why = f"not run: {claim.apart}, {claim.minutes:g} minutes"
            print(f"| {claim.claim} | {'; '.join(claim.expected)} | {why} | – | – |", flush=True)
            continue
        result = run(claim)
        failed += not result.holds
        cells = claim.claim, "; ".join(claim.expected), "; ".join(result.got)
        print(f"| {' | '.join(cells)} | {result.seconds:.1f} | {'yes' if result.holds else 'NO'} |", flush=True)
    print(f"\n{failed} do not hold" if failed else "\nall that were run hold")
    return min(failed, 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("words", nargs="*", metavar="WORD", help="run only rows whose claim has one of these words")
    words = parser.parse_args().words
    rows = list(claims(DOCUMENT.read_text()))
    sys.exit(report(row for row in rows if not words or any(word in row.claim for word in words)))
