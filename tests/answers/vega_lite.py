"""What the tests ask of a chart's specification: that it keeps to Vega-Lite's schema, and its rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import altair as alt


def check(specifications: Iterable[dict[str, Any]]) -> None:
    """Raises jsonschema.ValidationError for one that does not."""
    for specification in specifications:
        alt.Chart.from_dict(specification, validate=True)


def rows(specification: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The rows of each layer, of nested layers too; of a chart without layers, its own."""
    datasets = specification["datasets"]

    def of(chart: dict[str, Any], inherited: str | None) -> list[list[dict[str, Any]]]:
        name = chart.get("data", {}).get("name", inherited)
        if "layer" not in chart:
            return [datasets[name]]
        return [found for layer in chart["layer"] for found in of(layer, name)]

    return of(specification, None)
