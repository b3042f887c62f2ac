"""Kernels: functions from arrays to arrays. They know no names of networks, no files and no Dask."""
