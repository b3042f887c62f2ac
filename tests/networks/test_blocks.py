"""Blocks of networks: the arrays of each network in a block are those of the network alone."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.blocks import BUILDERS, block_of_run
from torusweep.networks.families import FAMILIES, build
from torusweep.networks.seed_runs import SeedRun

BLOCKS = [
    SeedRun("faulty(torus(k=4, n=2), links=2", 0, 39),
    SeedRun("faulty(torus(k=4, n=2)", 0, 5),
    SeedRun("faulty(hyperx(radices=[3, 4], terminals=2, widths=[2, 1]), links=6, nodes=1", 0, 19),
    SeedRun("faulty(kautz(d=2, k=3), links=3, nodes=1", 0, 19),
    SeedRun("faulty(fat_tree(k=2, n=3), links=2, nodes=4", 0, 19),
    SeedRun("faulty(faulty(mesh(k=3, n=2), links=1, seed=4), links=2", 5, 24),
    SeedRun("random_regular(nodes=12, degree=3", 0, 39),
    SeedRun("random_regular(nodes=10, degree=2", 0, 39),  # drawn again until they are connected
    SeedRun("random_regular(nodes=9, degree=6", 3, 8),  # by the links that they do not have
    SeedRun("jellyfish(switches=8, ports=6, degree=3", 0, 19),
    SeedRun("xpander(degree=3, lift=2, terminals=2", 0, 39),
    SeedRun("dragonfly(a=4, p=2, h=2, arrangement=random", 0, 19),
    SeedRun("dragonfly(a=4, p=1, h=2, groups=3, arrangement=random, local=[2, 2]", 0, 19),  # parallel links
    SeedRun("megafly(leaves=2, spines=2, p=2, h=2, groups=2, arrangement=random", 0, 19),
    SeedRun("dragonfly(a=2, p=1, h=1", 0, 0),
]


@pytest.mark.parametrize("run", BLOCKS, ids=str)
def test_each_network_has_the_arrays_that_it_has_alone(run):
    block = block_of_run(run)
    assert not block.refused
    assert len(block.spellings) == run.size
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
    assert set(BUILDERS) <= {run.before.partition("(")[0] for run in BLOCKS}
    drawn = {name for name, family in FAMILIES.items() if "seed" in inspect.signature(family).parameters}
    assert len(drawn) >= 6
    assert drawn <= set(BUILDERS) <= set(FAMILIES)


@pytest.mark.parametrize(
    "run",
    [
        SeedRun("faulty(torus(k=4, n=2), links=40, nodes=2", 0, 3),
        SeedRun("faulty(torus(k=4, n=2), nodes=20", 0, 3),
        SeedRun("faulty(fat_tree(k=2, n=2), nodes=6", 0, 59),
        SeedRun("random_regular(nodes=6, degree=1", 0, 3),
        SeedRun("random_regular(nodes=6, degree=7", 0, 3),
    ],
    ids=str,
)
def test_what_a_network_is_refused_for_is_told(run):
    block = block_of_run(run)
    assert block.refused
    for place, own in enumerate(block.spellings):
        if place not in block.refused:
            build(own)
            continue
        assert (block.ports[place] == -1).all()
        with pytest.raises(BadInput) as alone:
            build(own)
        assert str(alone.value) == str(block.refused[place])
