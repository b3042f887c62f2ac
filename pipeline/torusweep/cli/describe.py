"""Commands about one network: topologies, describe."""

from __future__ import annotations

import click

from torusweep.cli import options


def complete_topology(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from torusweep.networks.families import FAMILIES

    return [f"{name}(" for name in FAMILIES if name.startswith(incomplete)]


@click.command()
@click.argument("name", required=False)
@options.json_output
def topologies(name: str | None, as_json: bool) -> None:
    """List the networks that can be asked for, with parameters, constraints and sources; NAME shows one in full.

    \b
    Examples:
      torusweep topologies
      torusweep topologies mh3dt
      torusweep topologies --json | jq '.[].name'
    """
    import inspect

    from torusweep.errors import BadInput, nearest
    from torusweep.networks.families import FAMILIES, parameters

    if name is not None and name not in FAMILIES:
        raise BadInput(f"unknown topology '{name}'{nearest(name, FAMILIES)}; 'torusweep topologies' lists all")
    chosen = [name] if name else list(FAMILIES)
    entries = []
    for family in chosen:
        text = inspect.getdoc(FAMILIES[family]) or ""
        described = [
            {
                "name": parameter.name,
                "required": parameter.required,
                "default": parameter.default,
                "range": parameter.whole.range() if parameter.whole else None,
                "meaning": parameter.meaning or None,
            }
            for parameter in parameters(family)
        ]
        entries.append({"name": family, "summary": text.splitlines()[0], "text": text, "parameters": described})
    if as_json:
        options.print_json(entries)
        return
    from torusweep.cli.describe_text import print_families

    print_families(entries, in_full=name is not None)


@click.command()
@click.argument("topology", shell_complete=complete_topology)
@options.json_output
@options.backend
@options.symmetry
@click.option(
    "--fault-nodes",
    type=click.IntRange(min=1),
    help="Also the fault diameter: the worst diameter left by this many faulty nodes.",
)
@click.option("--no-picture", is_flag=True, help="Only the table.")
def describe(
    topology: str, as_json: bool, backend: str, symmetry: str, fault_nodes: int | None, no_picture: bool
) -> None:
    """Static properties of TOPOLOGY: size, distances, connectivity, bisection, symmetry; and a small picture.

    \b
    Examples:
      torusweep describe "rtt(a=4)"
      torusweep describe "torus(k=100, n=3)" --json | jq .mean_distance
      torusweep describe "faulty(torus(k=8, n=3), links=4, seed=1)"
      torusweep describe "pruned_torus(k=4, n=3)" --fault-nodes 3
    """
    from torusweep_kernels.backend import device_name, resolve

    from torusweep.networks.families import build
    from torusweep.stages.static import static_record
    from torusweep.sweep.costs import estimates, soonest
    from torusweep.sweep.points import Point

    network = build(topology)
    running = resolve(
        soonest(backend, estimates([Point(network.spelling, fault_nodes)]), use_symmetry=symmetry == "on")
    )
    record = static_record(network, fault_nodes=fault_nodes, backend=running, use_symmetry=symmetry == "on")
    if as_json:
        options.print_json(record)
        return
    from torusweep.cli.describe_text import print_description

    print_description(record, network, picture=not no_picture, computed_by=f"{running} on {device_name(running)}")
