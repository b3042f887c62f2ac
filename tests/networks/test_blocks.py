"""Blocks of networks: the arrays of each network in a block are those of the network alone."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.blocks import BUILDERS, block_of
from torusweep.networks.families import FAMILIES, build

RADICES = [[8, 3], [24], [2, 12], [3, 4, 2], [2, 2, 2, 3], [4, 2, 3]]
BLOCKS = [
    ("faulty(torus(k=4, n=2), links=2)", "seed", range(40)),
    ("faulty(torus(k=4, n=2))", "seed", [0, 5]),
    ("faulty(torus(k=4, n=2), nodes=3, seed=2)", "links", [0, 1, 7, 12]),
    ("faulty(torus(k=4, n=2), links=3, seed=9)", "nodes", [0, 1, 2, 5, 8]),
    ("faulty(hyperx(radices=[3, 4], terminals=2, widths=[2, 1]), links=6, nodes=1)", "seed", range(20)),
    ("faulty(kautz(d=2, k=3), links=3, nodes=1)", "seed", range(20)),
    ("faulty(fat_tree(k=2, n=3), links=2, nodes=4)", "seed", range(20)),
    ("faulty(faulty(mesh(k=3, n=2), links=1, seed=4), links=2)", "seed", range(20)),
    ("torus()", "radices", RADICES),
    ("torus(directed=true)", "radices", RADICES),
    ("mesh()", "radices", RADICES),
    ("random_regular(nodes=12, degree=3)", "seed", range(40)),
    ("random_regular(nodes=10, degree=2)", "seed", range(40)),  # drawn again until they are connected
    ("random_regular(nodes=9, degree=6)", "seed", [3, 8, 3]),  # by the links that they do not have
    ("random_regular(degree=3, seed=4)", "nodes", [12, 12]),
    ("jellyfish(switches=8, ports=6, degree=3)", "seed", range(20)),
    ("xpander(degree=3, lift=2, terminals=2)", "seed", range(40)),
    ("dragonfly(a=4, p=2, h=2, arrangement=random)", "seed", range(20)),
    ("dragonfly(a=4, p=1, h=2, groups=3, arrangement=random, local=[2, 2])", "seed", range(20)),  # parallel links
    ("megafly(leaves=2, spines=2, p=2, h=2, groups=2, arrangement=random)", "seed", range(20)),
    ("twisted_torus(twists={1: {0: 2}})", "radices", [[4, 4], [8, 2], [2, 8]]),
    ("dragonfly(a=2, p=1, h=1)", "seed", range(3)),
]


@pytest.mark.parametrize(("spelling", "parameter", "values"), BLOCKS)
def test_each_network_has_the_arrays_that_it_has_alone(spelling, parameter, values):
    block = block_of(spelling, parameter, values)
    assert not block.refused
    assert len(block.spellings) == len(values)
    for place, own in enumerate(block.spellings):
        alone = build(own)
        assert alone.spelling == own  # canonical
        width = alone.ports.shape[1]
        assert block.ports.dtype == np.int32
        assert block.link_class.dtype == np.int8
        assert (block.ports[place, :, :width] == alone.ports).all()
        assert (block.ports[place, :, width:] == -1).all()
        linked = alone.ports >= 0
        assert (block.link_class[place, :, :width] == alone.link_class)[linked].all()
        capacity = np.ones(alone.ports.shape) if alone.capacity is None else alone.capacity
        ours = np.ones(block.ports.shape) if block.capacity is None else block.capacity
        assert (ours[place, :, :width] == capacity)[linked].all()
        terminals = np.ones(block.ports.shape[:2]) if block.terminals is None else block.terminals
        assert (terminals[place] == np.bincount(alone.terminals, minlength=alone.nodes)).all()
        assert block.plan.directed == alone.directed


def test_every_builder_has_a_case():
    assert set(BUILDERS) <= {spelling.partition("(")[0] for spelling, _, _ in BLOCKS}
    drawn = {name for name, family in FAMILIES.items() if "seed" in inspect.signature(family).parameters}
    assert len(drawn) >= 6
    assert drawn <= set(BUILDERS) <= set(FAMILIES)


@pytest.mark.parametrize(
    ("spelling", "parameter", "values"),
    [
        ("faulty(torus(k=4, n=2), nodes=2)", "links", [3, 40, 28, 1]),
        ("faulty(torus(k=4, n=2))", "nodes", [16, 3, 20]),
        ("faulty(fat_tree(k=2, n=2), nodes=6)", "seed", range(60)),
        ("torus()", "radices", [[4, 4], [16, 1], [2, 8], []]),
        ("random_regular(nodes=6, degree=1)", "seed", range(4)),
        ("random_regular(nodes=6, degree=7)", "seed", range(4)),
    ],
)
def test_what_a_network_is_refused_for_is_told(spelling, parameter, values):
    block = block_of(spelling, parameter, values)
    assert block.refused
    for place, own in enumerate(block.spellings):
        if place not in block.refused:
            build(own)
            continue
        assert (block.ports[place] == -1).all()
        with pytest.raises(BadInput) as alone:
            build(own)
        assert str(alone.value) == str(block.refused[place])


@pytest.mark.parametrize(
    ("spelling", "parameter", "values", "expected"),
    [
        ("torsu()", "radices", [[4]], "unknown topology 'torsu' (did you mean 'torus'?)"),
        ("torus(k=4)", "m", [4], "unknown parameter 'm'"),
        ("torus(k=4)", "n", [2, 3], "expected networks of one size in a block, got 16 … 64 nodes"),
        ("torus()", "radices", [[4, 4], [5, 3]], "expected networks of one size in a block, got 15 … 16 nodes"),
        ("faulty(torus(k=4, n=2))", "seed", [0, -1], "seed=-1: expected ≥ 0"),
        ("faulty(torus(k=4, n=2))", "seed", range(-1, 3), "seed=-1: expected ≥ 0"),
        ("faulty(torus(k=4, n=2))", "topology", [0], "expected a parameter with values, got 'topology'"),
    ],
)
def test_refusals(spelling, parameter, values, expected):
    with pytest.raises(BadInput, match=re.escape(expected)):
        block_of(spelling, parameter, values)


def test_nothing():
    assert block_of("faulty(torus(k=4, n=2))", "seed", []).spellings == []
