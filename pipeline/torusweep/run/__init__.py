"""Run a sweep as `torusweep run` does: by Snakemake's steps, and Dask's workers, which compute points."""
