"""Build the class of a question's entries in a configuration from the parameters of the question's signature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, create_model

from torusweep.errors import as_known
from torusweep.questions.parameters import Absent, Parameter
from torusweep.questions.stage import Section, Spellings

Base = TypeVar("Base", bound=BaseModel)


def entry_of(base: type[Base], swept: Sequence[Parameter], command: str, *, title: str, meaning: str) -> type[Base]:
    """Make the pydantic model of a section's entries: `base`'s fields, then one for each parameter or `Swept.inside`.

    command  name of the question's command, whose help lists the names that a parameter accepts
    """
    fields: dict[str, Any] = {}
    for one in swept:
        key = one.sweep.inside
        if not key:
            fields[one.name] = field_of(one, command)
        elif key not in fields:
            inner: dict[str, Any] = {
                other.name: field_of(other, command) for other in swept if other.sweep.inside == key
            }
            section = create_model(key.title(), __base__=Section, **inner)
            fields[key] = (section | None, Field(None, description=one.sweep.meaning))
    return create_model(title, __base__=base, __doc__=meaning, **fields)


def field_of(one: Parameter, command: str) -> tuple[Any, Any]:
    """Return a parameter's type, and its pydantic field with default, range and meaning. command: see `entry_of`."""
    there = one.sweep.default is not ...
    required = one.sweep.default is None and not one.sweep.inside if there else one.required
    usual = one.sweep.default if there else one.default
    how: dict[str, Any] = {"description": one.meaning}
    absent = f"; null: {one.usual}" if not there and one.note(Absent) is not None else ""
    if one.spelled is not None:
        names = usual if isinstance(usual, tuple) else (usual,)
        listed = f"; see 'torusweep {command} --help'" if one.spelled.title else ""
        how["description"] += f"{listed}{absent}"
        how["description"] += f"; {', '.join(names)} by default" if usual is not None else ""
        if usual is None and not required:
            return Spellings | None, Field(None, **how)
        return Spellings, Field(... if required else names, **how)
    if one.range is not None:
        exclusive = getattr(one.range, "open", False)
        above = exclusive or getattr(one.range, "above", False)
        least, most = "gt" if above else "ge", "lt" if exclusive else "le"
        how |= {least: one.range.minimum} | ({} if one.range.maximum is None else {most: one.range.maximum})
    kind = Literal[one.choices] if one.choices else one.kind
    meaning = how.pop("description")
    taken: Any = Annotated[kind, Field(**how)]
    if one.choices:
        taken = Annotated[taken, BeforeValidator(lambda given: as_known(given, one.choices))]
    if one.many or one.sweep.several:
        meaning += "" if one.many or usual is None else f"; {usual} by default"
        many: Any = Annotated[tuple.__class_getitem__((taken, ...)), Field(min_length=1, strict=False)]
        shown: Any = taken | Annotated[list.__class_getitem__(taken), Field(min_length=1)]
        taken = Annotated[many, BeforeValidator(_listed, json_schema_input_type=shown)]
        usual = usual if usual is None or one.many else (usual,)
    meaning += absent
    if one.optional and usual is None and not required:
        return taken | None, Field(None, description=meaning)
    return taken, Field(... if required else usual, description=meaning)


def _listed(value: Any) -> Any:
    return value if isinstance(value, list | dict) or value is None else [value]
