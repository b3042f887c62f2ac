"""Tests of torusweep.stages.static; `networks` builds small networks and holds the plain oracles."""
