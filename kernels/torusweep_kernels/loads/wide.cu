// Flows over shortest paths in networks of any size: see flows.cuh.

#include "cuda.cuh"
#include "twice.cuh"

typedef int Index;

#include "flows.cuh"
