"""A row of the table `loads` of one network, for tests that make tables of their own."""

from __future__ import annotations

from typing import Any

import torusweep as ts


def loads_record(network: Any, **asked: Any) -> dict[str, Any]:
    """What `Network.loads` is asked, and its row as a dict."""
    return ts.network(network).loads(**asked).record
