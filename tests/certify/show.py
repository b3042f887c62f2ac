"""Certificates of many rows of each kind, and as many altered ones: python -m tests.certify.show [--rows 1000].

Prints for each kind how many were valid, how many altered ones were refused, and what the checker took. The status is 1
where one was not as it should be. What is altered keeps its digest first, and then has it made anew, as a forger would:
another proof of what is true may then pass, and another number of virtual channels, of which the routing uses fewer.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import importlib.util
import json
import random
import time
from collections.abc import Callable, Iterator
from itertools import chain, islice, product
from pathlib import Path
from typing import Any

import torusweep as ts
from torusweep.errors import BadInput

CHECKER = Path(__file__).parents[2] / "certify" / "check.py"
spec = importlib.util.spec_from_file_location("check", CHECKER)
assert spec is not None
assert spec.loader is not None
check = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check)

OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all")
TRAFFIC = ("uniform", "bit_complement", "bit_reversal", "perfect_shuffle", "transpose", "tornado", "neighbour")
LISTED = (("up_down", "none", 1), ("minimal", "hops", 8), ("romm", "phases_dateline", 4), ("valiant", "hops", 16))


def networks() -> Iterator[str]:
    """Small networks of all kinds, without end."""
    yield from ("ccc(n=3)", "rtt(a=3)", "pdtt(a=2)", "illiac(k=3)", "directed_torus(k=4, n=2)", "hypercube(n=4)")
    for nodes in range(5, 64):
        for first in range(1, (nodes + 1) // 2):
            if nodes % first or first == 1:
                yield from (f"circulant(n={nodes}, steps=[1, {s}])" for s in range(first + 1, nodes // 2 + 1))
        for x in range(2, nodes):
            if nodes % x == 0 and x * x <= nodes:
                sides = f"radices=[{x}, {nodes // x}]"
                yield from (f"torus({sides})", f"mesh({sides})", f"torus({sides}, directed=true)")
                yield from (f"twisted_torus({sides}, twists={{1: {{0: {twist}}}}})" for twist in range(1, x))


def certificates(kind: str) -> Iterator[str]:
    """Certificates of a kind, of rows that differ."""
    if kind == "exhaustion":
        for nodes in range(2, 10_000):
            yield from (ts.best(nodes=nodes, dimensions=n).certificate for n in (1, 2, 3) if n < 3 or nodes < 100)
        return
    for spelling in dict.fromkeys(networks()):
        network = ts.network(spelling)
        for ask in ASKED[kind]:
            try:
                yield from ask(network).splitlines()
            except BadInput:
                continue


def _collective(operation: str) -> Callable[[Any], str]:
    return lambda network: network.collective(operation, algorithms="optimum").certificate


def _capacity(traffic: str, routes: str) -> Callable[[Any], str]:
    return lambda network: network.capacity(traffic, routes=routes).certificate


def _deadlock(routing: str, rule: str, channels: int) -> Callable[[Any], str]:
    return lambda network: network.deadlock(routing, rule, channels).certificate


def _static(line: int) -> Callable[[Any], str]:
    return lambda network: network.static(measures=["distances"]).certificate.splitlines()[line]


def _guarantee(kind: str) -> Callable[[Any], str]:
    def lines(network: Any) -> str:
        proofs = network.capacity("worst").certificate.splitlines()
        return "\n".join(line for line in proofs if json.loads(line)["kind"] == kind)

    return lines


GUARANTEES = ("two_phase", "oblivious", "permutation")
ORDERED = product(
    [f"dimension_order(tie={tie})" for tie in ("split", "positive", "sign")], ("none", "dateline"), (1, 2)
)
ASKED: dict[str, list[Callable[[Any], str]]] = {
    "collective": [_collective(operation) for operation in OPERATIONS],
    "capacity": [_capacity(traffic, routes) for traffic in TRAFFIC for routes in ("all", "minimal")],
    "bisection": [_static(1)],
    "symmetry": [_static(0)],
    "deadlock": [_deadlock(*asked) for asked in chain(ORDERED, LISTED)],
    **{kind: [_guarantee(kind)] for kind in GUARANTEES},
}


def signed(content: dict[str, Any]) -> str:
    """A certificate with the right digest: whoever forges one can compute it, too."""
    version = [content["version"]] if "version" in content else []
    parts = [*version, content.get("kind"), content.get("claim"), content.get("proof")]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    return json.dumps(content | {"digest": digest})


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Ways to everything in a certificate."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        yield (*way, key)
        yield from places(part, (*way, key))


def altered(text: str, way: tuple[Any, ...], draw: random.Random) -> dict[str, Any] | None:
    """A certificate with another value at a place; None where the draw leaves it as it is."""
    content = json.loads(text)
    before = copy.deepcopy(content)
    owner = content
    for key in way[:-1]:
        owner = owner[key]
    key, value = way[-1], owner[way[-1]]
    if isinstance(value, int):
        owner[key] = draw.choice([value + 1, value - 1, -value, value + draw.randrange(2, 9), str(value), float(value)])
    elif isinstance(value, str):
        digits = [i for i, letter in enumerate(value) if letter.isdigit()]
        place = draw.choice(digits) if digits else 0
        owner[key] = draw.choice(
            [value[:place] + draw.choice("0123456789") + value[place + 1 :], value + " ", "", None]
        )
    elif isinstance(value, list) and value:
        place = draw.randrange(len(value))
        owner[key] = draw.choice([value[:place] + value[place + 1 :], [*value, value[place]], value[::-1], None, []])
    else:
        owner[key] = draw.choice([0, "", {}, []])
    if draw.random() < 0.05:
        owner.pop(key)
    return None if content == before else content


def is_refused(text: str) -> bool:
    try:
        check.check(text)
    except check.Invalid:
        return True
    return False


def shown(kind: str, rows: int, draw: random.Random) -> dict[str, Any]:
    """How many certificates were valid, how many altered ones refused; the checker's seconds, of the slowest too."""
    found: dict[str, Any] = {"kind": kind, "rows": 0, "valid": 0, "refused": 0, "other_claims": 0, "bytes": 0}
    seconds = [0.0]
    for text in islice(certificates(kind), rows):
        start = time.process_time()
        found["valid"] += not is_refused(text)
        seconds.append(time.process_time() - start)
        content = None
        while content is None:
            content = altered(text, draw.choice(list(places(json.loads(text)))), draw)
        found["refused"] += is_refused(json.dumps(content))
        claim = json.loads(text)["claim"]
        other = content.get("claim") != claim and not is_refused(signed(content))
        harmless = other and content["claim"] | {"virtual_channels": 0} == claim | {"virtual_channels": 0}
        found["other_claims"] += other and not harmless
        found["rows"] += 1
        found["bytes"] += len(text)
    return found | {"seconds": round(sum(seconds), 2), "slowest": round(max(seconds), 3)}


def main() -> bool:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("kinds", nargs="*", default=list(check.KINDS))
    options, right = parser.parse_args(), True
    for kind in options.kinds:
        found = shown(kind, options.rows, random.Random(kind))
        right &= found["rows"] == found["valid"] == found["refused"] == options.rows and not found["other_claims"]
        print(json.dumps(found), flush=True)
    return not right


if __name__ == "__main__":
    raise SystemExit(main())
