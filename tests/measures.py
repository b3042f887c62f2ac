"""Size and shape of the code, read off the sources: `make measures` prints them, tests/test_rooms.py sets the limits.

A room is a folder of `torusweep` or `torusweep_kernels`, or a module beside these folders; a question's is one.
An arrow is a pair of rooms of which one imports the other. A room's floor is the longest chain of arrows below it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

import networkx

ROOT = Path(__file__).parent.parent
PACKAGES = {"torusweep": ROOT / "pipeline" / "torusweep", "torusweep_kernels": ROOT / "kernels" / "torusweep_kernels"}
SHIPPED = (".py", ".cu", ".cuh", ".js", ".css", ".html", ".yaml")  # that a wheel holds; its .pyi are made of them
# documented, in spite of the underscore
PUBLIC = {"_asdict", "_fields", "_make", "_replace", "_exit", "_thread"}


@dataclass
class Module:
    """A module of ours; `importing` is what it imports, in dotted names, with whether a function does it."""

    name: str
    path: Path
    tree: ast.Module
    lines: int
    importing: list[tuple[str, bool]] = field(default_factory=list)

    @cached_property
    def room(self) -> str:
        """As in 'networks', 'questions/loads', 'kernels/router'; the package itself is '', as a command it is 'cli'."""
        package, *parts = self.name.split(".")
        if parts == ["__main__"]:
            return "cli"
        if package == "torusweep_kernels":
            return "/".join(["kernels", *parts[:1]])
        asked = parts[:1] == ["questions"] and (len(parts) > 2 or self.path.name == "__init__.py")
        return "/".join(parts[: 1 + asked])

    @cached_property
    def parameters(self) -> dict[str, int]:
        """The number of parameters of each function, self and cls included."""
        counts = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                given = node.args
                plain = len(given.posonlyargs + given.args + given.kwonlyargs)
                counts[node.name] = plain + bool(given.vararg) + bool(given.kwarg)
        return counts


@cache
def modules() -> dict[str, Module]:
    """Every module of the two packages, by its dotted name. It takes seconds: not for the import of a test."""
    found = {}
    for package, folder in PACKAGES.items():
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            name = ".".join([package, *(part for part in parts if part != "__init__")])
            text = path.read_text()
            found[name] = Module(name, path, ast.parse(text), len(text.splitlines()))
    for module in found.values():
        module.importing = list(_imports(module, module.tree, inside=False))
    return found


def _imports(module: Module, node: ast.AST, *, inside: bool) -> Iterator[tuple[str, bool]]:
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Import(names=names):
                yield from ((alias.name, inside) for alias in names)
            case ast.ImportFrom(module=origin, level=level, names=names):
                assert level == 0, f"{module.path}: relative import"
                yield from ((f"{origin}.{alias.name}", inside) for alias in names)
            case ast.Call(func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(name)), *_]):
                yield name, inside
        yield from _imports(module, child, inside=inside or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef))


def module_graph(found: dict[str, Module]) -> networkx.DiGraph:
    """Which module imports which. `torusweep/__init__.py` is left out: it imports its names when they are used."""
    graph = networkx.DiGraph()
    for module in found.values():
        if module.name == "torusweep":
            continue
        graph.add_node(module.name)
        for name, _ in module.importing:
            target = name if name in found else name.rpartition(".")[0]
            if target in found and target not in ("torusweep", module.name):
                graph.add_edge(module.name, target)
    return graph


def room_graph(found: dict[str, Module]) -> networkx.DiGraph:
    """Which room imports which."""
    graph = networkx.DiGraph()
    graph.add_nodes_from(module.room for module in found.values() if module.room)
    for one, other in module_graph(found).edges:
        if found[one].room != found[other].room:
            graph.add_edge(found[one].room, found[other].room)
    return graph


def circles(graph: networkx.DiGraph) -> list[set[str]]:
    """Strongly connected components of more than one node."""
    return [part for part in networkx.strongly_connected_components(graph) if len(part) > 1]


def private_names(found: dict[str, Module]) -> set[tuple[str, str]]:
    """(module, name) of attributes and imported names with an underscore that nothing of ours defines."""
    ours = set(PUBLIC) | {name for module in found.values() for name in _defined(module.tree)}
    used = set()
    for module in found.values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Attribute) and _private(node.attr) and node.attr not in ours:
                used.add((module.name, node.attr))
        for name, _ in module.importing:
            package = name.partition(".")[0]
            if package not in PACKAGES and any(_private(part) and part not in PUBLIC for part in name.split(".")):
                used.add((module.name, name))
    return used


def _private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _defined(tree: ast.Module) -> Iterator[str]:
    """Names that a module binds: functions, classes, variables, attributes."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store(), value=ast.Name(id="self" | "cls")):
                yield name


def floors(graph: networkx.DiGraph) -> int:
    """Rooms of the longest chain of arrows; circles count as one room."""
    return networkx.dag_longest_path_length(networkx.condensation(graph)) + 1


def source_lines(folders: Iterable[Path], *suffixes: str) -> int:
    return sum(
        len(path.read_text().splitlines())
        for folder in folders
        for suffix in suffixes
        for path in folder.rglob(f"*{suffix}")
    )


def low_constants(tree: ast.Module) -> list[str]:
    """Constants below a module's first function or class that need none of these, nor what else stands below it."""
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    first = next((place for place, node in enumerate(tree.body) if isinstance(node, definitions)), len(tree.body))
    below = {node.name for node in tree.body if isinstance(node, definitions)}
    found = []
    for node in tree.body[first:]:
        named = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        used = {part.id for part in ast.walk(node.value) if isinstance(part, ast.Name)}
        if used & below or not all(name.lstrip("_").isupper() for name in named):
            below |= named
        else:
            found += sorted(named)
    return found


def repeated_classes(found: dict[str, Module]) -> dict[str, list[str]]:
    """Public names of classes that several modules of the pipeline define, with these modules."""
    places: dict[str, list[str]] = {}
    for module in found.values():
        if module.name.startswith("torusweep."):
            for node in module.tree.body:
                if isinstance(node, ast.ClassDef) and not _private(node.name):
                    places.setdefault(node.name, []).append(module.name)
    return {name: modules for name, modules in places.items() if len(modules) > 1}


def measures(found: dict[str, Module]) -> dict[str, int]:
    """What tests/test_house.py limits."""
    return {
        "lines": source_lines(PACKAGES.values(), *SHIPPED),
        "arrows": room_graph(found).number_of_edges(),
        "command line and library, lines": sum(m.lines for m in found.values() if m.room in ("cli", "library")),
    }


def main() -> None:
    """Print every measure, one a line."""
    found = modules()
    orchestration = [module for module in found.values() if module.room == "run"]
    doors = [module for module in found.values() if module.room in ("cli", "library")]
    rooms = room_graph(found)
    pipeline = networkx.subgraph(rooms, [room for room in rooms if not room.startswith("kernels")])
    longest = max(found.values(), key=lambda module: module.lines)
    most, name = max((count, f"{m.name}.{f}") for m in found.values() for f, count in m.parameters.items())
    inside = [m.name for m in found.values() for n, within in m.importing if within and n.partition(".")[0] in PACKAGES]
    for what, value in {
        "orchestration (run/): modules / lines": f"{len(orchestration)} / {sum(m.lines for m in orchestration):,}",
        "Python modules, product": len(found),
        "lines that a wheel ships": f"{source_lines(PACKAGES.values(), *SHIPPED):,}",
        "longest module": f"{longest.lines} ({longest.name})",
        "most parameters": f"{most} ({name})",
        "rooms / floors / arrows": f"{len(rooms)} / {floors(rooms)} / {rooms.number_of_edges()}",
        "of these without kernels/": f"{len(pipeline)} / {floors(pipeline)} / {pipeline.number_of_edges()}",
        "circles of rooms / of modules": f"{circles(rooms)} / {circles(module_graph(found))}",
        "private names of other packages": len(private_names(found)),
        "public class names defined more than once": len(repeated_classes(found)),
        "command line and library: modules / lines": f"{len(doors)} / {sum(module.lines for module in doors):,}",
        "imports of ours inside functions, outside cli/": sum(".cli" not in module for module in inside),
    }.items():
        print(f"{what:50}{value}")


if __name__ == "__main__":
    main()
