"""Captions of the files in Snakemake's report."""
