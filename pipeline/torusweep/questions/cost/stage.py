"""The question and stage `cost`: the price of a network by a cost model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from rich.console import Console

from torusweep.errors import BadInput, printable
from torusweep.networks.families.slices import Pod
from torusweep.networks.topology import Topology, Whole
from torusweep.quantities import counted, rate
from torusweep.questions.answer import Answer, Record, Records, Row
from torusweep.questions.console import Columns, print_heading, print_note, print_rows
from torusweep.questions.cost.arithmetic import price_of_router
from torusweep.questions.cost.columns import COST, EQUAL_COST
from torusweep.questions.cost.compared import BALANCED, COMPARED, ROUTING, ROUTINGS, TRAFFIC, compared, sized
from torusweep.questions.cost.model import DEFAULT_MODEL, MODELS, cost_model, file_of, readable
from torusweep.questions.cost.packing import AUTOMATIC, check_suits, spelling_of
from torusweep.questions.cost.record import cost_record, widths_of
from torusweep.questions.display import Fact
from torusweep.questions.heeds import BY_WEIGHT, heeds
from torusweep.questions.how import How
from torusweep.questions.parameters import NOT_SWEPT, Spelled, Swept
from torusweep.questions.question import Aside, Question
from torusweep.questions.stage import LazyNetwork, under

MANY = 1000  # throughput is printed for this number of units of currency
MODEL_COLUMNS: Columns = {
    **{"name": "model", "dates": "date", lambda row: row["model"].currency: "currency"},
    **{lambda row: f"{row['model'].bandwidth:g}": "Gb/s", lambda row: row["model"].description: "what is priced"},
    lambda row: ", ".join(row["model"].estimates()): "estimates",
}
COST_MODEL = Spelled(
    "cost model: a name, or the path of a YAML file (docs/cost.md)",
    table="torusweep.questions.cost.model:MODELS",
    title="Cost models",
    canonical="torusweep.questions.cost.model:readable",
    files="torusweep.questions.cost.model:files_of",
    called=False,
    words="torusweep.questions.cost.model:description_of",
)
PACKING = Spelled(
    "which routers share a cabinet: automatic, or a placement, as in straight(dimensions=2, block=[4, 4])",
    table="torusweep.questions.layout.placements:PLACEMENTS",
    canonical="torusweep.questions.cost.packing:spelling_of",
)


def _front(row: dict[str, Any]) -> str:
    return "front" if row["on_front"] else ""


COLUMNS: Columns = {
    **{"topology": "network", "packing": "packing", "terminals": "terminals", "routers": "routers", "radix:d": "radix"},
    lambda row: f"{row['electrical_cables']:,} + {row['optical_cables']:,}": "cables",
    lambda row: _money(row["cost_per_terminal"]): "a terminal",
    **{"watts_per_terminal:.3g": "W", "latency:.4g": "cycles"},
    lambda row: row["throughput"] and f"{row['throughput']:.4g} {row['routing']}": "carries",
    lambda row: row["saturation_per_cost"] and f"{MANY * row['saturation_per_cost']:.3g}": "for 1,000",
    _front: "",
}


def _money(value: float | None) -> str:
    """Format an amount of money: as whole units of currency, or with three digits if it is below 100."""
    return "" if value is None else f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _print_estimates(console: Console, model: str) -> None:
    estimates = cost_model(model).estimates()
    if estimates:
        print_note(console, f"\nEstimates of the model, without a source that confirms them: {', '.join(estimates)}.")


@dataclass(frozen=True, repr=False)
class Cost(Record):
    """The cost of a network by a cost model: a row of the table `cost`."""

    remarks: Sequence[str] = ()
    columns = COST
    main = (
        "model: {cost_model}, prices of {date}",
        "routers: {routers:n} of up to {radix}, {terminals}",
        "cabinets: {cabinets:n}, packed {packing}",
        "cables: {electrical_cables:n} electrical, {optical_cables:n} optical[, {terminal_cables:n} of terminals];"
        " {cable_metres}[, longest {cable_metres_max:.4g} m]",
        *("router_cost", "cable_cost", "circuit_cost: {circuit_cost}, {circuit_ports} of circuit switches"),
        *("total_cost", "cost_per_terminal", "power: {watts}[, {watts_per_terminal} a terminal]"),
        "energy: {energy_per_bit} a bit, over shortest paths on average",
        "estimates: {estimates}, without a source that confirms them",
    )
    usual: ClassVar = {"terminal_cables": 0, "circuit_ports": 0}

    def said(self) -> Row:
        """Return the prices with their currency."""
        prices = {column.name: self.record[column.name] for column in COST if column.unit == "currency"}
        currency = self.record["currency"]
        return {name: f"{_money(price)} {currency}" for name, price in prices.items() if price is not None}


@dataclass(frozen=True, repr=False, eq=False)
class Costs(Records):
    """The cost of several networks, the cheapest first: rows of the table `cost`, with columns of `equal_cost`."""

    remarks: Sequence[str] = ()
    columns = (*COST, *(column for column in EQUAL_COST if column.name in COMPARED))
    main = (
        *("topology", "packing", "routers", "radix", "cost_per_terminal", "currency", "watts_per_terminal"),
        *("latency", "throughput", "routing", "saturation_per_cost", "on_front"),
    )

    def heading(self) -> str:
        return f"{counted(len(self), 'network')} by {self.rows[0]['cost_model']}, {self.rows[0]['date']}"

    def print(self, console: Console, computed_by: str) -> None:
        first = self.rows[0]
        print_heading(console, self.heading())
        print_rows(console, self.rows, COLUMNS, left=("topology", "packing", _front))
        for note in (
            f"\nCables: electrical + optical. Cost in {first['currency']} and watts, both for a terminal; cycles on the"
            " links between two terminals. Carries: flits per cycle per terminal",
            f"of {first['traffic']} traffic, at most 1, with the best routing; also for 1,000 {first['currency']} of a"
            " terminal's cost. Front: no other network is as good in cost, cycles and throughput.",
        ):
            print_note(console, note)
        _print_estimates(console, first["cost_model"])


class CostModels(Answer):
    """The answer to --models: the cost models that come with the program."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__()
        self.models = {name: cost_model(name) for name in MODELS}

    @property
    def json(self) -> list[Row]:
        return [{"name": name, **model.model_dump()} for name, model in self.models.items()]

    def heading(self) -> str:
        return "cost models"

    def lines(self) -> list[Fact]:
        return [(name, model.description, model.dates()) for name, model in self.models.items()]

    def print(self, console: Console, computed_by: str) -> None:
        """Print a table with name, date, currency, bandwidth, description and estimates of every model."""
        parts = [{"name": name, "dates": model.dates(), "model": model} for name, model in self.models.items()]
        print_rows(console, parts, MODEL_COLUMNS, left=[*MODEL_COLUMNS][:3] + [*MODEL_COLUMNS][4:])


@dataclass(frozen=True, repr=False)
class ModelFile(Answer):
    """The answer to --print-model: the YAML file of a cost model, which a user can edit."""

    name: str

    @property
    def json(self) -> Row:
        return cost_model(self.name).model_dump()

    def print(self, console: Console, computed_by: str) -> None:
        text = file_of(self.name).read_text(encoding="utf-8")
        console.print(text, end="", markup=False, emoji=False, soft_wrap=True)


def cost(
    networks: Sequence[LazyNetwork],
    how: How,
    model: Annotated[str | Path, COST_MODEL, Swept(column="cost_model")] = DEFAULT_MODEL,
    packing: Annotated[str, PACKING] = AUTOMATIC,
    *,
    routing: Annotated[tuple[str, ...], ROUTING, NOT_SWEPT] | None = None,
    traffic: Annotated[str, TRAFFIC, NOT_SWEPT] | None = None,
    terminals: Annotated[
        int,
        Whole(
            2,
            f"number of terminals for networks that are given as the name of a family ({', '.join(BALANCED)}); the"
            " family's balanced network of the nearest size is taken",
            10**6,
        ),
        NOT_SWEPT,
    ]
    | None = None,
) -> Cost | Costs:
    """Compute the cost of each network: routers by their ports, cables by their length, circuit switches, watts.

    A cost model contains the prices, each with its date and source. The lengths of cables follow from the places of
    cabinets on a floor. Several networks are also compared at equal cost: by the traffic that they carry for their
    price, and by the Pareto front of throughput, latency and cost per terminal.

    >>> import torusweep as ts
    >>> ts.network("torus(k=4, n=2)").cost("2014-besta").radix
    5
    >>> ts.cost(["torus(k=4, n=2)", "mesh(k=4, n=2)"]).rows[0]["topology"]
    'mesh(k=4, n=2)'
    >>> [row["topology"] for row in ts.cost(["torus", "slim_fly"], terminals=200).rows]
    ['slim_fly(q=5, terminals=4)', 'torus(radices=[6, 6, 6])']
    """
    distinct = list({network.planned[0]: network.topology for network in networks}.values())
    with under("model"):
        name = readable(str(model))
    if not distinct:
        raise BadInput("expected a topology, got none; 'torusweep topologies' lists the families")
    with under("packing"):
        packed = spelling_of(packing)
    for parameter, given in (("routing", routing), ("traffic", traffic)):
        if given is not None and len(distinct) == 1:
            with under(parameter):
                raise BadInput("expected several networks, got one; add another, or leave it out")
    records = [cost_record(network, name, packed, backend=how.backend, threads=how.threads) for network in distinct]
    remarks = [remark for network in distinct for remark in _remarks(network, name)]
    if len(records) == 1:
        return Cost(records[0], remarks)
    with how.progress.wait("loads of each network: some seconds, of large ones some minutes"):
        rows = compared(distinct, records, ROUTINGS if routing is None else routing, traffic or "uniform")
    return Costs(rows, remarks)


def _remarks(network: Topology, model: str) -> list[str]:
    """Return remarks for the user if a network's links differ in speed from the model, or count as several links."""
    priced, said, remarks = cost_model(model).bandwidth, network.plan.rate, []
    if said is not None and float(said) != priced * 1e9:
        remarks.append(
            f"{network.spelling}: a flit a cycle is {rate(said)}, and {model} prices it as {priced:g} Gb/s; choose"
            " another model ('torusweep cost --models'), or write your own ('torusweep cost --print-model')"
        )
    if any(bandwidth != 1 for bandwidth in network.plan.bandwidths):
        remarks.append(
            f"{network.spelling}: a link of n flits a cycle is priced as n ports and n cables, and counted as one"
        )
    return remarks


def _model_file(values: Mapping[str, Any]) -> ModelFile:
    return ModelFile(readable(values.get("model", DEFAULT_MODEL)))


class CostQuestion(Question):
    name = "cost"
    columns = COST
    ask = staticmethod(cost)
    command = "cost"
    notes_of_files = True
    heeds: ClassVar = {
        **heeds("bandwidth, direction, unit, clock, terminals, forwarding"),
        **BY_WEIGHT,
        **heeds("latency", "for several networks", lambda values: values["networks"] > 1),
    }
    about = "networks"
    how = ()
    phrase = "by {cost_model}, packed {packing}".format
    sized = ("terminals", sized)
    asides: ClassVar = {
        "models": Aside("List the cost models", CostModels),
        "print_model": Aside("Print the cost model as YAML, to be edited", _model_file),
    }
    examples = (
        'cost "dragonfly(a=8, p=4, h=4)"',
        'cost "slim_fly(q=9, terminals=6)" --model 2023-circuits --json',
        'cost "torus(radices=[8, 8, 16])" "dragonfly(a=8, p=4, h=4)" "slim_fly(q=9, terminals=6)"',
        "cost --terminals 500 torus dragonfly slim_fly fat_tree",
        'cost "slim_fly(q=9, terminals=6)" --packing "straight(dimensions=2, block=[9, 1, 2])"',
        "cost --print-model > my.yaml",
        'cost "torus(k=8, n=3)" --model my.yaml',
    )
    description = "cost models by which networks are priced; without this section, no cost is computed"

    def check(self, network: LazyNetwork, request: Any) -> None:
        check_suits(request.packing, network.plan, network.spelling)
        model = cost_model(request.cost_model)
        if isinstance(network.plan.structure, Pod) and model.circuit_switch is None:
            raise BadInput(
                f"{network.spelling}: expected a cost model with circuit_switch, got {request.cost_model}; choose"
                " 2023-circuits, or add prices of circuit switches to yours"
            )
        if model.router.products:
            try:
                price_of_router(model, float(widths_of(network.topology).max()))
            except BadInput as refusal:
                raise BadInput(f"{network.spelling} by {printable(request.cost_model)}: {refusal}") from None

    def seconds(self, network: LazyNetwork, request: Any) -> float:
        return 3e-3 + 2e-6 * network.plan.nodes * max(network.plan.degree, 1)


QUESTION = CostQuestion()
