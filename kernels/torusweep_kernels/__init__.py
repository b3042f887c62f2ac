"""Kernels: functions from arrays to arrays. They know no network by name, read no files, and do not import Dask."""
