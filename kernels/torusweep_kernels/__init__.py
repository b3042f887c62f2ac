"""Array kernels: arrays in, arrays out. Nothing here knows a topology's name, a file or Dask."""
