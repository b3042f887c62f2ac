// Numbers with twice the digits, see sums/arithmetic.py: |low| may exceed half a unit in the last place of high.
struct Twice {
    double high, low;
};

__device__ inline Twice plus(Twice one, Twice other) {
    const double total = one.high + other.high, back = total - one.high;
    const double error = (one.high - (total - back)) + (other.high - back);
    return {total, one.low + (error + other.low)};
}

__device__ inline Twice times(Twice one, double factor) {
    const double product = one.high * factor;
    return {product, __fma_rn(one.high, factor, -product) + one.low * factor};
}

__device__ inline Twice over(Twice one, double divisor) {
    const double quotient = one.high / divisor;
    return {quotient, (__fma_rn(-quotient, divisor, one.high) + one.low) / divisor};
}

__device__ inline Twice normal(Twice one) {
    const double total = one.high + one.low;
    return {total, one.low - (total - one.high)};
}
