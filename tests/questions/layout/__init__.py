"""Tests of torusweep.questions.layout; `plain_layout` holds the plain oracles."""
