"""The points of map_reduce's experiments, the same numbers that `warpath` makes, bit by bit.

Follows experiments/map_reduce/points.hpp: std::mt19937_64, whose top 24 bits are a number in
[0, 1). A test compares the two. numpy is needed, and neither torch nor a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from peer_points import Problem

WORDS = 312
MIDDLE = 156
MATRIX = np.uint64(0xB5026F5AA96619E9)
UPPER = np.uint64(0xFFFFFFFF80000000)
LOWER = np.uint64(0x7FFFFFFF)


def first_state(seed: int) -> np.ndarray:
    """The state that mt19937_64 is seeded with: 312 words."""
    words = [seed % 2**64]
    for i in range(1, WORDS):
        before = words[-1]
        words.append((6364136223846793005 * (before ^ (before >> 62)) + i) % 2**64)
    return np.array(words, np.uint64)


def twist(state: np.ndarray, new: np.ndarray) -> None:
    """Writes the state's 312 successors to `new`: the first half of them makes the second one."""
    mixed = (state & UPPER) | (np.append(state[1:], np.uint64(0)) & LOWER)
    change = (mixed >> np.uint64(1)) ^ ((mixed & np.uint64(1)) * MATRIX)
    new[:MIDDLE] = state[MIDDLE:] ^ change[:MIDDLE]
    new[MIDDLE:-1] = new[: MIDDLE - 1] ^ change[MIDDLE:-1]
    last = (state[-1] & UPPER) | (new[0] & LOWER)
    new[-1] = new[MIDDLE - 1] ^ (last >> np.uint64(1)) ^ ((last & np.uint64(1)) * MATRIX)


def mt19937_64(seed: int, count: int) -> np.ndarray:
    """The first `count` numbers of std::mt19937_64, as uint64."""
    blocks = np.empty((-(-count // WORDS), WORDS), np.uint64)
    state = first_state(seed)
    for block in blocks:
        twist(state, block)
        state = block
    numbers = blocks.reshape(-1)[:count]
    numbers ^= (numbers >> np.uint64(29)) & np.uint64(0x5555555555555555)
    numbers ^= (numbers << np.uint64(17)) & np.uint64(0x71D67FFFEDA60000)
    numbers ^= (numbers << np.uint64(37)) & np.uint64(0xFFF7EEE000000000)
    numbers ^= numbers >> np.uint64(43)
    return numbers


@lru_cache(maxsize=4)
def uniform(
    count: int, seed: int, low: float, number: str, extent: int = 1, averaged: int = 1
) -> np.ndarray:
    """Multiples of 2^-24 extent in [low, low + extent), of type `number`; not to be written to.

    Or the means of so many such numbers.
    """
    top = (mt19937_64(seed, count * averaged) >> np.uint64(40)).astype(np.float64)
    sums = top.reshape(count, averaged).sum(axis=1)
    values = (sums * 2.0**-24 * extent / averaged + low).astype(number)
    values.flags.writeable = False
    return values


def different_rows(m: int, n: int, d: int, e: int) -> int:
    """How many different rows there are: as many as `warpath` checks in a second on 16 cores."""
    affordable = 2.0**31 * (18 + 3) / (float(n) * float((18 + d) * e))
    return m if m <= affordable else int(affordable) | 1


@dataclass(frozen=True)
class Points:
    """A problem's points: x and y in [0, extent), b in [-1/2, 1/2), of its type of numbers."""

    problem: Problem
    different_x: np.ndarray
    """different x d: the rows of x repeat these."""
    y: np.ndarray
    """n x d."""
    b: np.ndarray
    """n; n x e where a signal has several numbers."""

    @property
    def different(self) -> int:
        """How many rows are not repetitions of earlier ones."""
        return len(self.different_x)

    @cached_property
    def x(self) -> np.ndarray:
        """m x d."""
        return self.repeated(self.different_x)

    def repeated(self, of_rows: np.ndarray) -> np.ndarray:
        """The values of all m rows, from those of the different rows."""
        return of_rows[np.arange(self.problem.m) % self.different]


def make_points(problem: Problem) -> Points:
    """The points that `warpath` makes for these parameters."""
    m, n, d, e, number = problem.m, problem.n, problem.d, problem.e, problem.number
    different = different_rows(m, n, d, e)
    seed = 4 * problem.seed
    place = (0.0, number, problem.extent, problem.averaged)
    return Points(
        problem,
        uniform(different * d, seed + 1, *place).reshape(different, d),
        uniform(n * d, seed + 2, *place).reshape(n, d),
        uniform(n * e, seed + 3, -0.5, number).reshape((n, e) if e > 1 else n),
    )
