"""The question `search`: a graph of a given size and degree with short distances."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, Literal

from rich.console import Console
from rich.text import Text

from torusweep.errors import BadInput
from torusweep.networks.topology import Meaning, Number, Whole
from torusweep.quantities import counted
from torusweep.questions.answer import Record
from torusweep.questions.console import print_heading, print_note, print_rows
from torusweep.questions.how import How, cores
from torusweep.questions.parameters import Typed
from torusweep.questions.question import Askable
from torusweep.questions.search.columns import SEARCH
from torusweep.questions.search.run import search as run_search
from torusweep.questions.search.wanted import Wanted
from torusweep.questions.stage import under

GOALS = {"mean_distance": "mean distance", "diameter": "diameter"}
SECONDS = 60.0
SYMMETRY = Whole(
    1, "search only graphs that rotating the nodes by 1/SYMMETRY leaves unchanged: fewer graphs, faster moves"
)
GRID = Meaning("columns x rows of the grid on which nodes are placed, as in 16x16; needs a max_wire")


class FoundGraph(Record):
    """The best graph of a search and the bounds: a row of the table `search`. `topology` is the graph's spelling."""

    columns = SEARCH
    main = (
        *("nodes", "degree", "symmetry", "grid", "max_wire", "diameter", "diameter_bound", "mean_distance"),
        *("mean_distance_bound", "objective", "gap", "optimal", "moves", "chains", "seed"),
    )

    def print(self, console: Console, computed_by: str) -> None:
        """Print the graph's spelling, whether it is optimal, and its distances with their bounds."""
        row = self.record
        print_heading(console, row["topology"])
        console.print(Text(_verdict(row)))
        distinct = row["mean_distance_bound"] * row["nodes"] / (row["nodes"] - 1)
        lines = [
            {"name": "diameter", "found": row["diameter"], "bound": row["diameter_bound"]},
            {"name": "mean distance", "found": row["mean_distance"], "bound": row["mean_distance_bound"]},
            {"name": "between distinct nodes", "found": row["mean_distance_distinct"], "bound": distinct},
        ]
        console.print()
        print_rows(console, lines, {"name": "", "found": "found", "bound": "bound"}, left=("name",))
        chains = f"best of {counted(row['chains'], 'chain')}" if row["chains"] > 1 else "one chain"
        moves = counted(row["moves"], "move")
        print_note(console, f"{moves}, seed {row['seed']}, {chains}. No graph is below the bounds.")


def _verdict(row: dict[str, Any]) -> str:
    goal = GOALS[row["objective"]]
    wires = "" if row["max_wire"] is None else f" with links of at most {counted(row['max_wire'], 'place')}"
    if row["optimal"]:
        return f"optimal: no graph of {row['nodes']:,} nodes and degree {row['degree']}{wires} has a smaller {goal}"
    return f"best found: its {goal} is {row['gap']:.2%} above the bound of all graphs{wires}"


def search(
    how: How,
    *,
    nodes: Annotated[int, Whole(3, "number of nodes", 2**14)],
    degree: Annotated[int, Whole(2, "greatest number of links of a node", 64)],
    minimise: Annotated[
        Literal["mean_distance", "diameter"], Meaning("objective to minimise"), Typed(also="minimize")
    ] = "mean_distance",
    symmetry: Annotated[int, SYMMETRY] = 1,
    grid: Annotated[str, GRID] | None = None,
    max_wire: Annotated[int, Whole(1, "greatest length of a link in places, along both axes; 1 for neighbours only")]
    | None = None,
    seconds: Annotated[float, Number(0, "seconds to search; 60 by default without moves", 10**6)] | None = None,
    moves: Annotated[int, Whole(1, "moves of each chain, instead of seconds: gives the same graph on every machine")]
    | None = None,
    seed: Annotated[int, Whole(0, "seed of the random numbers", 2**63 - 1)] = 1,
    chains: Annotated[int, Whole(1, "number of chains, which start from different graphs; by default one a core", 256)]
    | None = None,
    results: Annotated[Path | str, Meaning("folder of the graphs, checkpoints and the table search")] = Path(
        "results/search"
    ),
) -> FoundGraph:
    """Search for a graph with short distances among all graphs of a size and degree, not only lattices.

    Simulated annealing starts from random regular graphs and exchanges pairs of links. The search ends with "optimal"
    if a graph attains the bound of all graphs: Moore's for the diameter, Cerf's for the mean distance. If the same
    command is repeated, an interrupted search is completed, and a completed search continues for the same time again.
    A GPU is used for graphs of at least 256 nodes, and at least 8 chains for each core.

    >>> import torusweep as ts
    >>> found = ts.search(nodes=10, degree=3, symmetry=5, moves=100_000, chains=1)
    >>> found.optimal, found.diameter
    (True, 2)
    """
    if seconds is not None and moves is not None:
        with under("moves"):
            raise BadInput("expected the time to search or its moves, got both; leave one out")
    if Path(results).is_file():
        with under("results"):
            raise BadInput(f"expected a folder, got the file {results}; choose another")
    places = None if grid is None else _places(grid)
    wanted = Wanted(nodes, degree, minimise, symmetry, seed, cores() if chains is None else chains, places, max_wire)
    wanted.check()
    try:
        with how.progress.share("searched") as shown, _stopping(shown or (lambda share: None)) as progress:
            row = run_search(
                wanted,
                Path(results),
                seconds=SECONDS if moves is None and seconds is None else seconds,
                moves=moves,
                threads=cores(),
                backend=how.backend,
                progress=progress,
            )
    except KeyboardInterrupt:
        raise KeyboardInterrupt("the same command goes on with the search") from None
    return FoundGraph(row)


def _places(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,6})x(\d{1,6})", text)
    if found is None:
        with under("grid"):
            raise BadInput(f"expected columns x rows, as in 16x16, got '{text}'")
    return int(found[1]), int(found[2])


@contextmanager
def _stopping(progress: Callable[[float], None]) -> Iterator[Callable[[float], None]]:
    """Yield a progress function that raises KeyboardInterrupt after a Ctrl-C. A second Ctrl-C raises it at once.

    An exception during compilation would be lost, because compilers drop exceptions that are raised in callbacks.
    Outside the main thread, which alone gets signals, the function is yielded unchanged.
    """
    if threading.current_thread() is not threading.main_thread():
        yield progress
        return
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


class SearchQuestion(Askable):
    ask = staticmethod(search)
    command = "search"
    about = ""
    how = ("backend",)
    examples = (
        "search --nodes 256 --degree 8 --symmetry 16",
        "search --nodes 20 --degree 5 --minimise diameter",
        "search --nodes 512 --degree 4 --symmetry 16 --moves 1000000 --seed 2 --chains 2",
        "search --nodes 256 --degree 6 --grid 16x16 --max-wire 4 --symmetry 4",
        'query "SELECT * FROM search ORDER BY nodes" --results results/search',
    )


QUESTION = SearchQuestion()
