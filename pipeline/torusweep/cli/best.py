"""torusweep best: the best networks of a size, with proof."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
import pyarrow as pa

from torusweep.cli import options
from torusweep.cli.best_text import print_best
from torusweep.cli.progress import share_progress
from torusweep.errors import BadInput
from torusweep.screening.atlas import screened_before
from torusweep.screening.best import OBJECTIVES, best_lattices, objectives
from torusweep.screening.spaces import Circulants, Lattices, Space, screen_space


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
      torusweep best --nodes 221 --circulant-steps 2 --minimise diameter,mean_distance
      torusweep best --nodes 200 --dimensions 2 --minimise mean_distance --maximise saturation_load --json
    """
    chosen = objectives(options.listed(minimise), options.listed(maximise))
    space = _space(nodes, dimensions, circulant_steps)
    space.check()
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
    if as_json:
        options.print_json(
            {
                **found._asdict(),
                "space": str(space),
                "objectives": [{"column": name, "best": "least" if sign > 0 else "greatest"} for name, sign in chosen],
            }
        )
    else:
        print_best(found)
