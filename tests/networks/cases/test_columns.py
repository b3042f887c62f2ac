"""Numbers of links in every format and type that other programs write: read as networkx has them, or refused in a line.

Each file is written by the library itself. A ring of four with uniform traffic saturates at two flits a cycle and
terminal if its links carry one, and at as many times that as they carry.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import networkx as nx
import pyarrow as pa
import pyarrow.parquet
import pytest
import torusweep as ts
from torusweep.errors import BadInput

from tests.faults.command_line import torusweep

HERE = Path(__file__).parent
RING = [(0, 1), (1, 2), (2, 3), (3, 0)]


def saturation(path: Path | str, **given: Any) -> float:
    options = "".join(f', {name}="{value}"' for name, value in given.items())
    found = ts.network(f'graph(path="{path}"{options})').loads().saturation_load
    assert found is not None
    return found


def test_decimals():
    assert saturation(HERE / "dec.parquet") == saturation(HERE / "dbl.parquet") == 4


def test_a_weight_is_refused_until_it_has_a_meaning():
    said = torusweep("loads", f"{HERE}/w.graphml")
    assert (said.status, said.out) == (2, "")
    assert (
        'expected bandwidth or latency of links, got weight, which may mean either; say weights="bandwidth"' in said.err
    )
    assert saturation(HERE / "w.graphml", weights="bandwidth") == 4
    assert saturation(HERE / "w.graphml", weights="none") == 2
    slow = ts.network(f'graph(path="{HERE}/w.graphml", weights="latency")')
    assert (slow.plan.latencies, slow.plan.bandwidths) == ((2,), ())


def as_parquet(name: str, values: pa.Array[Any], path: Path) -> Path:
    ends = {"source": [u for u, _ in RING], "target": [v for _, v in RING]}
    pyarrow.parquet.write_table(pa.table({**ends, name: values}), path / "g.parquet")
    return path / "g.parquet"


def as_graphml(name: str, values: list[Any], path: Path) -> Path:
    graph = nx.Graph()
    graph.add_nodes_from(range(4))
    for ends, value in zip(RING, values):
        graph.add_edge(*ends, **{name: value})
    nx.write_graphml(graph, path / "g.graphml")
    return path / "g.graphml"


def as_json(name: str, values: list[Any], path: Path) -> Path:
    graph = nx.Graph()
    for ends, value in zip(RING, values):
        graph.add_edge(*ends, **{name: value})
    (path / "g.json").write_text(json.dumps(nx.node_link_data(graph, edges="links")))
    return path / "g.json"


@pytest.mark.parametrize("name", ["bandwidth", "Bandwidth", "BANDWIDTH", "capacity", "bw"])
@pytest.mark.parametrize(
    "values",
    [
        pa.array([3] * 4, pa.uint8()),
        pa.array([3.0] * 4, pa.float32()),
        pa.array([Decimal("3.00")] * 4, pa.decimal128(5, 2)),
        pa.array(["3"] * 4),
        pa.array(["6/2"] * 4),
        pa.array([3] * 4).dictionary_encode(),
    ],
    ids=lambda values: str(values.type),
)
def test_bandwidths_in_parquet(tmp_path: Path, name: str, values: pa.Array[Any]):
    assert saturation(as_parquet(name, values, tmp_path)) == pytest.approx(6)


@pytest.mark.parametrize(
    "values", [pa.array([True] * 4), pa.array(["fast"] * 4), pa.array([[3]] * 4), pa.array([0] * 4)]
)
@pytest.mark.parametrize("name", ["bandwidth", "Latency", "multiplicity"])
def test_what_is_no_number_in_parquet_is_refused(tmp_path: Path, name: str, values: pa.Array[Any]):
    if name == "multiplicity" and values.type == pa.int64():
        name = "capacity"
    with pytest.raises(BadInput, match=r"(bandwidth|latency|latencies|multiplicity): expected"):
        saturation(as_parquet(name, values, tmp_path))


@pytest.mark.parametrize("write", [as_graphml, as_json])
@pytest.mark.parametrize(
    ("name", "value"), [("bandwidth", 3), ("Bandwidth", 3.0), ("capacity", 3), ("BW", 3), ("band-width", None)]
)
def test_bandwidths_of_networkx(tmp_path: Path, write: Callable[..., Path], name: str, value: Any):
    values = [3, 3, 3, 3] if value is None else [value] * 4
    assert saturation(write(name, values, tmp_path)) == pytest.approx(2 if value is None else 6)


def test_a_number_as_text_in_graphml(tmp_path: Path):
    assert saturation(as_graphml("bandwidth", ["3"] * 4, tmp_path)) == pytest.approx(6)


@pytest.mark.parametrize("value", ["fast", True, -1, 0.0])
@pytest.mark.parametrize("write", [as_graphml, as_json])
def test_what_is_no_number_of_networkx_is_refused(tmp_path: Path, write: Callable[..., Path], value: Any):
    with pytest.raises(BadInput, match="expected flits a cycle above 0 as bandwidth, got"):
        saturation(write("bandwidth", [value] * 4, tmp_path))


def test_a_default_and_a_key_for_all_in_graphml(tmp_path: Path):
    path = as_graphml("bandwidth", [3, 3, 3, 3], tmp_path)
    text = path.read_text()
    key = next(line for line in text.splitlines() if "<key" in line)
    path.write_text(text.replace('for="edge"', 'for="all"'))
    assert saturation(path) == pytest.approx(6)
    head, _, rest = text.partition(key)
    path.write_text(head + key.replace("/>", "><default>5</default></key>") + rest)
    assert saturation(path) == pytest.approx(6)
    edges = rest.replace('<data key="d0">3</data>', "")
    path.write_text(head + key.replace("/>", "><default>5</default></key>") + edges)
    assert saturation(path) == pytest.approx(10)


def test_two_columns_of_one_meaning(tmp_path: Path):
    path = as_parquet("Bandwidth", pa.array([3] * 4), tmp_path)
    table = pyarrow.parquet.read_table(path)
    pyarrow.parquet.write_table(table.append_column("capacity", pa.array([4] * 4)), path)
    with pytest.raises(BadInput, match="expected one column for bandwidth of links, got Bandwidth and capacity"):
        saturation(path)
    pyarrow.parquet.write_table(table.append_column("bandwidth", pa.array([4] * 4)), path)
    assert saturation(path) == 8
    assert "Bandwidth of links not read: the file has bandwidth, too" in ts.network(path).notes


def test_what_to_networkx_gives_is_read_back(tmp_path: Path):
    network = ts.network("with_links(fat_tree(k=2, n=3), bandwidths=[1, 4], latencies=[2, 20])")
    graph = network.to_networkx()
    nx.write_graphml(graph, tmp_path / "g.graphml")
    (tmp_path / "g.json").write_text(json.dumps(nx.node_link_data(graph, edges="edges")))
    for name in ("g.graphml", "g.json"):
        read = ts.network(tmp_path / name)
        assert sorted(read.terminals.tolist()) == sorted(network.terminals.tolist())
        assert read.loads().saturation_load == pytest.approx(network.loads().saturation_load)
        assert any("link_class of links not read" in note for note in read.notes)


@pytest.mark.parametrize("name", ["bandwidth", "Bandwidth", "capacity"])
def test_an_object_is_read_as_its_file(tmp_path: Path, name: str):
    graph = nx.Graph(RING)
    nx.set_edge_attributes(graph, 3, name)
    nx.set_node_attributes(graph, 2, "endpoints")
    nx.write_graphml(graph, tmp_path / "g.graphml")
    memory, file = ts.network(graph), ts.network(tmp_path / "g.graphml")
    assert memory.terminals.tolist() == file.terminals.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert memory.loads().saturation_load == file.loads().saturation_load == pytest.approx(3)
