"""Tests of torusweep.stages.layout; `plain_layout` holds the plain oracles."""
