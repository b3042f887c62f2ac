"""Tests of torusweep.questions.cost; `plain` holds the plain oracle."""
