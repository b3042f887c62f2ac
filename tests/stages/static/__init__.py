"""Tests of pipeline.static; `networks` builds small networks and holds the plain oracles."""
