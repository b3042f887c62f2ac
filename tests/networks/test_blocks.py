"""Blocks of networks: the arrays of each network in a block are those of the network alone."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.blocks import BUILDERS, block_of_networks, block_of_run
from torusweep.networks.families import FAMILIES, build, plan
from torusweep.networks.realisation import check_ports
from torusweep.networks.seed_runs import SeedRun
from torusweep.networks.topology import Plan

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


LISTS = {
    "lattices": "circulant(n=9,steps=[1,2]) circulant(n=8,steps=[3,5]) rtt(a=3) circulant(n=5,steps=[2,3])"
    " lattice(matrix=[[3,1],[0,2]]) lattice(matrix=[[1,0],[0,1]]) hexagonal_torus(a=1,b=2) circulant(n=6,steps=[1,4])",
    "boxes": "torus(radices=[3,4]) mesh(radices=[3,4]) torus(radices=[2,5]) mesh(radices=[2,2]) torus(k=3,n=3)"
    " slice(radices=[4,4,2],wrap=[true,false,false]) mesh(k=3,n=3) ring(k=7) pdtt(a=2)",
    "orders": "twisted_torus(radices=[3,4],twists={0:{1:1}}) rtt(a=2) twisted_torus(radices=[5,3],twists={0:{1:2}})",
    "directed": "torus(k=3,n=2,directed=true) kautz(d=2,k=3) torus(k=2,n=3,directed=true) de_bruijn(d=2,k=2)",
    "others": "ring(k=4) dragonfly(a=4,p=2,h=2) hyperx(radices=[3,4],terminals=2,widths=[2,1]) mesh(k=3,n=2)"
    " faulty(ring(k=9),links=1) random_regular(nodes=10,degree=4,seed=3) fat_tree(k=2,n=2)",
}


@pytest.mark.parametrize(
    "block",
    [
        *(pytest.param(lambda run=run: block_of_run(run), id=str(run)) for run in BLOCKS),
        *(
            pytest.param(lambda some=some: block_of_networks(map(plan, some.split())), id=id)
            for id, some in LISTS.items()
        ),
    ],
)
def test_each_network_has_the_arrays_that_it_has_alone(block):
    block = block()
    assert not block.refused
    assert block.spellings
    for place, own in enumerate(block.spellings):
        alone = build(own)
        assert alone.spelling == own  # canonical
        nodes, width = alone.ports.shape
        here = place, slice(nodes), slice(width)
        assert block.ports.dtype == np.int32
        assert block.link_class.dtype == np.int8
        assert (block.ports[here] == alone.ports).all()
        assert (block.ports[place, :, width:] == -1).all()
        assert (block.ports[place, nodes:] == -1).all()
        linked = alone.ports >= 0
        assert (block.link_class[here] == alone.link_class)[linked].all()
        capacity = np.ones(alone.ports.shape) if alone.capacity is None else alone.capacity
        ours = np.ones(block.ports.shape) if block.capacity is None else block.capacity
        assert (ours[here] == capacity)[linked].all()
        terminals = np.ones(block.ports.shape[:2]) if block.terminals is None else block.terminals
        assert (terminals[place] == np.bincount(alone.terminals, minlength=block.ports.shape[1])).all()
        assert block.plan.directed == alone.directed


@pytest.mark.parametrize(
    ("ports", "plan", "what"),
    [
        ([[1], [0], [3], [2]], {"radices": (3,)}, "node count"),
        ([[1, 2], [0, -1], [0, -1], [-1, -1]], {"degree": 1}, "more ports"),
        ([[1], [0], [3], [2]], {"nodes": 3, "radices": (3,)}, "outside"),
        ([[1], [0], [-2], [-1]], {}, "outside"),
        ([[1], [0], [2], [-1]], {}, "to itself"),
        ([[1], [2], [1], [-1]], {}, "one direction"),
    ],
)
def test_a_wrong_network_of_a_block_is_named(ports, plan, what):
    right = np.array([[1, 3], [0, 2], [1, 3], [2, 0]], np.int32)
    wrong = np.pad(np.array(ports, np.int32), ((0, 0), (0, 2 - len(ports[0]))), constant_values=-1)
    ring = Plan(nodes=4, degree=2, radices=(4,), wire=lambda: None)
    check_ports(["first", "last"], [ring, ring], np.stack([right, right]), None)
    with pytest.raises(AssertionError, match=f"^second: .*{what}"):
        check_ports(["first", "second"], [ring, replace(ring, **plan)], np.stack([right, wrong]), None)


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
