"""A cost model: prices and watts of a network's parts, each with its date and source.

Prices follow straight lines, or a list of products; lengths of cables follow from cabinets on a floor. To change a
number, copy a file of models/ and edit it: nothing else knows these numbers.

A cost model is read by its name or file, and checked.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from torusweep import documents
from torusweep.errors import BadInput, located, nearest, one_line, printable

Price = Annotated[float, Field(ge=0, le=1e12)]
Offset = Annotated[float, Field(ge=-1e12, le=1e12)]  # of a line fitted to prices: may be below 0
Length = Annotated[float, Field(ge=0, le=1e6)]
Watts = Annotated[float, Field(ge=0, le=1e9)]
MOST_PRODUCTS = 1000
FOLDER = Path(__file__).parent / "models"
MODELS = {path.stem: path for path in sorted(FOLDER.glob("*.yaml"))}  # the models that come with the program
DEFAULT_MODEL = "2014-besta"
SUFFIXES = (".yaml", ".yml")


class ModelPart(BaseModel):
    """A mapping whose keys are all known."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class Sourced(ModelPart):
    """Numbers of one date and source."""

    date: int | str = Field(description="when the numbers held, as in 2014 or '2014-11'")
    source: str = Field(min_length=1, description="who printed the numbers, and where")
    estimate: bool = Field(False, description="true: no source that could be checked has one of these numbers")


class Product(ModelPart):
    ports: int = Field(ge=1, le=2**20, description="of the router")
    price: Price = Field(description="of the router")


class Router(Sourced):
    """A router's price, by the ports in use, terminals' ports included."""

    fixed: Offset = Field(0, description="price of a router without ports")
    per_port: Price = Field(0, description="price of each port that is used")
    products: list[Product] = Field(
        default_factory=list,
        max_length=MOST_PRODUCTS,
        description="in place of the line, routers on sale: the cheapest with enough ports is bought",
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
    """A cable's price, by its length."""

    unit: Literal["cable", "Gb/s"] = Field(description="what fixed and per_metre are prices of: cable or Gb/s")
    fixed: Offset = Field(description="price of a cable of no length: its ends")
    per_metre: Price = Field(description="price of each metre")
    longest: Length | None = Field(
        None, description="metres; of electrical cables: longer ones are optical; null: the cheaper kind is taken"
    )


class CircuitSwitch(Sourced):
    """Switches that join the ends of links, a port for each end; links through them are optical."""

    per_port: Price = Field(description="price of a port")
    watts_per_port: Watts = Field(0, description="watts of a port")
    classes: list[str] = Field(
        default_factory=list,
        max_length=127,
        description="link classes whose links pass through circuit switches, besides those between the faces of cubes",
    )


class Power(Sourced):
    """Watts of all parts that are switched on, whatever the traffic."""

    watts_per_port: Watts = Field(description="watts of a router's port, those of terminals included")
    watts_per_optical_cable: Watts = Field(0, description="watts of both ends of an optical cable")
    picojoules_per_bit: Watts | None = Field(
        None, description="energy of a bit in each router that it passes; null: two ports at full rate"
    )


class Racks(Sourced):
    """Cabinets on a floor, in rows. Cables run along the rows and across them."""

    routers: int = Field(ge=1, le=2**20, description="most routers of a cabinet")
    terminals: int = Field(ge=1, le=2**20, description="most terminals of a cabinet, which stand with their routers")
    width: Length = Field(description="metres from a cabinet to the next one of its row")
    depth: Length = Field(description="metres from a row to the next one")
    inside: Length = Field(description="metres of a cable within a cabinet")
    overhead: Length = Field(description="metres that a cable between cabinets is longer than their distance")
    terminal_cable: Length | None = Field(
        None, description="metres of the electrical cable of each terminal; null: there is none"
    )
    laying_inside: Price = Field(0, description="price of laying a cable within a cabinet")
    laying_between: Price = Field(0, description="price of laying a cable between cabinets")


class CostModel(ModelPart):
    """A cost model."""

    description: str = Field(min_length=1, description="what is priced, in a line")
    currency: str = Field(min_length=1, max_length=16, description="of all prices, as in USD")
    bandwidth: float = Field(ge=1e-9, le=1e9, description="Gb/s of a link that carries a flit a cycle")
    router: Router = Field(description="a router's price by its ports")
    electrical: Cable | None = Field(None, description="an electrical cable's price by its length")
    optical: Cable | None = Field(None, description="an optical cable's price by its length")
    circuit_switch: CircuitSwitch | None = Field(None, description="circuit switches; null: no price is known")
    power: Power | None = Field(None, description="watts; null: none are known")
    racks: Racks = Field(description="cabinets, from which the lengths of cables follow")

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
        """The parts with a number that could not be checked against its source."""
        return [name for name, part in self if isinstance(part, Sourced) and part.estimate]

    def dates(self) -> str:
        """The first and the last date of its prices and watts, as in 2014 or 2008 … 2014."""
        parts = [part for name, part in self if isinstance(part, Sourced) and name != "racks"]
        dates = sorted({str(part.date) for part in parts})
        return dates[0] if len(dates) == 1 else f"{dates[0]} … {dates[-1]}"


def canonical(name: str) -> str:
    """The name of a model, or the path of its file, as in tables. Raises BadInput for anything else."""
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
    """The file of a model, by its canonical name."""
    return MODELS.get(name) or located(name)


def cost_model(name: str) -> CostModel:
    """Read a cost model.

    name   name of a model that comes with the program, or the path of a YAML file
    Raises BadInput as `name:line:column: key: expected …, got …; remedy`.
    """
    found = canonical(name)
    return _parsed(documents.read_bytes(file_of(found), "cost model", "leave out what is no price"), found)


def readable(name: str) -> str:
    """Like `canonical`, but also raises BadInput for a model that cannot be read."""
    cost_model(name)
    return canonical(name)


def files_of(name: str) -> list[Path]:
    """The user's files that a canonical name stands for."""
    return [] if name in MODELS else [file_of(name)]


def description_of(name: str) -> str:
    """The parts that a model prices, and its estimates."""
    model = cost_model(name)
    estimates = ", ".join(model.estimates())
    return model.description + (f"; estimates: {estimates}" if estimates else "")


@lru_cache(maxsize=16)
def _parsed(content: bytes, name: str) -> CostModel:
    return documents.parse(content, printable(name)).checked(CostModel)
