"""From the name or the file of a cost model to the model, checked."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from torusweep import documents
from torusweep.costs.model import CostModel
from torusweep.documents import Document, Place
from torusweep.errors import BadInput, nearest, one_line, printable

FOLDER = Path(__file__).parent / "models"
MODELS = {path.stem: path for path in sorted(FOLDER.glob("*.yaml"))}  # the models that come with the program
DEFAULT_MODEL = "2014-besta"
SUFFIXES = (".yaml", ".yml")
EXPECTED = {  # by pydantic's kind of error
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "bool_type": "true or false",
    "list_type": "a list",
    "model_type": "a mapping",
    "literal_error": "{expected}",
    "greater_than_equal": "a number ≥ {ge}",
    "greater_than": "a number > {gt}",
    "less_than_equal": "a number ≤ {le}",
    "string_too_short": "text",
    "string_too_long": "at most {max_length} characters",
    "too_long": "at most {max_length}",
}


def canonical(name: str) -> str:
    """The name of a model, or the path of its file, as tables have it. Raises BadInput for what is neither."""
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
    return MODELS.get(name) or Path(name)


def cost_model(name: str) -> CostModel:
    """A cost model.

    name   of a model that comes with the program, or the path of a YAML file
    Raises BadInput as `name:line:column: key: expected …, got …; remedy`.
    """
    found = canonical(name)
    return _parsed(documents.read_bytes(file_of(found), "cost model", "leave out what is no price"), found)


def readable(name: str) -> str:
    """As `canonical`. Raises BadInput, too, for a model that cannot be read."""
    cost_model(name)
    return canonical(name)


def files_of(name: str) -> list[Path]:
    """The user's files that a canonical name stands for."""
    return [] if name in MODELS else [file_of(name)]


def description_of(name: str) -> str:
    """What a model prices, and what of it is estimated."""
    model = cost_model(name)
    estimates = ", ".join(model.estimates())
    return model.description + (f"; estimates: {estimates}" if estimates else "")


@lru_cache(maxsize=16)
def _parsed(content: bytes, name: str) -> CostModel:
    document = documents.parse(content, printable(name))
    try:
        return CostModel.model_validate(document.data)
    except ValidationError as error:
        raise BadInput(_first(error, document)) from None


def _first(error: ValidationError, document: Document) -> str:
    """The first thing wrong with a model; a misspelt key before the one that it leaves missing."""
    details = error.errors(include_url=False)
    detail: Any = next((entry for entry in details if entry["type"] == "extra_forbidden"), details[0])
    place = _place(detail["loc"], document)
    key, within = (str(place[-1]), place[:-1]) if place else ("", ())
    shown = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).removeprefix(".")
    kind, position = detail["type"], document.values.get(place, (1, 1))
    if kind == "extra_forbidden":
        position = document.keys.get(place, position)
        known = list(_model(within).model_fields)
        message = f"unknown key '{key}'{nearest(key, known)}; keys here are {', '.join(known)}"
    elif kind == "missing":
        key, within = str(detail["loc"][-1]), place
        message = f"missing key '{key}': {_model(within).model_fields[key].description}; add it"
    elif kind == "value_error":
        message = str(detail["ctx"]["error"])
    else:
        limits = detail.get("ctx", {})
        expected = EXPECTED.get(kind, detail["msg"].removeprefix("Input should be ")).format(**limits)
        meaning = _model(within).model_fields[key].description if key in _model(within).model_fields else ""
        message = f"expected {expected}{f' ({meaning})' if meaning else ''}, got {_got(detail['input'])}; change it"
    return printable(one_line(f"{document.where(*position)}: {f'{shown}: ' if shown else ''}{message}", 500))


def _place(location: tuple[str | int, ...], document: Document) -> Place:
    """Where in the file something is wrong: pydantic's location without the names of alternatives that it tried."""
    place: Place = ()
    for step in location:
        if (*place, step) in document.values:
            place = (*place, step)
    return place


def _model(place: Place) -> type[BaseModel]:
    """The model of the mapping at a place."""
    model: Any = CostModel
    for step in place:
        if isinstance(step, str) and step in model.model_fields:
            kinds = getattr(model.model_fields[step].annotation, "__args__", (model.model_fields[step].annotation,))
            model = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), model)
    return model


def _got(value: Any) -> str:
    names = {dict: "a mapping", list: "a list", type(None): "nothing", bool: str(value).lower()}
    return one_line(names.get(type(value), repr(value)), 60)
