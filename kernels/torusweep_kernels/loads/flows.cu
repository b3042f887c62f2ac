// Flows over shortest paths in networks of at most 65,534 nodes: see flows.cuh.

#include "cuda.cuh"
#include "twice.cuh"

typedef unsigned short Index;

#include "flows.cuh"
