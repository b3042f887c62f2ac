"""Read and check cost models: prices and watts of a network's parts, each with its date and source.

A price is a linear function of ports or length, or comes from a list of products. The lengths of cables follow from
the places of cabinets on a floor. To change a number, copy a file of models/ and edit it; no number is in the code.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from torusweep import documents
from torusweep.errors import BadInput, located, nearest, one_line, printable

Price = Annotated[float, Field(ge=0, le=1e12)]
Offset = Annotated[float, Field(ge=-1e12, le=1e12)]  # constant of a line that was fitted to prices; may be below 0
Length = Annotated[float, Field(ge=0, le=1e6)]
Watts = Annotated[float, Field(ge=0, le=1e9)]
MOST_PRODUCTS = 1000
FOLDER = Path(__file__).parent / "models"
MODELS = {path.stem: path for path in sorted(FOLDER.glob("*.yaml"))}  # the models that come with the program
DEFAULT_MODEL = "2014-besta"
SUFFIXES = (".yaml", ".yml")


class ModelPart(BaseModel):
    """A mapping in a cost model. Unknown keys are errors."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class Sourced(ModelPart):
    """A part of a cost model whose numbers have the same date and source."""

    date: int | str = Field(description="date at which the numbers were valid, as in 2014 or '2014-11'")
    source: str = Field(min_length=1, description="who published the numbers, and where")
    estimate: bool = Field(False, description="whether a number could not be checked against a source")


class Product(ModelPart):
    ports: int = Field(ge=1, le=2**20, description="ports of the router")
    price: Price = Field(description="price of the router")


class Router(Sourced):
    """Price of a router as a function of its ports in use, including ports of terminals."""

    fixed: Offset = Field(0, description="price of a router without ports")
    per_port: Price = Field(0, description="price of each port that is used")
    products: list[Product] = Field(
        default_factory=list,
        max_length=MOST_PRODUCTS,
        description="routers on sale, instead of fixed and per_port; the cheapest with enough ports is taken",
    )

    @model_validator(mode="after")
    def _has_one_price(self) -> Router:
        line = bool({"fixed", "per_port"} & self.model_fields_set)
        if line and self.products:
            raise ValueError("expected a line (fixed, per_port) or products, got both; leave one out")
        if not line and not self.products:
            raise ValueError("expected a router's price, got none; add per_port, or products")
        return self


class Cable(Sourced):
    """Price of a cable as a function of its length."""

    unit: Literal["cable", "Gb/s"] = Field(description="whether fixed and per_metre are for each cable or each Gb/s")
    fixed: Offset = Field(description="price of a cable without its metres: its ends")
    per_metre: Price = Field(description="price of each metre")
    longest: Length | None = Field(
        None, description="greatest length of electrical cables in metres; null: the cheaper kind of cable is taken"
    )


class CircuitSwitch(Sourced):
    """Circuit switches, which connect the ends of links, each by a port. Links through them are optical."""

    per_port: Price = Field(description="price of a port")
    watts_per_port: Watts = Field(0, description="watts of a port")
    classes: list[str] = Field(
        default_factory=list,
        max_length=127,
        description="link classes through circuit switches, beside faces of cubes and Boardfly's optical links",
    )


class Power(Sourced):
    """Power of all parts that are switched on. It does not depend on the traffic."""

    watts_per_port: Watts = Field(description="watts of a router's port, including ports of terminals")
    watts_per_optical_cable: Watts = Field(0, description="watts of both ends of an optical cable")
    picojoules_per_bit: Watts | None = Field(
        None, description="energy of a bit in each router that it passes; null: that of two ports at full rate"
    )


class Racks(Sourced):
    """Cabinets in rows on a floor. Cables run along the rows and at right angles to them."""

    routers: int = Field(ge=1, le=2**20, description="greatest number of routers in a cabinet")
    terminals: int = Field(ge=1, le=2**20, description="greatest number of terminals in a cabinet, with their routers")
    width: Length = Field(description="metres from a cabinet to the next cabinet in its row")
    depth: Length = Field(description="metres from a row to the next row")
    inside: Length = Field(description="length in metres of a cable within a cabinet")
    overhead: Length = Field(description="metres by which a cable between cabinets is longer than their distance")
    terminal_cable: Length | None = Field(
        None, description="length in metres of each terminal's electrical cable; null: terminals have no cables"
    )
    laying_inside: Price = Field(0, description="price of laying a cable within a cabinet")
    laying_between: Price = Field(0, description="price of laying a cable between cabinets")


class CostModel(ModelPart):
    """A cost model: prices and watts of a network's parts."""

    description: str = Field(min_length=1, description="what the model prices, in one line")
    currency: str = Field(min_length=1, max_length=16, description="currency of all prices, as in USD")
    bandwidth: float = Field(ge=1e-9, le=1e9, description="Gb/s of a link that carries a flit a cycle")
    router: Router = Field(description="price of a router by its ports")
    electrical: Cable | None = Field(None, description="price of an electrical cable by its length")
    optical: Cable | None = Field(None, description="price of an optical cable by its length")
    circuit_switch: CircuitSwitch | None = Field(None, description="price of circuit switches; null: not known")
    power: Power | None = Field(None, description="watts of ports and cables; null: not known")
    racks: Racks = Field(description="cabinets, whose places decide the lengths of cables")

    @model_validator(mode="after")
    def _has_cables(self) -> CostModel:
        if self.electrical is None and self.optical is None:
            raise ValueError("expected prices of cables, got neither electrical nor optical; add one")
        if self.optical is None and self.electrical is not None and self.electrical.longest is not None:
            raise ValueError("expected cables beyond electrical.longest, got no optical; add optical, or leave it out")
        if self.optical is not None and self.optical.longest is not None:
            raise ValueError("expected longest of electrical cables only; leave optical.longest out")
        return self

    def estimates(self) -> list[str]:
        """Return the names of the model's parts that have a number which could not be checked against its source."""
        return [name for name, part in self if isinstance(part, Sourced) and part.estimate]

    def dates(self) -> str:
        """Return the first and the last date of the model's prices and watts, as in 2014 or 2008 … 2014."""
        parts = [part for name, part in self if isinstance(part, Sourced) and name != "racks"]
        dates = sorted({str(part.date) for part in parts})
        return dates[0] if len(dates) == 1 else f"{dates[0]} … {dates[-1]}"


def canonical(name: str) -> str:
    """Return a model's name, or the path of its file, as tables spell it. Raises BadInput for any other text."""
    known = {key.lower(): key for key in MODELS}
    if name.strip().lower() in known:
        return known[name.strip().lower()]
    if Path(name).suffix in SUFFIXES:
        return name
    raise BadInput(
        f"unknown cost model '{one_line(printable(name), 60)}'{nearest(name, MODELS)}; there are"
        f" {', '.join(MODELS)}, or give a file that ends in .yaml"
    )


def file_of(name: str) -> Path:
    """Return the path of a cost model's file. name: canonical name of the model."""
    return MODELS.get(name) or located(name)


def cost_model(name: str) -> CostModel:
    """Read and check a cost model.

    name   name of a model that comes with the program, or path of a YAML file
    Raises BadInput, in the form `name:line:column: key: expected …, got …; remedy`, for a file with an error.
    """
    found = canonical(name)
    return _parsed(documents.read_bytes(file_of(found), "cost model", "leave out what is no price"), found)


def readable(name: str) -> str:
    """Return what `canonical` returns, but also raise BadInput if the model cannot be read."""
    cost_model(name)
    return canonical(name)


def files_of(name: str) -> list[Path]:
    """Return the user's file of a model, in a list; [] for a model that comes with the program. name: canonical."""
    return [] if name in MODELS else [file_of(name)]


def description_of(name: str) -> str:
    """Return a model's description, followed by the names of its parts that are estimates."""
    model = cost_model(name)
    estimates = ", ".join(model.estimates())
    return model.description + (f"; estimates: {estimates}" if estimates else "")


@lru_cache(maxsize=16)
def _parsed(content: bytes, name: str) -> CostModel:
    return documents.parse(content, printable(name)).checked(CostModel)
