"""Numbers far too large in every parameter of every family: refused in one line, before arrays are made."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from dataclasses import replace

from torusweep.errors import BadInput, Refused
from torusweep.networks.families import FAMILIES, build, parameters
from torusweep.networks.picture import SMALL
from torusweep.networks.spelling import parse

LARGE = (10**9, 2**31, 2**63, 10**5000)
SECONDS, MEMORY = 20, 8 << 30  # of a network; of all, addresses included
# parameters that those lack
MORE = ["hyperx(radices=[3, 3], widths=[1, 2])", "dragonfly(a=4, p=2, h=2, local=[2, 2])"]


def kinds_of(kind: object) -> bool:
    return "int" in str(kind)


def failures() -> list[str]:
    """What is neither a network nor a refusal in one line."""
    found = []
    for spelling in [*(choices[0] for choices in SMALL.values()), *MORE]:
        call = parse(spelling)
        for parameter in parameters(call.name):
            if not kinds_of(parameter.kind):
                continue
            given = call.arguments.get(parameter.name)
            for number in LARGE:
                values = [[number] * max(len(given), 2) if isinstance(given, list) else [number] * 2, number]
                for value in values:
                    signal.alarm(SECONDS)
                    try:
                        build(replace(call, arguments={**call.arguments, parameter.name: value}), memory=1 << 29)
                    except (BadInput, Refused) as refusal:
                        if "\n" in str(refusal) or len(str(refusal)) > 1000:
                            found.append(f"{spelling}: {parameter.name}: {str(refusal)[:200]}")
                    except BaseException as error:
                        found.append(f"{spelling}: {parameter.name}: {number.bit_length()} bits: {error!r}"[:200])
                    signal.alarm(0)
    return found


def test_every_family_is_tried():
    assert {*SMALL} == {*FAMILIES} - {"graph"}


def test_numbers_that_are_far_too_large_are_refused_in_one_line():
    run = [sys.executable, "-c", "import tests.networks.test_large_parameters as own; own.main()"]
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=300)
    assert json.loads(done.stdout) == []


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    def late(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    print(json.dumps(failures()))
