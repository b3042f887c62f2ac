"""`torusweep run`: Snakemake's steps and Dask's workers."""
