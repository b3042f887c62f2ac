"""Tests of torusweep.questions.cost."""
