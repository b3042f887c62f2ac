"""Tests of torusweep.stages.cost; `plain` holds the plain oracle."""
