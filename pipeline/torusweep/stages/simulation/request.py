"""A simulation as a point of a sweep: its request as one canonical string."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import NamedTuple

from torusweep.errors import BadInput
from torusweep.stages.simulation.parameters import Parameters


class RunRequest(NamedTuple):
    """parameters: of every run; loads, seeds, precision: as `simulation_records` takes them."""

    parameters: Parameters
    loads: tuple[float, ...]
    seeds: tuple[int, ...] = (0,)
    precision: float | None = None

    def canonical(self) -> RunRequest:
        """The same in canonical spellings. Raises BadInput for a name or number that is wrong on every network."""
        check_numbers(self.loads, self.seeds, self.precision, workload=self.parameters.workload)
        return self._replace(parameters=self.parameters.canonical())

    def spelled(self) -> str:
        """One line of JSON, without the values that are None."""
        values = {
            **asdict(self.parameters),
            "loads": self.loads,
            "seeds": self.seeds,
            "saturation_precision": self.precision,
        }
        return json.dumps({name: value for name, value in values.items() if value is not None}, sort_keys=True)


def request_of(spelled: str) -> RunRequest:
    """The request that `Request.spelled` wrote."""
    values = json.loads(spelled)
    loads, seeds, precision = values.pop("loads"), values.pop("seeds"), values.pop("saturation_precision", None)
    return RunRequest(Parameters(**values), tuple(loads), tuple(seeds), precision)


def check_numbers(
    loads: Sequence[float], seeds: Sequence[int], precision: float | None, *, workload: str | None = None
) -> None:
    """Raises BadInput for loads, seeds or a precision that cannot be simulated."""
    if workload is not None and (loads or precision):
        raise BadInput(
            f"workload={workload}: expected neither loads nor a precision of saturation beside a workload;"
            " leave them out"
        )
    if not (loads or precision or workload):
        raise BadInput(
            "simulation: expected loads, a precision of saturation or a workload, got none; give for example load 0.2"
        )
    for name, values in (("load", loads), ("saturation_precision", [] if precision is None else [precision])):
        for value in values:
            if not 0 < value < float("inf"):
                raise BadInput(f"{name}={value}: expected a number above 0; choose one")
    for seed in seeds:
        if not 0 <= seed < 2**64:
            raise BadInput(f"seed={seed}: expected 0 … 2^64 - 1; choose a number of at most 64 bits")
    if not seeds or len(set(seeds)) < len(seeds):
        raise BadInput(f"seeds={list(seeds)}: expected one or more, all different; leave out repeated ones")
