// Loads and stores of words that other threads may store at the same time: relaxed, so that a value is the old or the
// new one, and the compiler may not assume that no other thread stores. PTX treats volatile accesses so.
__device__ inline int relaxed(const int* word) { return *(volatile int*)word; }
__device__ inline void store_relaxed(int* word, int value) { *(volatile int*)word = value; }
__device__ inline void store_relaxed(unsigned int* word, int value) { *(volatile int*)word = value; }
__device__ inline unsigned int relaxed(const unsigned int* word) { return *(volatile unsigned int*)word; }
__device__ inline int relaxed(const unsigned short* word) { return *(volatile unsigned short*)word; }
__device__ inline void store_relaxed(unsigned short* word, int value) { *(volatile unsigned short*)word = value; }
