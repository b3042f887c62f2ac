"""What keeps the house small (docs/architecture.md). Read off the sources, as in test_rooms.py."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import pytest
from torusweep.all_columns import all_tables
from torusweep.answers.best import BestNetworks
from torusweep.charts.looks import KINDS
from torusweep.networks import families
from torusweep.networks.families import FAMILIES, KIND_OF
from torusweep.networks.topology import Meaning, Whole
from torusweep.questions import QUESTIONS, question_named
from torusweep.questions.parameters import Parameter, parameters_of
from torusweep.questions.question import Askable, Question
from torusweep.questions.stage import Stage
from torusweep.stages import STAGES
from torusweep.tables.columns import NUMBERS, PURE, Column

from tests.measures import low_constants, measures, modules, repeated_classes

# A limit never rises in the commit that needs it, nor in the ten before. An ability pays by a deletion, or has a page
# in docs/decisions that names its lines (17 and 18: 6,300 beyond 82,424). What shrinks takes its limit with it.
LIMITS = {"lines": 88_842, "arrows": 353, "command line and library, lines": 3_107}
SLACK = 0.03
# pareto asks of rows what best asks of lattices
OTHERS = {"pareto", "front_of"}
# methods of the protocol that one question overrides: it has a rule of its own for quick answers, or runs in lockstep
OF_ONE_QUESTION = {"is_quick", "rows_of_many"}


@pytest.mark.parametrize("measure", LIMITS)
def test_the_house_does_not_grow(measure: str):
    value, most = measures(modules())[measure], LIMITS[measure]
    assert value <= most, f"{measure}: delete something, or write a page in docs/decisions that names the lines"
    assert value >= most * (1 - SLACK), f"{measure}: lower the limit to {value:,}"


def test_constants_stand_above_definitions():
    """But for those that are made of them."""
    low = {module.name: names for module in modules().values() if (names := low_constants(module.tree))}
    assert low == {}


def test_a_constant_below_a_definition_is_found_out():
    tree = ast.parse("A = 1\ndef f(): ...\nB = A + 1\nC = f()\nD = [C, B]\ne = 2\n")
    assert low_constants(tree) == ["B"]


def test_a_public_class_name_is_defined_once():
    assert repeated_classes(modules()) == {}


def test_a_method_of_the_protocol_serves_several_questions():
    protocol = {name for base in (Askable, Question, Stage) for name, value in vars(base).items() if callable(value)}
    asked = {type(one) for one in (*map(question_named, QUESTIONS), *STAGES.values())}
    owners = Counter(name for kind in asked for name in vars(kind) if name in protocol and not name.startswith("__"))
    assert {name for name, count in owners.items() if count == 1} == OF_ONE_QUESTION


@pytest.mark.parametrize("room", ["cli", "library", "sweeps", "answers"])
def test_parameters_of_questions_are_declared_with_them(room: str):
    """No reader of the declarations has a function with two or more of the parameters that only one question has."""
    owners = Counter(one.name for name in QUESTIONS for one in question_named(name).parameters)
    own = {name for name, count in owners.items() if count == 1}
    asked = {question_named(name).ask.__name__ for name in QUESTIONS} | OTHERS
    copies = {
        (module.name, function.name)
        for module in modules().values()
        if module.room == room
        for function in ast.walk(module.tree)
        if isinstance(function, ast.FunctionDef) and not function.name.startswith("_") and function.name not in asked
        if len(own & {argument.arg for argument in function.args.args + function.args.kwonlyargs}) > 1
    }
    assert copies == set()


def test_a_name_that_is_defined_twice_is_found_out():
    assert repeated_classes({"a": _module("a", "class Same: ..."), "b": _module("b", "class Same: ...")}) == {
        "Same": ["torusweep.a", "torusweep.b"]
    }


# --- a limit is part of a parameter's annotation -------------------------------------------------------

PARAMETERS = [one for name in QUESTIONS for one in question_named(name).parameters]
NAMES = {name for one in PARAMETERS for name in (one.name, one.column)}
SIZES = ("Topology", "Plan", "LazyNetwork", "Space")  # what has nodes of its own, which no annotation can limit


def unlimited(parameters: Iterable[Parameter]) -> list[str]:
    """Numbers without a range. One of several types is left out: its range would not say which."""
    return [one.name for one in parameters if one.kind in (int, float) and one.range is None and not one.others]


def limits_by_hand(tree: ast.AST) -> list[str]:
    """Conditions on which a function refuses a parameter whatever the others are, and rows (name, value, limits)."""
    found = []
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            given = _given(function)
            raising = [node for node in ast.walk(function) if isinstance(node, ast.If) and _raises(node.body)]
            for condition in (part for node in raising for part in _alone(node.test)):
                found += [ast.unparse(condition)] if _limits(condition, given) else []
            for node in ast.walk(function) if raising else ():
                if isinstance(node, ast.Tuple) and len(node.elts) > 2 and isinstance(node.elts[0], ast.Constant):
                    name, value, *limits = node.elts
                    mine = _parameter(value, given) and _parameter(value, given).removesuffix("s") in str(name.value)
                    found += [ast.unparse(node)] if mine and any(map(_constant, limits)) else []
    return found


def _raises(body: list[ast.stmt]) -> bool:
    return any(isinstance(each, ast.Raise) or (isinstance(each, ast.With) and _raises(each.body)) for each in body)


def _alone(test: ast.expr) -> Iterator[ast.expr]:
    """The parts of a condition each of which is enough; whether a value is given at all does not count."""
    match test:
        case ast.BoolOp(op=ast.Or(), values=parts) | ast.UnaryOp(op=ast.Not(), operand=ast.BoolOp(ast.And(), parts)):
            for part in parts:
                yield from _alone(part)
        case ast.BoolOp(op=ast.And(), values=parts):
            own = [part for part in parts if not _is_given(part, parts)]
            if len(own) == 1:
                yield from _alone(own[0])
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            yield from _alone(inner)
        case ast.Call(func=ast.Name(id="any" | "all"), args=[ast.GeneratorExp(elt=each)]):
            yield from _alone(each)
        case _:
            yield test


def _is_given(part: ast.expr, parts: list[ast.expr]) -> bool:
    """Whether it says of a value only that there is one, as in `packets is not None and packets < 64`."""
    none = isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.Is | ast.IsNot)
    again = any(part is not other and ast.dump(part) in ast.dump(other) for other in parts)
    return none or (isinstance(part, ast.Name | ast.Attribute) and again)


def _limits(condition: ast.expr, given: dict[str, str]) -> bool:
    if not isinstance(condition, ast.Compare) or isinstance(condition.ops[0], ast.Is | ast.IsNot):
        return False
    sides = [condition.left, *condition.comparators]
    named = NAMES
    if isinstance(condition.ops[0], ast.In | ast.NotIn):  # a name of a table is looked up, a choice is not
        named = {one.name for one in PARAMETERS if one.choices}
    pairs = [pair for two in pairwise(sides) for pair in (two, two[::-1])]
    return any(_parameter(one, given) in named and _constant(other) for one, other in pairs)


def _given(function: ast.FunctionDef) -> dict[str, str]:
    """What a function was given under each name: its arguments but networks, and the items of those."""
    own = function.args
    given = {
        one.arg: one.arg
        for one in (*own.posonlyargs, *own.args, *own.kwonlyargs)
        if one.annotation is None or not any(size in ast.unparse(one.annotation) for size in SIZES)
    }
    for node in ast.walk(function):
        if isinstance(node, ast.For | ast.comprehension) and given.keys() & _names(node.iter):
            given |= {name: _parameter(node.iter, given) or name for name in _names(node.target)}
    return given


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _parameter(node: ast.expr, given: dict[str, str]) -> str:
    """The parameter of a question that a function was given under this name; empty for anything else."""
    match node:
        case ast.Name(id=name) if name in given:
            found = given[name]
        case ast.Attribute(value=ast.Name(id=owner), attr=found) if owner in given:
            pass
        case ast.Subscript(value=ast.Name(id=owner), slice=ast.Constant(value=str(found))) if owner in given:
            pass
        case _:
            return ""
    return next((known for known in (found, f"{found}s") if known in NAMES), "")


def _constant(node: ast.expr) -> bool:
    """Whether it is a number, a text, a constant of a module, or made of these."""
    parts = [each for each in ast.walk(node) if isinstance(each, ast.Name | ast.Attribute | ast.Constant)]
    names = [
        each.id if isinstance(each, ast.Name) else each.attr for each in parts if not isinstance(each, ast.Constant)
    ]
    return bool(parts) and all(name.isupper() or name == "float" for name in names)


def test_a_limit_is_part_of_a_parameter_s_annotation():
    assert unlimited(PARAMETERS) == []
    asked = {module for module, _ in QUESTIONS.values()}
    rooms = [module for module in modules().values() if module.room.startswith("questions") or module.name in asked]
    assert {module.name: by_hand for module in rooms if (by_hand := limits_by_hand(module.tree))} == {}


@pytest.mark.parametrize(
    "body",
    [
        "if packets < 64: raise BadInput('expected 64 or more')",
        "if packets and packets < 64: raise BadInput('expected 64 or more')",
        "if packets is not None and not 64 <= packets <= MOST: raise BadInput('expected 64 or more')",
        "if isinstance(network, Torus) or packets > 10**12:\n  with under('packets'):\n   raise Refused('too many')",
        "if self.max_wire < 1: raise BadInput('expected 1 or more')",
        "for seed in seeds:\n  if not 0 <= seed < 2**64: raise BadInput('expected 64 bits')",
        "if any(one > MOST for one in seeds): raise BadInput('expected less')",
        "if not all(0 < one < MOST for one in seeds): raise BadInput('expected less')",
        "if not (load > 0 and load < float('inf')): raise ValueError('expected a load above 0')",
        "if values['method'] not in METHODS: raise BadInput('expected a method')",
        "for name, value, *ends in (('chains', self.chains, 1, MOST),):\n  if value < 1: raise BadInput(name)",
    ],
)
def test_a_limit_that_is_checked_by_hand_is_found_out(body: str):
    head = "def ask(self, network: Topology, how, packets, seeds, load, values):\n "
    assert limits_by_hand(ast.parse(head + body)) != []


@pytest.mark.parametrize(
    "body",
    [
        "if packets > network.nodes: raise BadInput('more than nodes')",
        "if isinstance(form, Adaptive) and packets < 2: raise BadInput('adaptive routing needs 2')",
        "if network.nodes > MOST: raise Refused('too large')",
        "if packets is None: raise BadInput('expected packets')",
        "if how.measures not in MEASURES: raise BadInput('unknown measure')",
        "if how.adaptive and packets < 2: raise BadInput('adaptive routing needs 2')",
        "if packets < 2: return None",
        "rows = len(packets)\n if rows > MOST: raise Refused('too many')",
    ],
)
def test_what_an_annotation_cannot_say_is_no_limit(body: str):
    assert limits_by_hand(ast.parse(f"def ask(network: Topology, how, packets):\n {body}")) == []


def test_a_number_without_a_range_is_found_out():
    def ask(free: Annotated[int, Meaning("any")], most: Annotated[float, Whole(0, "some")] = 1.0): ...

    assert unlimited(parameters_of(ask, 0)) == ["free"]


# --- a column says unit, meaning and which way is better, a family its kind ----------------------------


def faults_of(column: Column) -> list[str]:
    """What a column's declaration lacks, or says of what is no number."""
    number = column.type in NUMBERS
    return [
        *(["meaning"] if not column.meaning.strip() else []),
        *(["unit"] if number and not column.unit.strip() else []),
        *(["better"] if (column.better in ("more", "less", "neither")) is not number else []),
    ]


@pytest.mark.parametrize("table", [*all_tables(), "best networks"])
def test_a_column_says_its_unit_its_meaning_and_which_way_is_better(table: str):
    columns = BestNetworks.columns if table == "best networks" else all_tables()[table].columns
    assert {column.name: faults for column in columns if (faults := faults_of(column))} == {}


def test_columns_of_one_name_and_unit_agree_on_which_way_is_better():
    """Where a value is asked for, in points, neither is."""
    said: dict[tuple[str, str], set[str]] = {}
    for name, table in all_tables().items():
        for column in table.columns if name != "points" else ():
            if column.type not in NUMBERS:
                continue
            said.setdefault((column.name, column.unit), set()).add(column.better)
    assert {key: ways for key, ways in said.items() if len(ways) > 1} == {}


@pytest.mark.parametrize(
    ("column", "faults"),
    [
        (Column("latency", "double", "", "mean time", "less"), ["unit"]),
        (Column("latency", "double", "cycles", " ", "less"), ["meaning"]),
        (Column("latency", "double", "cycles", "mean time"), ["better"]),
        (Column("stretch", "double", PURE, "over the shortest", "less"), []),
        (Column("names", "list<string>", "", "of nodes", "more"), ["better"]),
        (Column("routing", "string", "", "its name"), []),
    ],
)
def test_a_column_that_does_not_say_them_is_found_out(column: Column, faults: list[str]):
    assert faults_of(column) == faults


def without_kind(functions: Iterable[str], kinds: dict[str, str]) -> list[str]:
    """Families whose kind has no colour. Only what changes or reads other networks is of the kind other."""
    return [
        name for name in functions if kinds.get(name) not in KINDS or (kinds[name] == "other") is not (name in WRAP)
    ]


WRAP = ("graph", "faulty", "without", "concentrated", "with_links")


def test_a_family_says_its_kind():
    folder = Path(families.__file__).parent
    declared = {
        function.name
        for path in folder.glob("*.py")
        for function in ast.parse(path.read_text()).body
        if isinstance(function, ast.FunctionDef) and function.returns is not None
        if not function.name.startswith("_") and ast.unparse(function.returns) == "Plan" and path.name != "__init__.py"
    }
    assert declared - {*FAMILIES} == set()
    assert without_kind(FAMILIES, KIND_OF) == []
    assert without_kind(["torus", "slim_fly"], {"torus": "torus"}) == ["slim_fly"]
    assert without_kind(["slim_fly"], {"slim_fly": "other"}) == ["slim_fly"]
    assert {*KIND_OF.values()} == {*KINDS}  # no colour stands for nothing


def _module(name: str, text: str):
    some = next(iter(modules().values()))
    return type(some)(f"torusweep.{name}", some.path, ast.parse(text), 1)


# --- what a person reads -------------------------------------------------------------------------------

# a first line that begins so finishes another line, such as its function's name
WITHOUT_SUBJECT = re.compile(r"(?:Of|As|Than|Besides?|In place of)\b")
BRACKETED = re.compile(r"\([^()]*\)|`[^`]*`")


def unclear(line: str) -> bool:
    """Whether a docstring's first line begins without a subject, or has two semicolons outside brackets."""
    return WITHOUT_SUBJECT.match(line) is not None or BRACKETED.sub("", line).count(";") > 1


def documented(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> Iterator[str]:
    """The docstrings of a module, class or function, and of those that it defines."""
    yield ast.get_docstring(node, clean=False) or ""
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef):
            yield from documented(child)


def test_a_docstring_begins_with_a_subject_or_a_verb():
    firsts = {name: [text.split("\n")[0] for text in documented(module.tree)] for name, module in modules().items()}
    assert sum(map(len, firsts.values())) > 4000
    assert {name: wrong for name, lines in firsts.items() if (wrong := [one for one in lines if unclear(one)])} == {}


@pytest.mark.parametrize(
    ("line", "is_unclear"),
    [
        ("Of a parameter that a command takes without an option's name.", True),
        ("As many as the plan shows, parallel links once.", True),
        ("place: of each task; value: hops · demand; all: no limit.", True),
        ("Marks a positional argument.", False),
        ("Fat tree XGFT(h; m₁ … m_h; w₁ … w_h); its nodes of level 0 are the terminals.", False),
        ("Offered load, as in a request; None without one.", False),
    ],
)
def test_an_unclear_first_line_is_found_out(line: str, is_unclear: bool):
    assert unclear(line) is is_unclear


# folders of tests that are about all rooms, or hold what tests read
OF_ALL_ROOMS = {"benchmarks", "certify", "docs", "faults", "kernels", "meaning", "packaging", "refusals"}


def test_tests_stand_where_the_code_stands():
    root = Path(__file__).resolve().parents[1]
    folders = {str(path.parent.relative_to(root / "tests")) for path in root.glob("tests/**/test_*.py")} - {"."}
    rooms = {name for name in folders if name.split("/")[0] not in OF_ALL_ROOMS}
    wrong = {name for name in rooms if not (root / "pipeline/torusweep" / name).is_dir()}
    assert wrong == {"answers/browser", "networks/cases"}  # a browser's fixtures; files that were read wrongly once


# --- a table is declared once -----------------------------------------------------------------------------

READERS = ("answers", "cli", "library", "sweeps")  # they read the declarations of tables
# a question, a section of the page, and what makes the tables of a configuration: each knows its own table
OF_ONE_TABLE = {
    *("answers.best", "answers.page.verification", "sweeps.latency", "sweeps.requested_points"),
    "sweeps.configuration.schema",  # the section of latency, which is no stage
}
NAMED = {"answers.plot: COMPARED", "answers.page.explorer: AUTOMATIC", "answers.page.explorer: DEFAULT"}


def naming_tables(tree: ast.Module, names: set[str]) -> list[str]:
    """Constants in which a list, a set or a mapping has names of tables or columns, and no other words."""
    found = []
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for part in ast.walk(node.value):
                items = part.keys if isinstance(part, ast.Dict) else getattr(part, "elts", [])
                words = {one.value for one in items if isinstance(one, ast.Constant) and isinstance(one.value, str)}
                if words and words <= names:
                    found.append(ast.unparse(node.target if isinstance(node, ast.AnnAssign) else node.targets[0]))
    return found


def test_what_reads_tables_names_none():
    names = {name for table in all_tables().values() for name in (table.name, *table.names)}
    rooms = {module.name.removeprefix("torusweep."): module for module in modules().values() if module.room in READERS}
    found = {name: naming_tables(module.tree, names) for name, module in rooms.items() if name not in OF_ONE_TABLE}
    assert {f"{name}: {constant}" for name, constants in found.items() for constant in constants} == NAMED


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("DERIVED = ('loads', 'cost')", ["DERIVED"]),
        ("USUAL: dict[str, str] = {'routing': 'minimal'}", ["USUAL"]),
        ("A = (*B, 'routing')", ["A"]),
        ("KINDS = ('loads', 'trees')", []),  # other words
        ("LOADS = DECLARED['loads']", []),
        ("def f():\n    return ['loads']", []),
    ],
)
def test_a_constant_that_names_tables_is_found_out(text: str, found: list[str]):
    assert naming_tables(ast.parse(text), {"loads", "cost", "routing"}) == found


def assemblies(tree: ast.Module, columns: set[str]) -> list[str]:
    """Functions with a mapping that names ten columns or more: each assembles rows."""
    return [
        function.name
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for part in ast.walk(function)
        if isinstance(part, ast.Dict)
        and len(columns & {key.value for key in part.keys if isinstance(key, ast.Constant)}) >= 10
    ]


def test_a_stage_assembles_its_rows_in_one_place():
    """But for screen: rows of a design space have numbers of their own."""
    found: dict[str, list[str]] = {name: [] for name in STAGES}
    for name, stage in STAGES.items():
        room = type(stage).__module__.removeprefix("torusweep.").rpartition(".")[0].replace(".", "/")
        for module in modules().values():
            found[name] += assemblies(module.tree, {one.name for one in stage.columns}) if module.room == room else []
    assert all(found.values())
    assert {name: own for name, own in found.items() if len(own) > 1} == {"screen": ["columns_of", "screen_lattices"]}


@pytest.mark.parametrize(("columns", "found"), [("abcdefghij", ["row", "block"]), ("abcdefghi", [])])
def test_a_second_place_that_assembles_rows_is_found_out(columns: str, found: list[str]):
    same = f"return {dict.fromkeys(columns)}"
    assert assemblies(ast.parse(f"def row():\n {same}\ndef block():\n {same}"), {*columns, "z"}) == found
