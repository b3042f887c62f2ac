"""A job: the axes of its ranks, and what each axis does in a step, checked before anything is computed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from torusweep.errors import BadInput, nearest, one_line, printable
from torusweep.placements.operations import MEANING, JobOperation, Kind
from torusweep.placements.transformer import Shape, operations_of
from torusweep.quantities import bytes_of

Place = tuple[str | int, ...]  # the way to a value: ("operations", 2, "bytes")

MOST_AXES = 6
MOST_OPERATIONS = 1000
EXAMPLE = "axes: {ep: 16, tp: 8}, operations: [{axis: tp, operation: all_gather, bytes: 64MiB, times: 4}]"


EXPECTED = {  # by pydantic's kind of error
    "int_type": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "greater_than_equal": "a number ≥ {ge}",
    "greater_than": "a number > {gt}",
    "less_than_equal": "a number ≤ {le}",
    "too_short": "{min_length} or more",
    "too_long": "at most {max_length}",
}


class Job(NamedTuple):
    """axes: size of each, the last varies fastest among ranks; operations: of a step, one after the other."""

    axes: dict[str, int]
    operations: list[JobOperation]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    axis: str = Field(description="a name of axes")
    operation: Kind = Field(description="what all groups of the axis do at once")
    bytes: int | str = Field(description="a size such as 64MiB, as nccl-tests define the operation's")
    times: int = Field(1, ge=1, le=10**9, description="how often in a step")


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    axes: dict[str, Annotated[int, Field(ge=1, le=10**6)]] = Field(
        min_length=1, max_length=MOST_AXES, description=f"name: size, 1 … {MOST_AXES} of them"
    )
    operations: list[_Entry] = Field(
        default_factory=list, max_length=MOST_OPERATIONS, description=f"a list of at most {MOST_OPERATIONS:,}"
    )
    transformer: Shape | None = Field(None, description="the shape of a model, from which operations follow")


def job_of(
    data: Any,
    name: str,
    places: Mapping[Place, tuple[int, int]] | None = None,
    keys: Mapping[Place, tuple[int, int]] | None = None,
) -> Job:
    """Check what a job's file says.

    data    mappings, lists and plain values
    name    of the file, for messages
    places  (line, column) of the values; keys: of the keys of mappings; none where it is no file

    Raises BadInput as `name:line:column: key: expected …, got …; remedy`; as `name: key: …` without places.
    """

    def refuse(place: Place, message: str, *, at_key: bool = False) -> BadInput:
        if places is None or keys is None:
            return BadInput(printable(f"{name}: {one_line(message, 400)}"))
        while place not in places and place:
            place = place[:-1]
        line, column = (at_key and keys.get(place)) or places.get(place, (1, 1))
        return BadInput(printable(f"{name}:{line}:{column}: {one_line(message, 400)}"))

    if not isinstance(data, dict):
        got = "nothing" if data is None else _got(data)
        raise refuse(
            (), f"expected a mapping with 'axes' and 'operations' or 'transformer', got {got}; as in {EXAMPLE}"
        )
    try:
        file = _File.model_validate(data)
    except ValidationError as error:
        wrong_place, message, at_key = _first(error)
        raise refuse(wrong_place, message, at_key=at_key) from None
    for axis in file.axes:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,31}", axis):
            raise refuse(("axes", axis), f"axes: expected a name of letters, digits and _, got '{axis}'; as in tp")
    operations = []
    for number, entry in enumerate(file.operations):
        place: Place = ("operations", number)
        if entry.axis not in file.axes:
            known = ", ".join(file.axes)
            guess = nearest(entry.axis, file.axes)
            message = (
                f"operations[{number}].axis: expected an axis of {known}, got '{entry.axis}'{guess}; add it to axes"
            )
            raise refuse((*place, "axis"), message)
        try:
            size = bytes_of(entry.bytes)
        except BadInput as wrong:
            message = f"operations[{number}].bytes: {wrong} ({entry.operation}: {MEANING[entry.operation]})"
            raise refuse((*place, "bytes"), message) from None
        operations.append(JobOperation(entry.axis, entry.operation, size, entry.times))
    if file.transformer is not None:
        try:
            operations += operations_of(file.transformer, file.axes)
        except BadInput as wrong:
            raise refuse(("transformer",), str(wrong)) from None
    if not any(file.axes[operation.axis] > 1 for operation in operations):
        raise refuse(
            (), "expected operations of an axis of two ranks or more, got none; write operations or transformer"
        )
    return Job(file.axes, operations)


def _first(error: ValidationError) -> tuple[Place, str, bool]:
    """(place, message, whether it is about the key there) of the first thing wrong.

    A misspelt key comes before the one that it leaves missing.
    """
    details = error.errors(include_url=False)
    detail = next((entry for entry in details if entry["type"] == "extra_forbidden"), details[0])
    place: Place = detail["loc"]
    if place[-1:] == ("[key]",) or (place[:1] == ("operations",) and len(place) > 3):
        place = place[:-1]  # pydantic's name of an alternative
    model = _model(place[:-1])
    fields = list(model.model_fields)
    key = str(place[-1]) if place else ""
    where = _spelled(place)
    if detail["type"] == "extra_forbidden":
        inside = f"{_spelled(place[:-1])}: " if place[:-1] else ""
        return place, f"{inside}unknown key '{key}'{nearest(key, fields)}; keys here are {', '.join(fields)}", True
    if detail["type"] == "missing":
        inside = f"{_spelled(place[:-1])}: " if place[:-1] else ""
        return place[:-1], f"{inside}missing key '{key}': {model.model_fields[key].description}; add it", False
    limits = detail.get("ctx", {})
    expected = EXPECTED.get(detail["type"], detail["msg"].removeprefix("Input should be ")).format(**limits)
    named = next((step for step in reversed(place) if isinstance(step, str) and step in fields), None)
    meaning = f" ({model.model_fields[named].description})" if named else ""
    return place, f"{where}: expected {expected}{meaning}, got {_got(detail['input'])}; change it", False


def _model(place: Place) -> type[BaseModel]:
    """The model of the mapping at a place."""
    if place[:1] == ("transformer",):
        return Shape
    return _Entry if place[:1] == ("operations",) and len(place) > 1 else _File


def _spelled(place: Place) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).removeprefix(".")


def _got(value: Any) -> str:
    names = {dict: "a mapping", list: "a list", type(None): "null", bool: str(value).lower()}
    return one_line(names.get(type(value), repr(value)), 60)
