"""Tests of torusweep.costs."""
