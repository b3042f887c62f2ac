"""Describe the schema of configurations in words, for error messages and for docs/config.md."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from torusweep.documents import Place, spelled
from torusweep.questions.stage import NetworkChoice
from torusweep.stages import STAGES
from torusweep.sweeps.configuration.schema import Sweep

_INTRODUCTION = """\
# Configuration

`make docs` makes this page from `pipeline/torusweep/sweeps/configuration/schema.py`. \
A configuration is a YAML file of plain values
(no anchors, aliases or tags). A key that is not listed here is an error; the message gives its line and
the nearest key that exists.

Networks are written in four ways:

```yaml
topologies:
  - torus(k=8, n=3)                                   # as a spelling; 'torusweep topologies' lists the families
  - topology: torus(k=16, n=3)                        # as a spelling with information for readers, which the table
    label: TPU v4                                     # `labels` and the page's section "Machines" show
    year: 2020
    comparison: About 4,000 terminals
  - family: torus                                     # as a family with values, lists and ranges: all combinations
    k: {from: 4, to: 32, step: 4}
    n: [2, 3]
  - require: {nodes: {from: 4000, to: 4200}, degree: {to: 6}}   # as a requirement, for networks of every family
```

In a requirement, "every family" means each family whose parameters are whole numbers or are given under `parameters`.
So graph files, lattices, faulty networks and mixed radices are only included if they are given. A parameter that does
not change the number of nodes is tried with all its values if these are few (q, the number of intact dimensions). If
they may be many (the length of a twist), its values must be given. Parameters with a default keep it.

Most keys that hold one value also take a list; an entry is computed for all combinations of its lists' values. Points
are counted before anything is computed. A network that is requested twice is one point.

"""
_CHOOSING = """
## Networks of an entry

Every entry of {sections} also has these keys. A key that is
listed above for an entry has the meaning that is given there:

"""
_HEAD = "| key | holds | default | meaning |\n|---|---|---|---|"


class Key:
    """A key of the schema, with references resolved: its permitted values, its meaning, and the keys inside."""

    def __init__(self, node: dict[str, Any], *, required: bool = False) -> None:
        self.description: str = node.get("description", "")
        self.required = required
        self.default = node.get("default")
        self.alternatives = list(_alternatives(node))

    def or_else(self, other: Key | None) -> Key:
        """Merge a key of the same name in another kind of entry into this key, and return this key."""
        if other is not None:
            self.description = "; or ".join(dict.fromkeys(filter(None, (other.description, self.description))))
            self.required = self.required and other.required
            self.default = self.default if other.default is None else other.default
            self.alternatives = [*other.alternatives, *self.alternatives]
        return self

    def expected(self) -> str:
        """Return the values that the key may have, in words, such as 'a whole number ≥ 1' or 'auto or a time'."""
        return " or ".join(dict.fromkeys(_words(node) for node in self.alternatives))

    def inside(self) -> dict[str, Key]:
        """Return the keys inside a mapping, by name; for a list, '' → the key that stands for its items."""
        found: dict[str, Key] = {}
        for node in self.alternatives:
            for name, inner in node.get("properties", {}).items():
                found[name] = Key(inner, required=name in node.get("required", ())).or_else(found.get(name))
            if "items" in node:
                found[""] = Key(node["items"])
        return found


@cache
def root() -> Key:
    """Return the key that stands for the whole configuration."""
    return Key(_schema())


def at(place: Place) -> Key | None:
    """Return the schema's key at a place in a configuration; None if there is no such key."""
    key: Key | None = root()
    for step in place:
        key = None if key is None else key.inside().get("" if isinstance(step, int) else step)
    return key


def documentation() -> str:
    """Return the text of docs/config.md: every key with its possible values, its default and its meaning.

    Keys shared by all entries that choose networks are listed only once.
    """
    common, sections, shared = dict[Place, str](), list[str](), set[Place]()
    for name, section in sorted(root().inside().items(), key=lambda item: item[0] not in STAGES):  # stages first
        entry = section.inside().get("")
        if entry is None or not NetworkChoice.model_fields.keys() <= entry.inside().keys():
            continue
        sections.append(f"`{name}`")
        for place, key in _keys((), entry):
            if place[0] in NetworkChoice.model_fields and common.setdefault(place, _row(place, key)) == _row(
                place, key
            ):
                shared.add((f"{name}[]", *place))
    rows = [_row(place, key) for place, key in _keys((), root()) if place not in shared]
    chosen = _CHOOSING.format(sections=f"{', '.join(sections[:-1])} and {sections[-1]}")
    return "\n".join([_INTRODUCTION + _HEAD, *rows, chosen + _HEAD, *common.values()]) + "\n"


def json_schema() -> str:
    """Return the text of config/schema.json, with which editors complete and check configurations."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **_schema()}
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def _row(place: Place, key: Key) -> str:
    cells = (f"`{spelled(place)}`", key.expected(), "required" if key.required else _written(key), key.description)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _keys(place: Place, key: Key) -> Iterator[tuple[Place, Key]]:
    for name, inner in key.inside().items():
        if name:
            yield (*place, name), inner
            yield from _keys((*place, name), inner)
        else:
            yield from _keys((*place[:-1], f"{place[-1]}[]"), inner)


def _written(key: Key) -> str:
    """Return a key's default in YAML; '' for a section, whose own keys have defaults."""
    if key.default in (None, [], {}, "") or key.inside():
        return "null" if "null" in key.expected() else ""
    return json.dumps(key.default, ensure_ascii=False).strip('"')


@cache
def _schema() -> dict[str, Any]:
    return Sweep.model_json_schema(by_alias=True)


def _alternatives(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "$ref" in node:
        yield from _alternatives(_schema()["$defs"][node["$ref"].rpartition("/")[2]])
    elif "anyOf" in node or "oneOf" in node:
        for inner in node.get("anyOf") or node["oneOf"]:
            yield from _alternatives(inner)
    else:
        yield node


def _words(node: dict[str, Any]) -> str:
    if "const" in node:
        return str(node["const"])
    if "enum" in node:
        return " or ".join(node["enum"])
    kind = node.get("type")
    if kind in ("integer", "number"):
        return ("a whole number" if kind == "integer" else "a number") + _range(node)
    if kind == "string":
        return "text" + (f" of at most {node['maxLength']} characters" if "maxLength" in node else "")
    names = {"boolean": "true or false", "null": "null", "array": "a list", "object": "a mapping"}
    return names.get(str(kind), "a value")


def _range(node: dict[str, Any]) -> str:
    least, most = node.get("minimum"), node.get("maximum")
    if "exclusiveMinimum" in node:
        return f" > {node['exclusiveMinimum']:g}" + (f" and ≤ {most:,}" if most is not None else "")
    if most is not None:
        return f" {least:,} … {most:,}" if isinstance(least, int) else f" {least:g} … {most:g}"
    return f" ≥ {least:,}" if least is not None else ""
