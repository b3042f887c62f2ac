"""What no routing can exceed, beside the loads of one: as columns of the table `loads`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pipeline.loads.channels import ChannelLoads


class Bounds(NamedTuple):
    """Columns of the table `loads` of the same names."""

    cut_links: int | None
    effective_cut_links: float | None
    capacity: float | None
    capacity_minimal: float | None
    worst_case_saturation_load: float | None
    bounds_method: str


NO_BOUNDS = Bounds(None, None, None, None, None, "")


def bounds_of(loads: ChannelLoads, *, use_symmetry: bool) -> Bounds:
    """Capacity by linear programming, the worst permutation, and the effective width of the narrowest cut that is known."""
    return NO_BOUNDS
