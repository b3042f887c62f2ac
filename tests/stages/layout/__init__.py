"""Tests of pipeline.layout; `plain_layout` holds the plain oracles."""
