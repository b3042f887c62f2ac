"""Tests of torusweep.stages.cost."""
