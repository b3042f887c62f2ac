"""Inputs drawn at random, a module for each kind: what is drawn, and what holds of what is accepted."""
