"""Every question with every member of the tables that its parameters name, each on a small network that suits it.

A new routing, algorithm, workload, model, measure or rule is asked about without being listed here: the tables are
those of the product. Only what no table says stands in these: values that must be given, and files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.csv
from torusweep.library.network import Network
from torusweep.networks.families import build
from torusweep.networks.topology import Topology
from torusweep.questions import QUESTIONS, question_named
from torusweep.questions.how import How
from torusweep.questions.stage import LazyNetwork

from tests.workloads import chakra_files

HOW = How("auto")
# the first that suits a case is asked about: links of several classes, then what some routing needs
NETWORKS = (
    "torus(radices=[4, 3])",
    "mesh(radices=[2, 3])",
    "torus(k=4, n=2)",
    "hypercube(n=3)",
    "lattice(matrix=[[4, 1], [0, 3]])",
    "rtt(a=2)",
    "rtt(a=4)",
    "mesh(k=4, n=2)",
    "dragonfly(a=2, p=1, h=1)",
    "xgft(down=[2, 2], up=[1, 2])",
    "tesh(m=2, levels=2, q=0)",
    "mh3dt(m=3, n=2, levels=2, q=0)",
    "pdtt(a=4)",
    "circulant(n=8, steps=[1, 3])",
    "pruned_torus(k=4, n=3)",
    "mesh(k=5, n=1)",
)
# what must be given, beside what a member of a table needs
REQUIRED: Mapping[str, Mapping[str, Any]] = {
    "collective": {"operation": "all_gather"},
    "simulate": {"load": (0.2,), "cycles": 300},
    "availability": {"links": 1},
    "place": {"axes": "tp=4,dp=4"},
}
TASKS = [[0, 4, 1], [0, 0, 2], [3, 0, 0]]
# values of parameters that no table names
GIVEN: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "describe": ({"fault_nodes": 1},),
    "loads": (
        {"method": "monte-carlo", "packets": 200},
        {"bounds": True},
        {"sends": "40 Gb/s"},
        {"routing": "weighted(by=latency)"},
    ),
    "capacity": ({"gap": 0.5},),
    "deadlock": ({"layers": True},),
    "collective": ({"bytes": "1MiB"}, {"bytes": "1KiB"}, {"simulate": 4}, {"bytes": "1MiB", "bandwidth": "10GB/s"}),
    "place": (
        {"axes": None, "tasks": TASKS, "restarts": 0},
        {"axes": None, "tasks": TASKS, "least": "load", "restarts": 0},
        {"bandwidth": "10GB/s", "latency": "2us"},
    ),
    "availability": ({"links": (), "routers": 1},),
    "simulate": (
        {"load": (), "saturation": True, "precision": 0.5},
        {"load": (), "packets_each": 2, "cycles": None},
        {"packet_mix": "1:0.5,5:0.5"},
    ),
    "cost": ({"networks": 2},),
}
# what goes with a parameter, or with a member
BESIDE: Mapping[str, Mapping[str, Any]] = {
    "workload": {"load": (), "cycles": None},
    "placement": {"load": (), "cycles": None, "workload": "ring_all_reduce(flits=64)"},
    "recursive_doubling": {"operation": "all_reduce"},
    "trees_in_network": {"operation": "all_reduce_in_network"},
    "tree": {"operation": "broadcast"},
    "bursts": {"cycles": 2000},
    "time_unit": {"cycles": 2000},
    "monte-carlo": {"packets": 200},
    "multicast": {"routing": "dimension_order"},
    "multicast_all": {"routing": "dimension_order"},
    "clustering": {"allow_deadlock": True},
    "adaptive": {"virtual_channels": 3, "vc_rule": "dateline"},
    "dateline": {"routing": "dimension_order", "virtual_channels": 2},
    "phases": {"routing": "hierarchical", "virtual_channels": 4},
    "phases_dateline": {"routing": "hierarchical", "virtual_channels": 4},
    "r05_wrap": {"routing": "dimension_order", "virtual_channels": 2},
    "r05_phases": {"routing": "hierarchical", "virtual_channels": 2},
    "hops": {"virtual_channels": 8},
    "class_hops(link_class=0)": {"virtual_channels": 8},
}
OF_RULE = {
    "bubble": {"routing": "dimension_order", "switching": "virtual-cut-through"},
    "table": {"routing": "table", "virtual_channels": 2},
}
ARGUMENTS = {
    "class_hops": "class_hops(link_class=0)",
    "is": "is(keys=4096)",
    "ft": "ft(nx=4, ny=4, nz=4)",
    "mg": "mg(side=8)",
    "lu": "lu(side=4)",
    "cg": "cg(order=64)",
    "ring_all_reduce": "ring_all_reduce(flits=64)",
}
# members that a question refuses on every network
REFUSED = dict.fromkeys(("capacity", "deadlock", "simulate", "cost"), ("multicast", "multicast_all"))
ALONE = ("model", "wire_delay", "radices", "family", "each")  # parameters of design spaces, not of networks


class Case(NamedTuple):
    """A question with values of its parameters."""

    question: str
    values: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.question}({', '.join(f'{name}={value}' for name, value in self.values.items())})"

    @property
    def asked(self) -> Any:
        return question_named(self.question)

    def ask(self, topology: Topology) -> Any:
        """The answer. Raises BadInput."""
        values = dict(self.values)
        others = [replace(topology, spelling=f"{topology.spelling} again")] * (values.pop("networks", 1) - 1)
        several = [*map(LazyNetwork.of, [topology, *others])]
        return self.asked.answer(several if self.asked.about == "networks" else topology, HOW, values)


def about_networks() -> list[str]:
    """The names of the questions that are about networks."""
    return [name for name in QUESTIONS if question_named(name).about]


def cases(question: str) -> Iterator[Case]:
    """A question with each member of each table that its parameters name, and each of their choices.

    Files that it names are those of `write_files`.
    """
    base = dict(REQUIRED.get(question, {}))
    yield Case(question, base)
    for more in GIVEN.get(question, ()):
        yield Case(question, base | more)
    known = {one.name for one in question_named(question).parameters}
    for one in question_named(question).parameters:
        if question in ("latency", "screen") and one.name in ALONE:
            continue
        for name in sorted({*one.names, *one.choices}.difference(REFUSED.get(question, ()))):
            beside = {**BESIDE.get(one.name, {}), **BESIDE.get(name, {})}
            beside |= OF_RULE.get(name, {}) if one.name == "vc_rule" else {}
            beside = {name: value for name, value in beside.items() if name in known}
            if question == "cost" and one.name in ("routing", "traffic"):
                beside["networks"] = 2
            value = spelled(one.name, name)
            yield Case(question, {**base, **_spelled(beside), one.name: (value,) if one.many else value})


def _spelled(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: spelled(name, value) if value == "table" else value for name, value in values.items()}


def spelled(parameter: str, name: str) -> str:
    """A member of a table as it is written, with what it needs."""
    files = {"demand": "demand.csv", "file": "messages.csv", "goal": "app.goal", "chakra": "t.0.et"}
    if parameter == "routing" and name == "table":
        return 'table(path="routes.csv")'
    if parameter in ("traffic", "workload") and name in files:
        return f'{name}(path="{files[name]}")'
    return ARGUMENTS.get(name, name) if parameter in ("workload", "vc_rule") else name


GOAL = """num_ranks 3
rank 0 {
l1: calc 100
l2: send 4096b to 1 tag 7
l2 requires l1
}
rank 1 {
r: recv 4096b from 0 tag 7
s: send 64b to 2
s requires r
}
rank 2 {
recv 64b from 1
}
"""


def write_files(folder: Path) -> None:
    """What the cases name: a routing of the first of NETWORKS, a demand, and messages in every format of workloads."""
    (folder / "messages.csv").write_text("message,source,destination,bytes\na,0,1,4096\nb,0,2,64\nc,1,2,640\n")
    (folder / "demand.csv").write_text("source,destination,demand\n0,1,3\n1,2,1\n2,4,1\n")
    (folder / "app.goal").write_text(GOAL)
    sends = chakra_files.node(1, chakra_files.SEND, comm_dst=1, comm_tag=0, comm_size=4096)
    takes = chakra_files.node(1, chakra_files.RECEIVE, comm_src=0, comm_tag=0, comm_size=4096)
    chakra_files.write(folder, [sends], [takes])
    pyarrow.csv.write_csv(Network(build(NETWORKS[0])).routes("dimension_order", "dateline", 2), folder / "routes.csv")
