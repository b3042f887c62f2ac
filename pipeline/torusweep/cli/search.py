"""torusweep search: a graph of a size and degree with short distances, by simulated annealing."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click

from torusweep.cli import options
from torusweep.cli.progress import share_progress
from torusweep.cli.search_text import print_search
from torusweep.errors import BadInput
from torusweep.graph_search.run import search as run_search
from torusweep.graph_search.wanted import OBJECTIVES, Wanted


def _grid(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,6})x(\d{1,6})", text)
    if found is None:
        raise BadInput(f"--grid: expected columns x rows, as in 16x16, got '{text}'")
    return int(found[1]), int(found[2])


@contextmanager
def _stopping(progress: Callable[[float], None]) -> Iterator[Callable[[float], None]]:
    """The same, which ends the search after a Ctrl-C; a second one ends it at once.

    An exception in the midst of compiling would be lost: compilers call back, and drop what is raised there.
    """
    signals: list[int] = []

    def interrupted(number: int, frame: FrameType | None) -> None:
        signals.append(number)
        if len(signals) > 1:
            raise KeyboardInterrupt

    def checked(share: float) -> None:
        if signals:
            raise KeyboardInterrupt
        progress(share)

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield checked
    finally:
        signal.signal(signal.SIGINT, before)


@click.command()
@click.option("--nodes", type=int, required=True, help="Nodes of the graph.")
@click.option("--degree", type=int, required=True, help="Most links of a node.")
@click.option(
    "--minimise",
    "--minimize",
    type=click.Choice(OBJECTIVES),
    default="mean_distance",
    show_default=True,
    help="What should be small.",
)
@click.option(
    "--symmetry",
    type=int,
    default=1,
    show_default=True,
    help="Only graphs that a rotation by 1/SYMMETRY of the nodes leaves as they are: fewer graphs, faster moves.",
)
@click.option("--grid", metavar="COLUMNSxROWS", help="Places on which the nodes stand, as in 16x16; with --max-wire.")
@click.option("--max-wire", type=int, help="Longest link, in places along both axes.")
@click.option("--seconds", type=options.Real(0, 10**6), help="Time to search.  [default: 60, unless --moves]")
@click.option(
    "--moves", type=click.IntRange(1), help="Moves of each chain, instead: the result is the same on any machine."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the random numbers.")
@click.option("--chains", type=int, help="Searches from graphs of their own.  [default: one for each core]")
@click.option(
    "--results",
    callback=options.possible_folder,
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("results/search"),
    show_default=True,
    help="Folder of the graphs, checkpoints and the table search.",
)
@click.option(
    "--backend",
    type=click.Choice(["auto", "numpy", "numba", "cupy"]),
    default="auto",
    show_default=True,
    help="What computes. auto: Numba; a GPU for 8 chains or more a core, of 256 nodes or more. Results are the same.",
)
@options.json_output
def search(
    minimise: str,
    grid: str | None,
    seconds: float | None,
    moves: int | None,
    chains: int | None,
    results: Path,
    backend: str,
    as_json: bool,
    **given: Any,
) -> None:
    """Search for a graph with short distances: any graph of this size and degree, not only lattices.

    Simulated annealing exchanges pairs of links, from random regular graphs. The search ends with "optimal" where a
    graph attains the bound that holds for all graphs: Moore's for the diameter, Cerf's for the mean distance. A search
    that was stopped goes on with the same command; one that came to its end goes on for as long again.

    \b
    Examples:
      torusweep search --nodes 256 --degree 8 --symmetry 16
      torusweep search --nodes 20 --degree 5 --minimise diameter
      torusweep search --nodes 512 --degree 4 --symmetry 16 --moves 1000000 --seed 2 --chains 2
      torusweep search --nodes 256 --degree 6 --grid 16x16 --max-wire 4 --symmetry 4
      torusweep query "SELECT * FROM search ORDER BY nodes" --results results/search
    """
    cores = len(os.sched_getaffinity(0))
    if seconds is not None and moves is not None:
        raise BadInput("expected --seconds or --moves, got both: leave one out")
    wanted = Wanted(objective=minimise, chains=cores if chains is None else chains, grid=_grid(grid), **given)
    wanted.check()
    try:
        with share_progress("searched") as shown, _stopping(shown) as progress:
            row = run_search(
                wanted,
                results,
                seconds=60.0 if moves is None and seconds is None else seconds,
                moves=moves,
                threads=cores,
                backend=backend,
                progress=progress,
            )
    except KeyboardInterrupt:
        raise KeyboardInterrupt("the same command goes on with the search") from None
    if as_json:
        options.print_json(row)
    else:
        print_search(row)
