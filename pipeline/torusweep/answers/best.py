"""The question `best`: the best networks of a given size among all lattices or all circulants, with a proof."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.text import Text

from torusweep.answers.query import matching
from torusweep.errors import BadInput, one_line, printable
from torusweep.networks.families import build
from torusweep.networks.topology import Meaning, Topology, Whole
from torusweep.quantities import counted
from torusweep.questions.answer import Records, Row
from torusweep.questions.console import print_heading, print_note, print_rows
from torusweep.questions.cost.columns import EQUAL_COST
from torusweep.questions.cost.model import readable
from torusweep.questions.cost.packing import AUTOMATIC
from torusweep.questions.cost.record import cost_record
from torusweep.questions.cost.stage import COST_MODEL
from torusweep.questions.display import whole_text
from torusweep.questions.how import How
from torusweep.questions.loads.columns import EQUAL_LOAD_DECIMALS
from torusweep.questions.parameters import Spelled, Typed
from torusweep.questions.question import CERTIFICATE, Askable
from torusweep.questions.screen.before import (
    Before,
    computed_anew,
    is_data_set,
    meets_bounds,
    of_data_set,
    screened_before,
)
from torusweep.questions.screen.best import Best, Objective, best_lattices, objectives
from torusweep.questions.screen.bounds import front
from torusweep.questions.screen.certificate import check_exhaustion, exhaustion_certificate
from torusweep.questions.screen.columns import SCREEN
from torusweep.questions.screen.lattices import DIMENSIONS, NODES, STEPS
from torusweep.questions.screen.spaces import Circulants, Lattices, Space, screen_space
from torusweep.questions.screen.stage import QUESTION as SCREENED
from torusweep.questions.screen.stage import ScreenRequest
from torusweep.questions.stage import LazyNetwork, rows_of_list, under
from torusweep.tables.columns import Column, arrow_schema

OBJECTIVE = "torusweep.questions.screen.best:OBJECTIVES"
MINIMISE = Spelled(
    "columns to minimise, the most important first, separated by commas; mean_distance by default",
    table=OBJECTIVE,
    title="Columns to minimise or maximise",
    called=False,
)
MAXIMISE = Spelled("columns to maximise, after the columns to minimise", table=OBJECTIVE, called=False)
WHERE = Meaning('an SQL condition on columns of the table screen, as in "degree = 6 AND diameter <= 8"')
BESIDE = Spelled("also show this network, of any family and size", table="torusweep.networks.families:FAMILIES", skip=0)
PRICED_BY = replace(COST_MODEL, meaning="also show costs and the Pareto front, by this cost model or its YAML file")
RESULTS = Meaning(
    "folder of a sweep whose table screen answers, or folder or address of a data set (torusweep dataset), of"
    " which a few parts are read; a size that it lacks is computed"
)
DIGEST = Meaning(
    "sha256 of the data set's files.json, or of the table screen, known from elsewhere; others are refused"
)
NETWORK = Column("network", "string", "", "best | as good | a known network's name, as in cube | beside")
OF_PRICES = {
    "cost_per_terminal": "as in cost; null without a cost model",
    "currency": "of the costs",
    "saturation_per_cost": "saturation_load, at most 1, / cost_per_terminal",
    "on_front": "whether no other shown is as cheap, as near and saturates as late",
}
PRICES = tuple(one._replace(meaning=OF_PRICES[one.name]) for one in EQUAL_COST if one.name in OF_PRICES)

Shown = dict[str, tuple[str, Callable[[Any], str]]]  # column → its heading, and how a value is written
NUMBERS: Shown = {
    "mean_distance": ("mean distance", whole_text),
    "diameter": ("diameter", str),
    "saturation_load": ("saturation", "{:.6g}".format),
    "degree": ("degree", str),
}
PRICED: Shown = {
    "cost_per_terminal": ("a terminal", "{:,.0f}".format),
    "saturation_per_cost": ("for 1,000", lambda value: f"{1000 * value:.3g}"),
    "on_front": ("", lambda value: "front" if value else ""),
}
SHOWN = NUMBERS | PRICED
NOTES = (
    "\nMean distance over all pairs, a node to itself included. Saturation in flits per cycle per terminal:",
    "uniform traffic, spread equally over all shortest paths.",
)


def proof(found: Best) -> str:
    """Return the claim of a comparison and its extent, as one sentence.

    For example: 'proved: least diameter of all 127 lattices (38 classes); attained by 4 lattices (1 class)'. A data set
    whose digest was not given proves nothing: the sentence then begins 'best of this data set, sha256 …', unless the
    winner meets a bound of all lattices. With a condition, the sentence counts the classes that meet it.
    """
    goal = ", then ".join(map(str, found.objectives))
    thing = found.space.things
    compared, attained = _count(found.lattices, found.measured, thing), _count(found.attained, found.winners, thing)
    if found.source and found.proved:
        return f"proved: {goal} of all {thing}s of this size, whose bound it meets; {attained} in this {found.source}"
    everything = f"all {compared}" if found.lattices > 1 else f"the only {compared.removeprefix('1 ')}"
    if isinstance(found.space, Circulants):
        everything += f" of {counted(found.space.steps, 'step')}"
    kept = "class" if found.measured < found.lattices else thing
    met = "" if found.kept == found.measured else f"the {_plural(found.kept, kept)} that meet the condition, of "
    said = f"best of this {found.source}" if found.source else "proved"
    return f"{said}: {goal} of {met}{everything}; attained by {attained}"


def _count(lattices: int, measured: int, thing: str) -> str:
    """Return a text such as '4 lattices (1 class)', or '4 lattices' if every lattice was measured."""
    return counted(lattices, thing) + (f" ({_plural(measured, 'class')})" if measured < lattices else "")


def _plural(number: int, thing: str) -> str:
    """Return '1 class', '2 classes' or '2 lattices'."""
    return f"{number:,} class{'' if number == 1 else 'es'}" if thing == "class" else counted(number, thing)


def _line(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row with each column of SHOWN as text; a missing value becomes ''."""
    texts = {name: "" if row.get(name) is None else form(row[name]) for name, (_, form) in SHOWN.items()}
    return {**row, **texts}


@dataclass(frozen=True, repr=False, eq=False)
class BestNetworks(Records):
    """The winners, then well-known networks of that size, then the user's own (`beside`), with a row for each.

    found    the comparison and its winners
    beside   rows of the networks that the user named
    priced   the cost model behind the rows' costs; None if the rows have no costs
    remarks  notes, such as that none of the named folders and data sets has networks of this size
    """

    found: Best = field(kw_only=True)
    beside: list[Row] = field(kw_only=True)
    priced: str | None = field(kw_only=True)
    remarks: Sequence[str] = field(default=(), kw_only=True)
    columns = (NETWORK, *SCREEN, *PRICES)
    main = ("network", "topology", *SHOWN)

    @property
    def topology(self) -> str:
        """The spelling of the best network."""
        return str(self.rows[0]["topology"])

    @property
    def json(self) -> Row:  # type: ignore[override]  # the rows are within it
        found = self.found
        goals = [{"column": name, "best": "least" if sign > 0 else "greatest"} for name, sign in found.objectives]
        return {
            **found._asdict(),
            **({"beside": self.beside} if self.beside else {}),
            "space": str(found.space),
            "objectives": goals,
        }

    @property
    def certificate(self) -> str:
        """A certificate that lists one lattice of each class, so that anyone can check that none is better."""
        return exhaustion_certificate(self.found)

    def heading(self) -> str:
        return f"{self.topology}\n{proof(self.found)}"

    def print(self, console: Console, computed_by: str) -> None:
        """Print the winner, its proof, and a table: winners, known networks, the user's own networks, bounds."""
        found, priced = self.found, self.priced
        winner, dimensions = found.rows[0], found.space.dimensions
        print_heading(console, winner["topology"])
        console.print(Text(proof(found)))
        lines = [{**row, "line": "as good" if place else "best"} for place, row in enumerate(found.rows)]
        for row in found.known:
            mark = "" if row["meets_condition"] else "  (does not meet the condition)"
            lines.append({**row, "line": row["name"], "topology": row["topology"] + mark})
        lines += [{**row, "line": "beside"} for row in self.beside]
        for kind, prefix, meaning in (
            (f"bound of {dimensions}D lattices", "lattice_", "no lattice has less: as near as in Zⁿ itself"),
            (f"bound of degree {winner['degree']}", "", "no graph has less (Cerf et al. 1974, Moore)"),
        ):
            bounds = {name: winner[f"{prefix}{name}_bound"] for name in ("mean_distance", "diameter")}
            lines.append({**bounds, "line": kind, "topology": meaning})
        console.print()
        shown = {name: heading for name, (heading, _) in (SHOWN if priced else NUMBERS).items()}
        print_rows(console, map(_line, lines), {"line": "", **shown, "topology": "network"}, left=("line", "topology"))
        for note in NOTES:
            print_note(console, note)
        if priced:
            unit = winner["currency"]
            print_note(console, f"Cost of a terminal in {unit}, by {priced}; flits a cycle for 1,000 {unit} of it,")
            print_note(console, "at most one flit a terminal. Front: no other network shown is at once as cheap,")
            print_note(console, "as near and as late to saturate.")
        if found.winners > len(found.rows):
            print_note(console, f"{found.winners - len(found.rows):,} more are as good; --show lists more.")


def best(
    how: How,
    *,
    nodes: Annotated[int, NODES],
    dimensions: Annotated[int, DIMENSIONS] | None = None,
    circulant_steps: Annotated[int, STEPS] | None = None,
    minimise: Annotated[tuple[str, ...], MINIMISE, Typed(also="minimize")] = (),
    maximise: Annotated[tuple[str, ...], MAXIMISE, Typed(also="maximize")] = (),
    where: Annotated[str, WHERE] | None = None,
    beside: Annotated[tuple[str, ...], BESIDE, Typed(reader="builtins:tuple", shown="TOPOLOGY")] = (),
    cost_model: Annotated[str | Path, PRICED_BY] | None = None,
    show: Annotated[int, Whole(1, "how many of the winners to show")] = 5,
    results: Annotated[tuple[str | Path, ...], RESULTS, Typed(also="remote")] = (),
    digest: Annotated[str, DIGEST] | None = None,
) -> BestNetworks:
    """The best network of a size among all lattices: tori, twisted tori, circulants, crystal lattices.

    Every Cayley graph of an abelian group with n generators is a lattice graph Zⁿ/L. All lattices are compared, one
    from each class of lattices that differ only in the names and directions of the dimensions. So the winner is proved
    to be the best. The answer also has well-known networks of that size, and bounds of all graphs of its degree.

    Winners found in an earlier table or data set are computed anew. A data set may leave out a better lattice: without
    its digest, the winner is called best of that data set, unless the winner meets a bound of all lattices.

    With `circulant_steps`, only connected circulants (Cayley graphs of a cyclic group) are compared, one of each class.
    Two are in a class if the steps of one, times a number coprime to the nodes, are the steps of the other.

    Several columns are compared in order: the second decides if the first is equal. The commands describe, loads,
    deadlock, layout and simulate accept the winner's spelling. With a cost model, each network also has its cost, its
    saturation per cost, and whether it is on the Pareto front of the networks shown.

    >>> import torusweep as ts
    >>> found = ts.best(nodes=32, dimensions=2)
    >>> found.topology, found[0]["mean_distance"], found.found.lattices
    ('lattice(matrix=[[8, 4], [0, 4]])', 2.625, 63)
    """
    chosen = objectives(minimise, maximise)
    space = _space(nodes, dimensions, circulant_steps)
    space.check()
    others = rows_of_list(SCREENED, [*map(LazyNetwork, dict.fromkeys(beside))], ScreenRequest(), how)
    with under("cost_model"):
        # what is wrong with it is said before the search
        model = None if cost_model is None else readable(str(cost_model))
    with under("digest"):
        wanted = _digest(digest, results)
    before = _before(results, space, chosen, wanted, where)
    with how.progress.share("lattices compared") as progress:
        found = best_lattices(
            space,
            chosen,
            parts=before.parts if before else screen_space(space, backend=how.backend),
            keep=lambda rows: rows if where is None else _kept(rows, where),
            show=show,
            progress=progress or (lambda share: None),
        )
    if before is not None:
        found = _checked(found, before, where)
    if model is not None:
        _add_costs([*found.rows, *found.known, *others], model)
    lacking = ", ".join(printable(one) for one in results if before is None)
    remarks = [f"note: {lacking}: not all {space} are there; computed here instead"] if lacking else []
    return BestNetworks(_named(found, others), found=found, beside=others, priced=model, remarks=remarks)


def _before(
    results: Sequence[str | Path], space: Space, chosen: Sequence[Objective], digest: str, where: str | None
) -> Before | None:
    """Return what the first table or data set that covers the space knows; None if none covers it. All are read."""
    read = [
        of_data_set(folder, space, chosen, digest, whole=where is not None)
        if is_data_set(folder)
        else screened_before(Path(folder), space, digest)
        for folder in results
    ]
    return next((known for known in read if known is not None), None)


def _named(found: Best, others: list[Row]) -> list[Row]:
    """Return the rows of all networks to show; the column `network` says how each was found, such as 'best'."""
    names = ["best"] + ["as good"] * (len(found.rows) - 1) + [row["name"] for row in found.known]
    names += ["beside"] * len(others)
    none = {column.name: None for column in PRICES}
    rows = [*found.rows, *found.known, *others]
    return [none | row | {"network": name} for row, name in zip(rows, names, strict=True)]


def _checked(found: Best, before: Before, where: str | None) -> Best:
    """Return the winners of an earlier table with rows computed anew, and whether these rows prove that they are best.

    Raises BadInput if the new rows do not meet the condition `where`.
    """
    rows = computed_anew(found.rows, found.space, before)
    if where is not None and len(_kept(pa.Table.from_pylist(rows, schema=arrow_schema(SCREEN)), where)) < len(rows):
        raise BadInput(f"{printable(before.name)}: its best rows, computed anew, do not meet the condition")
    proved = before.known or meets_bounds(rows[0], found.space, found.objectives)
    return found._replace(rows=rows, source="" if before.known else before.source, proved=proved)


def _space(nodes: int, dimensions: int | None, circulant_steps: int | None) -> Space:
    """Return the requested design space. Raises BadInput if both dimensions and steps of circulants are given."""
    if circulant_steps is None:
        return Lattices(3 if dimensions is None else dimensions, nodes)
    if dimensions is not None:
        with under("circulant_steps"):
            raise BadInput("expected dimensions of lattices or steps of circulants, got both; leave one out")
    return Circulants(circulant_steps, nodes)


def _digest(digest: str | None, given: tuple[Path | str, ...]) -> str:
    """Return the given digest or ''. Raises BadInput unless it is a SHA-256, given with one table or data set."""
    if digest is None:
        return ""
    if not re.fullmatch("[0-9a-f]{64}", digest):
        raise BadInput(
            f"expected 64 hexadecimal digits, got '{one_line(printable(digest), 80)}'; sha256sum prints them"
        )
    if len(given) != 1:
        raise BadInput(f"expected one folder of results or address, whose digest it is, got {len(given)}; name one")
    return digest


def _kept(rows: pa.Table, where: str) -> pa.Table:
    """Return the rows that meet the user's condition. Raises BadInput where the condition is wrong."""
    with under("where"), _of_the_condition():
        return matching(rows, where)


@contextmanager
def _of_the_condition() -> Iterator[None]:
    """Remove the option's name --where from a refusal's message, because the caller names the parameter itself."""
    try:
        yield
    except BadInput as refusal:
        refusal.args = (str(refusal).removeprefix("--where: ").replace("--where ", "the condition ", 1),)
        raise


def _add_costs(rows: list[Row], model: str) -> None:
    """Add to each row its network's cost, its saturation per cost, and whether it is on the Pareto front of all rows.

    The front minimises cost per terminal and mean distance, and maximises saturation, which counts as at most 1.
    """
    values: list[list[Any]] = []
    for row in rows:
        record = cost_record(build(row["topology"]), model, AUTOMATIC)
        price, carried = record["cost_per_terminal"], min(1.0, row["saturation_load"] or 0.0)
        row |= {"cost_per_terminal": price, "currency": record["currency"]}
        row["saturation_per_cost"] = carried / price if price else None
        values.append([price, row["mean_distance"], -round(carried, EQUAL_LOAD_DECIMALS)])
    compared = [place for place, row in enumerate(rows) if row["connected"]]
    first = {compared[place] for place in front(np.array([values[place] for place in compared]).reshape(-1, 3))}
    for place, row in enumerate(rows):
        row["on_front"] = place in first


class BestQuestion(Askable):
    ask = staticmethod(best)
    command = "best"
    about = ""
    how = ("backend",)
    written: ClassVar = {"certificate": CERTIFICATE}
    examples = (
        "best --nodes 128",
        "best --nodes 512 --minimise diameter,mean_distance",
        "best --nodes 128 --maximise saturation_load --show 1",
        'best --nodes 128 --where "diameter <= 6" --maximise saturation_load',
        "best --nodes 256 --results results/atlas",
        "best --nodes 512 --remote https://example.org/atlas",
        'best --nodes 162 --cost-model 2014-besta --beside "slim_fly(q=9)" --beside "dragonfly(a=6, p=1, h=4)"',
        "best --nodes 221 --circulant-steps 2 --minimise diameter,mean_distance",
        "best --nodes 200 --dimensions 2 --minimise mean_distance --maximise saturation_load --json",
    )

    def check_asked(self, network: Topology | None, how: How, values: Mapping[str, Any], files: Sequence[str]) -> None:
        if "certificate" in files:  # whom a condition keeps is found
            space = _space(*(values[name] for name in ("nodes", "dimensions", "circulant_steps")))
            space.check()
            check_exhaustion(space, objectives(values["minimise"], values["maximise"]))


QUESTION = BestQuestion()
