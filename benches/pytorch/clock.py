"""How fast a call is."""

import statistics
import time


def gflops(flops: float, call, seconds: float) -> float:
    """Billions of operations per second by the median call, after one that warms up: three at least, for so long."""
    times = []
    began = time.perf_counter()
    while len(times) < 4 or time.perf_counter() - began < seconds:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return flops / statistics.median(times[1:]) / 1e9
