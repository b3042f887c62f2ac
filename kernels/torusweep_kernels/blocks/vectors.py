"""Inner loops over blocks of networks, in LLVM vector instructions. A row is four numbers or four words."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from torusweep_kernels.compile import INT64, Vectors, intrinsic, types

LANES = 4  # limbs of a number; words of a row that are gathered at once, where there are several


@intrinsic
def carry(context, heads, tails, dag, listed, paths, links, unit, load, weighted):
    """Set load[c] += paths[v] · unit[w], unit[v] += unit[w] for channels c = dag[listed − 1 … 0] from v to w, limb by
    limb. If `weighted` is not an empty tuple, unit[w] is first multiplied by links[c].
    """

    def codegen(context, builder, signature, arguments):
        v = Vectors(
            "heads tails dag listed paths links unit load weighted", LANES, context, builder, signature, arguments
        )
        heads, tails, dag, paths, links, unit, load = (
            v.data(name) for name in ("heads", "tails", "dag", "paths", "links", "unit", "load")
        )
        last = builder.sub(v.value("listed"), ir.Constant(INT64, 1))
        with v.loop(ir.Constant(INT64, 0), v.value("listed")) as (place, _):
            channel = v.index(dag, builder.sub(last, place))
            node = v.index(tails, channel)
            row, where = v.at(unit, node), v.at(load, channel)
            farther = v.load(v.at(unit, v.index(heads, channel)))
            if len(weighted):
                farther = builder.fmul(farther, v.spread(v.item(links, channel)))
            own = v.spread(v.item(paths, node))
            v.store(v.call(f"fma.v{LANES}f64", v.doubles, own, farther, v.load(where)), where)
            v.store(builder.fadd(v.load(row), farther), row)
        return context.get_dummy_value()

    return types.none(heads, tails, dag, listed, paths, links, unit, load, weighted), codegen


@intrinsic
def copy_row(context, source, place, target, where):
    """Set target[where] = source[place]; both are rows of limbs."""

    def codegen(context, builder, signature, arguments):
        v = Vectors("source place target where", LANES, context, builder, signature, arguments)
        v.store(v.load(v.at(v.data("source"), v.value("place"))), v.at(v.data("target"), v.value("where")))
        return context.get_dummy_value()

    return types.none(source, place, target, where), codegen


@intrinsic
def gather(context, rows, heads, first, last, own, block, blocks, after):
    """Set four words of after[own] = rows[own] | rows[heads[c]] for the channels c = first … last − 1."""

    def codegen(context, builder, signature, arguments):
        v = Vectors("rows heads first last own block blocks after", LANES, context, builder, signature, arguments)
        rows, heads, after = (v.data(name) for name in ("rows", "heads", "after"))

        def place(node: Any) -> Any:
            return builder.add(builder.mul(node, v.value("blocks")), v.value("block"))

        own = place(v.value("own"))
        total = v.variable(v.load(v.at(rows, own, v.words)))
        with v.loop(v.value("first"), v.value("last")) as (channel, _):
            other = v.load(v.at(rows, place(v.index(heads, channel)), v.words))
            builder.store(builder.or_(builder.load(total), other), total)
        v.store(builder.load(total), v.at(after, own, v.words))
        return context.get_dummy_value()

    return types.none(rows, heads, first, last, own, block, blocks, after), codegen
