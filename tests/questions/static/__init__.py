"""Tests of torusweep.questions.static; `networks` builds small networks and holds the plain oracles."""
