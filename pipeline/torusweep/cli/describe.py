"""torusweep describe: static properties of one network, and a picture."""

from __future__ import annotations

import click
from torusweep_kernels.backend import backend_of_calls, backends_and_device, backends_run, resolved_backends

from torusweep.cli import options
from torusweep.cli.describe_text import print_description
from torusweep.networks.families import build
from torusweep.questions.stage import Network
from torusweep.stages.static import static_record
from torusweep.stages.static.stage import StaticRequest, choose_backend


@click.command()
@options.topology
@options.json_output
@options.backend
@options.symmetry
@click.option(
    "--fault-nodes",
    type=click.IntRange(min=1),
    help="Also compute the fault diameter: the largest diameter that this many faulty nodes can leave.",
)
@click.option("--no-picture", is_flag=True, help="Print the table only.")
def describe(
    topology: str, as_json: bool, backend: str, symmetry: str, fault_nodes: int | None, no_picture: bool
) -> None:
    """Static properties of TOPOLOGY: size, distances, connectivity, bisection, symmetry; and a small picture.

    \b
    Examples:
      torusweep describe "rtt(a=4)"
      torusweep describe "torus(k=100, n=3)" --json | jq .mean_distance
      torusweep describe my.graphml
      torusweep describe "faulty(torus(k=8, n=3), links=4, seed=1)"
      torusweep describe "pruned_torus(k=4, n=3)" --fault-nodes 3
    """
    network = build(topology)
    use_symmetry = symmetry == "on"
    request = StaticRequest(fault_nodes)
    chosen = backend_of_calls(choose_backend(backend, Network(topology), request, use_symmetry=use_symmetry))
    with resolved_backends() as resolved:
        record = static_record(network, fault_nodes=fault_nodes, backend=chosen, use_symmetry=use_symmetry)
    if as_json:
        options.print_json(record)
    else:
        names, device = backends_and_device(backends_run(chosen, resolved))
        print_description(record, network, picture=not no_picture, computed_by=f"{names} on {device}")
