"""torusweep best: the best networks of a size, with proof."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa

from torusweep import costs
from torusweep.cli import options
from torusweep.cli.best_text import print_best
from torusweep.cli.progress import share_progress
from torusweep.costs import canonical
from torusweep.costs.equal_cost import EQUAL
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions.stage import Options
from torusweep.screening.atlas import screened_before
from torusweep.screening.best import OBJECTIVES, best_lattices, objectives
from torusweep.screening.front import front
from torusweep.screening.spaces import Circulants, Lattices, Space, screen_space
from torusweep.stages.cost import AUTOMATIC, cost_record
from torusweep.stages.screen.network_row import network_row


def _complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in OBJECTIVES if name.startswith(incomplete)]


def _condition(where: str | None) -> Callable[[pa.Table], pa.Table]:
    """What keeps the rows that meet a condition."""
    if where is None:
        return lambda rows: rows
    # only a condition needs the database, which takes long to import
    from torusweep.results.query import matching

    return lambda rows: matching(rows, where)


def _space(nodes: int, dimensions: int | None, circulant_steps: int | None) -> Space:
    """The design space that the options name. Raises BadInput where they name two."""
    if circulant_steps is None:
        return Lattices(3 if dimensions is None else dimensions, nodes)
    if dimensions is not None:
        raise BadInput("expected --dimensions of lattices or --circulant-steps, got both; leave one out")
    return Circulants(circulant_steps, nodes)


@click.command()
@click.option("--nodes", type=int, required=True, help="Nodes of the network.")
@click.option(
    "--dimensions", type=int, help="Dimensions of the lattices, 1 … 5; a node has two links in each.  [default: 3]"
)
@click.option(
    "--circulant-steps",
    type=int,
    help="Compare only circulant graphs of so many steps, 1 … 5; a node has two links for each step.",
)
@click.option(
    "--minimise",
    "--minimize",
    multiple=True,
    shell_complete=_complete,
    help="What should be small, the most important first; separated by commas.  [default: mean_distance]",
)
@click.option(
    "--maximise", "--maximize", multiple=True, shell_complete=_complete, help="What should be great, after these."
)
@click.option("--where", help='An SQL condition on columns of the table screen, as in "degree = 6 AND diameter <= 8".')
@click.option(
    "--beside",
    multiple=True,
    metavar="TOPOLOGY",
    shell_complete=options.complete_from("torusweep.networks.families:FAMILIES", skip=0),
    help="Also show this network, of any family and size; may be repeated.",
)
@click.option(
    "--cost-model",
    shell_complete=options.complete_name("torusweep.costs:MODELS"),
    help="Also show what each network costs, what it carries for it, and the Pareto front: a name that "
    "'torusweep cost --models' lists, or a YAML file.",
)
@click.option("--show", type=click.IntRange(1), default=5, show_default=True, help="How many of the winners to show.")
@click.option(
    "--results",
    callback=options.possible_folder,
    type=click.Path(path_type=Path),
    help="Folder of a sweep whose table screen answers; a size that it lacks is computed.",
)
@click.option(
    "--backend",
    type=click.Choice(["auto", "numpy", "numba", "cupy"]),
    default="auto",
    show_default=True,
    help="What computes. auto: Numba. The results are the same.",
)
@options.json_output
def best(
    nodes: int,
    dimensions: int | None,
    circulant_steps: int | None,
    minimise: tuple[str, ...],
    maximise: tuple[str, ...],
    where: str | None,
    beside: tuple[str, ...],
    cost_model: str | None,
    show: int,
    results: Path | None,
    backend: str,
    as_json: bool,
) -> None:
    """The best network of a size among all lattices: tori, twisted tori, circulants, crystal lattices.

    Every Cayley graph of an abelian group with n generators is a lattice graph Zⁿ/L. All of them are compared, one of
    each class of lattices that differ only in the names and directions of the dimensions. So the winner is proved to
    be the best. Beside it stand the networks that people know at that size, and the bounds of all graphs of its degree.

    With --circulant-steps, only circulant graphs are compared: those of a cyclic group. All connected ones are, one of
    each class that multiplication by a number without a common factor with --nodes makes.

    \b
    Columns to minimise or maximise:
      mean_distance                      hops, a node to itself included
      diameter                           hops
      max_channel_load, saturation_load  uniform traffic over all shortest paths
      links, degree                      generators that vanish or coincide leave fewer than 2n links a node

    Several columns are compared in order: the second decides where the first is equal. The winner's spelling is one
    that describe, loads, deadlock, layout and simulate take.

    \b
    Examples:
      torusweep best --nodes 128
      torusweep best --nodes 512 --minimise diameter,mean_distance
      torusweep best --nodes 128 --maximise saturation_load --show 1
      torusweep best --nodes 128 --where "diameter <= 6" --maximise saturation_load
      torusweep best --nodes 256 --results results/atlas
      torusweep best --nodes 162 --cost-model 2014-besta --beside "slim_fly(q=9)" --beside "dragonfly(a=6, p=1, h=4)"
      torusweep best --nodes 221 --circulant-steps 2 --minimise diameter,mean_distance
      torusweep best --nodes 200 --dimensions 2 --minimise mean_distance --maximise saturation_load --json
    """
    chosen = objectives(options.listed(minimise), options.listed(maximise))
    space = _space(nodes, dimensions, circulant_steps)
    space.check()
    others = [network_row(build(spelling), Options(backend=backend)) for spelling in dict.fromkeys(beside)]
    model = None if cost_model is None else canonical(cost_model)
    if model is not None:
        costs.cost_model(model)  # what is wrong with it is said before the search
    parts = (screened_before(results, space) if results else None) or screen_space(space, backend=backend)
    with share_progress("lattices compared") as progress:
        found = best_lattices(
            space,
            chosen,
            parts=parts,
            keep=_condition(where),
            show=show,
            progress=progress,
        )
    shown = [*found.rows, *found.known, *others]
    if model is not None:
        _add_costs(shown, model)
    if as_json:
        options.print_json(
            {
                **found._asdict(),
                **({"beside": others} if others else {}),
                "space": str(space),
                "objectives": [{"column": name, "best": "least" if sign > 0 else "greatest"} for name, sign in chosen],
            }
        )
    else:
        print_best(found, others, priced=model)


def _add_costs(rows: list[dict[str, Any]], model: str) -> None:
    """Add to each row what its network costs, what it carries for it, and whether it is on the Pareto front of all.

    The front is that of the least cost per terminal, the least mean distance and the greatest saturation, at most 1.
    """
    values = []
    for row in rows:
        record = cost_record(build(row["topology"]), model, AUTOMATIC)
        price, carried = record["cost_per_terminal"], min(1.0, row["saturation_load"] or 0.0)
        row |= {"cost_per_terminal": price, "currency": record["currency"]}
        row["saturation_per_cost"] = carried / price if price else None
        values.append([price, row["mean_distance"], -round(carried, EQUAL)])
    compared = [place for place, row in enumerate(rows) if row["connected"]]
    best = {compared[place] for place in front(np.array([values[place] for place in compared]).reshape(-1, 3))}
    for place, row in enumerate(rows):
        row["on_front"] = place in best
