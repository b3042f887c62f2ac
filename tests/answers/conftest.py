"""Small results to ask."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from torusweep.tables.store import publish_table

from tests.answers.small_results import DISTANCES, STATIC


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    publish_table(folder, "static", STATIC)
    publish_table(folder, "distances", DISTANCES)
    publish_table(folder, "verification", pa.table({"verdict": pa.array([], pa.string())}))
    return folder
