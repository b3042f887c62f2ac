"""Kernels: functions from arrays to arrays. They know no names of networks, read no files, and do not import Dask."""
