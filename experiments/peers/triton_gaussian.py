"""A fused Triton kernel as a peer of map_reduce: Gaussian sums in float32.

    python3 experiments/peers/triton_gaussian.py ARCHIVE.json|FOLDER... [--max-pairs PAIRS]

Measures the variant triton at the problems of map_reduce's archives, and writes its rows into these
archives; see peer_rows.py. The kernels, in gaussian_kernels.py, are what one writes for this one
formula: up to 16 dimensions by differences, 64 dimensions by a matrix product on the tensor cores.
The block's shape is the fastest of a few, found for each problem before it is timed. Where rows
alone do not fill the GPU, the columns are split over programs, and a second kernel adds up.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from peer_points import Problem
from peer_program import main

PACKAGES = ("torch", "triton")

MOST_DIFFERENCES = 16
GRAM_DIMENSIONS = (64,)
PROGRAMS_PER_SM = 16
"""That columns are split for: some waves of them, so that the last one weighs little."""
LEAST_TILES = 4
"""Of columns, that a part of them has at least."""


@dataclass(frozen=True)
class Shape:
    """A block's rows and columns, and its warps."""

    block_m: int
    block_n: int
    warps: int


DIFFERENCE_SHAPES = tuple(
    Shape(block_m, block_n, block_n // 32 // per_thread)
    for block_m in (1, 2, 4, 8, 16, 32, 64)
    for block_n, per_thread in ((128, 1), (256, 2), (256, 1))
)
GRAM_SHAPES = (
    Shape(16, 128, 4),
    Shape(64, 64, 4),
    Shape(64, 128, 4),
    Shape(128, 64, 4),
    Shape(128, 64, 8),
    Shape(128, 128, 8),
)
MOST_ROW_REGISTERS = 160
"""Of a thread: coordinates of rows, which every thread of the differences' kernel holds."""


def next_power_of_two(value: int) -> int:
    """The least power of two that is not below the value."""
    return 1 << max(0, value - 1).bit_length()


def shapes_of(problem: Problem) -> list[Shape]:
    """The shapes worth trying: the rows that there are, and no more than registers hold."""
    most_rows = next_power_of_two(problem.m)
    if problem.d in GRAM_DIMENSIONS:
        return [shape for shape in GRAM_SHAPES if shape.block_m <= max(16, most_rows)]
    least_rows = min(most_rows, 8)
    most_rows = min(most_rows, MOST_ROW_REGISTERS // problem.d)
    return [shape for shape in DIFFERENCE_SHAPES if least_rows <= shape.block_m <= most_rows]


def split_columns_of(problem: Problem, shape: Shape, sm_count: int) -> tuple[int, int]:
    """Into how many parts the columns are split, and how many columns a part has."""
    row_blocks = -(-problem.m // shape.block_m)
    tiles = -(-problem.n // shape.block_n)
    wanted = -(-PROGRAMS_PER_SM * sm_count // row_blocks)
    splits = max(1, min(wanted, tiles // LEAST_TILES))
    columns = -(-tiles // splits) * shape.block_n
    return -(-problem.n // columns), columns


def fastest(calls: Iterable[Callable[[], Any]]) -> Callable[[], Any]:
    """The call that takes least time, of those that compile and fit the GPU."""
    import torch
    from triton.runtime.errors import OutOfResources

    best, best_ms = None, float("inf")
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for call in calls:
        try:
            call()  # compiles
        except OutOfResources:
            continue
        for _ in range(2):
            torch.cuda.synchronize()
            # The host enqueues while the GPU spins.
            torch.cuda._sleep(500_000)
            begin.record()
            call()
            end.record()
            end.synchronize()
            if begin.elapsed_time(end) < best_ms:
                best, best_ms = call, begin.elapsed_time(end)
    if best is None:
        raise RuntimeError("no shape of a block fits this GPU")
    return best


def make_call(problem: Problem, shape: Shape, inputs: Any, sm_count: int) -> Callable[[], Any]:
    """The launches for one shape, with their memory."""
    import gaussian_kernels as kernels
    import torch

    splits, split_columns = split_columns_of(problem, shape, sm_count)
    m, n = problem.m, problem.n
    out = torch.empty(m, device=inputs.x.device)
    sums = torch.empty((splits, m), device=inputs.x.device) if splits > 1 else out
    is_gram = problem.d in GRAM_DIMENSIONS
    kernel = kernels.gram_kernel if is_gram else kernels.differences_kernel
    grid = (-(-m // shape.block_m), splits)
    add_m = min(32, next_power_of_two(m))

    def call() -> Any:
        kernel[grid](
            inputs.x,
            inputs.y,
            inputs.b,
            sums,
            m,
            n,
            split_columns,
            D=problem.d,
            BLOCK_M=shape.block_m,
            BLOCK_N=shape.block_n,
            num_warps=shape.warps,
        )
        if splits > 1:
            kernels.sum_splits_kernel[(-(-m // add_m),)](
                sums, out, m, splits, BLOCK_M=add_m, BLOCK_SPLITS=32
            )
        return out

    return call


class TritonGaussian:
    """Gaussian sums in float32, by a kernel of their own."""

    variant = "triton"

    def __init__(self) -> None:
        """As many pairs as take some seconds."""
        self.max_pairs = 1e12

    def cannot(self, problem: Problem) -> str | None:
        """All but Gaussian sums in float32 of the dimensions that a kernel is there for."""
        if (problem.formula, problem.reduction) != ("gaussian", "sum"):
            return "the Triton kernel does sums of gaussian only"
        if problem.number != "float32":
            return "the Triton kernel does float32 only"
        if problem.d > MOST_DIFFERENCES and problem.d not in GRAM_DIMENSIONS:
            return f"the Triton kernel does up to {MOST_DIFFERENCES} and 64 dimensions"
        return None

    def prepare(self, problem: Problem, inputs: Any) -> Callable[[], Any]:
        """The launches, with the shape that is fastest at this problem."""
        import torch

        sm_count = torch.cuda.get_device_properties(0).multi_processor_count
        return fastest(make_call(problem, shape, inputs, sm_count) for shape in shapes_of(problem))


def peers() -> list[TritonGaussian]:
    """The one variant."""
    return [TritonGaussian()]


if __name__ == "__main__":
    description = "A fused Triton kernel as a peer of map_reduce"
    sys.exit(main(description, peers(), PACKAGES, sys.argv[1:]))
