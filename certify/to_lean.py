#!/usr/bin/env python3
"""Write a certificate of capacity as a linear program and its solution, for Lean's checker lp-verify, or for Coq.

    python certify/to_lean.py proof.json > Capacity.lean
    python certify/to_lean.py proof.json --coq > Capacity.v

The program is about orbits: a flow to each root on each arc, and the load θ that no orbit of channels exceeds.
check.py proves that it stands for the whole network; Lean or Coq proves that 1 / θ is its optimum. The
certificate's two bounds must be equal.
"""

import json
import sys
from fractions import Fraction

import check


def program(text):
    """Return (claim, costs, entries (row, column, value), row bounds, flows, multipliers of rows, of columns)."""
    check.check(text)
    given = json.loads(text)
    claim, proof = given["claim"], given["proof"]
    check.expect(given["kind"] == "capacity" and claim["routes"] == "all", "expected a capacity over all routes")
    check.expect(claim["at_least"] == claim["at_most"], "expected equal bounds")
    net = check.network_of(claim["topology"])
    demand, kept = check.traffic_of(net, claim["traffic"])
    orbits, scale = check.Orbits(net, proof["generators"], kept), proof["scale"]
    arcs, firsts = sorted(net.arcs), sorted({orbits.arc[arc][0] for arc in net.arcs})
    length = dict.fromkeys(firsts, 0) | {(u, v): much for u, v, much in proof["lengths"]}
    room = {first: sum(links for arc, links in net.arcs.items() if orbits.arc[arc][0] == first) for first in firsts}
    whole, theta = sum(room[first] * length[first] for first in firsts), len(arcs) * len(proof["roots"])
    entries, bounds, flows, rows, columns = [], [], [], [], []
    for k, root in enumerate(proof["roots"]):
        size, away = orbits.node[root][1], net.distances(root, lambda u, v: length[orbits.arc[u, v][0]])
        flow = {(u, v): Fraction(flits, scale) for u, v, flits in proof["flows"][k]}
        place = {v: len(bounds) + i for i, v in enumerate(v for v in range(net.n) if v != root)}
        bounds += [(Fraction(demand(v, root)),) * 2 for v in place]
        rows += [Fraction(size * away[v], whole) for v in place]
        for a, (u, v) in enumerate(arcs):
            entries += [(place[x], k * len(arcs) + a, sign) for x, sign in ((u, 1), (v, -1)) if x != root]
            flows.append(flow.get((u, v), Fraction(0)))
            columns.append(Fraction(size * (length[orbits.arc[u, v][0]] - away[u] + away[v]), whole))
    for i, first in enumerate(firsts, len(bounds)):
        own = [a for a, arc in enumerate(arcs) if orbits.arc[arc][0] == first]
        entries += [(i, k * len(arcs) + a, orbits.node[r][1]) for k, r in enumerate(proof["roots"]) for a in own]
        entries.append((i, theta, -room[first]))
        rows.append(-Fraction(length[first], whole))
    bounds += [(None, Fraction(0))] * len(firsts)
    costs = [0] * theta + [1]
    return claim, costs, entries, bounds, [*flows, 1 / Fraction(claim["at_most"])], rows, [*columns, Fraction(0)]


def lean(text):
    """Return the certificate as a file of Lean."""
    claim, costs, entries, bounds, primal, rows, columns = program(text)
    vector = lambda values: "#v[" + ", ".join(f"({value})" for value in values) + "]"  # noqa: E731
    ends = lambda low, high: f"({'none' if low is None else f'some ({low})'}, some ({high}))"  # noqa: E731
    size = f"{len(bounds)} {len(costs)}"
    return f"""import LPVerify
open LP LP.Verify

-- {json.dumps(claim)}: the optimum is 1 / {claim["at_most"]}
def program : Problem {size} :=
  {{ c := {vector(costs)}
    a := #[{", ".join(f"({row}, {column}, ({value}))" for row, column, value in entries)}]
    rowBounds := #v[{", ".join(ends(*pair) for pair in bounds)}]
    colBounds := #v[{", ".join(["(some 0, none)"] * len(costs))}] }}

def proof : Certificate {size} :=
  {{ primal := some {vector(primal)}
    dual := some {{ rowLower := {vector(max(y, 0) for y in rows)}
                   rowUpper := {vector(max(-y, 0) for y in rows)}
                   colLower := {vector(columns)}
                   colUpper := {vector([0] * len(costs))} }}
    ray := none }}

#eval match verifyOutcome {{}} none program
    {{ status := .optimal, objective := none, certificate := proof, log := "" }} with
  | .optimal _ _ => "optimal, with a proof"
  | _ => "refused"
"""


def coq(text):
    """Return the certificate as a file of Coq: in every solution θ is at least the optimum, and one attains it.

    The multipliers prove the first part: it is the sum of the rows times the multipliers, so nothing is searched.
    """
    claim, _, entries, bounds, primal, rows, columns = program(text)
    theta, number = len(primal) - 1, lambda value: "({} # {})".format(*Fraction(value).as_integer_ratio())
    sums = [" + ".join(f"{number(value)} * x{c}" for row, c, value in entries if row == i) for i in range(len(bounds))]
    conditions = [f"{left} {'==' if low == high else '<='} {number(high)}" for left, (low, high) in zip(sums, bounds)]
    names = " ".join(f"x{c}" for c in range(theta + 1))
    signs = " /\\ ".join(f"0 <= x{c}" for c in range(theta + 1))
    steps = [f"({number(y)} * ({left}))" for y, left in zip(rows, sums) if y]
    steps += [f"({number(y)} * x{c})" for c, y in enumerate(columns) if y]
    return f"""From Coq Require Import QArith Lqa.
Open Scope Q_scope.

(* {json.dumps(claim)}: the optimum is 1 / {claim["at_most"]} *)
Definition program ({names} : Q) : Prop :=
  {signs} /\\
  {(" /" + chr(92) + chr(10) + "  ").join(conditions)}.

Theorem at_least : forall {names}, program {names} -> {number(primal[-1])} <= x{theta}.
Proof.
  unfold program. intros. decompose [and] H.
  assert (x{theta} == {" + ".join(steps)}) as sum by ring.
  lra.
Qed.

Theorem attained : program {" ".join(map(number, primal))}.
Proof. unfold program. repeat split; vm_compute; (reflexivity || discriminate). Qed.

Print Assumptions at_least.
Print Assumptions attained.
"""


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print((coq if "--coq" in sys.argv[2:] else lean)(file.readline()), end="")
