"""The command `torusweep run`: Snakemake's steps, and Dask's workers that compute points."""
