"""Prices, a YAML file each."""
