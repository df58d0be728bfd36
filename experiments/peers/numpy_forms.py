"""Gaussian sums in float32 by NumPy, for numpy_gaussian.py: a textbook's form and a better one."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
from peer_inputs import Points

MOST_BYTES = 16 * 2**30
"""Most memory for intermediate values; less if the machine has not twice as much free."""
BLOCK_BYTES = tuple(2**k for k in (19, 21, 23, 25, 27))
"""Sizes of a block of values that numpy_gram tries: from a core's cache to that of all cores."""


def free_bytes() -> int:
    """The memory that this machine has left."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable"):
            return 1024 * int(line.split()[1])
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")


def tensorized(x: np.ndarray, y: np.ndarray, b: np.ndarray, rows: int) -> np.ndarray:
    """The sums of all m rows, `rows` of them at a time; x is m x d, y n x d, b n numbers."""
    sums = np.empty(len(x), x.dtype)
    for i in range(0, len(x), rows):
        differences = x[i : i + rows, None, :] - y[None, :, :]
        sums[i : i + rows] = np.exp(-(differences**2).sum(-1)) @ b
    return sums


def gram(x: np.ndarray, y: np.ndarray, b: np.ndarray, rows: int) -> np.ndarray:
    """The same by [2x, -|x|^2, 1] . [y, 1, -|y|^2] = -|x - y|^2."""
    x_square, y_square = (np.square(points).sum(1, keepdims=True) for points in (x, y))
    left = np.concatenate((2 * x, -x_square, np.ones_like(x_square)), 1)
    right = np.concatenate((y, np.ones_like(y_square), -y_square), 1).T.copy()
    values = np.empty((min(rows, len(x)), len(y)), x.dtype)
    sums = np.empty(len(x), x.dtype)
    for i in range(0, len(x), rows):
        block = values[: min(rows, len(x) - i)]
        np.matmul(left[i : i + rows], right, out=block)
        np.exp(block, out=block)
        np.matmul(block, b, out=sums[i : i + rows])
    return sums


def rows_of_tensorized(points: Points) -> int:
    """All rows, or as many as memory has room for: differences and their squares at a time."""
    most = min(MOST_BYTES, free_bytes() // 2)
    return max(1, min(points.problem.m, most // (8 * points.problem.d * points.problem.n)))


def rows_of_gram(points: Points) -> int:
    """The fastest number of rows at a time, tried on as many rows as the largest block has."""
    m, n = points.problem.m, points.problem.n
    x = points.x[: max(1, min(m, max(BLOCK_BYTES) // (4 * n)))]
    best, best_seconds = 1, float("inf")
    for rows in sorted({max(1, min(len(x), size // (4 * n))) for size in BLOCK_BYTES}):
        for _ in range(2):
            begin = time.perf_counter()
            gram(x, points.y, points.b, rows)
            seconds = time.perf_counter() - begin
            if seconds < best_seconds:
                best, best_seconds = rows, seconds
    return best
