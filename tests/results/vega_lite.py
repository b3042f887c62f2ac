"""Whether a chart keeps to Vega-Lite's schema, which the pages do not wait for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import altair as alt


def check(specifications: Iterable[dict[str, Any]]) -> None:
    """Raises jsonschema.ValidationError for one that does not."""
    for specification in specifications:
        alt.Chart.from_dict(specification, validate=True)
