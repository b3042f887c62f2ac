"""Kernels: functions from arrays to arrays. Names of networks, files and Dask belong to the pipeline."""
