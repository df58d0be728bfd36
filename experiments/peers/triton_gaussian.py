"""Fused Triton kernels as a peer of map_reduce: Gaussian sums and nearest columns in float32.

    python3 experiments/peers/triton_gaussian.py ARCHIVE.json|FOLDER... [--max-pairs PAIRS]

Fills in the rows of triton in map_reduce's archives; see peer_rows.py. The kernels, in
gaussian_kernels.py, are what one writes for this one formula: up to 16 dimensions by differences,
16, 32, 64 and 128 dimensions by a matrix product on the tensor cores; signals of several numbers
by another one. The nearest column is found by that product, in three terms of TF32, since one term
finds others. The kernel, the block's shape and the stages of its pipeline are the fastest of a few,
found for each problem before it is timed (as triton.autotune does; but here the number of programs,
and the memory for their sums, follow from the shape). Columns are split over programs where rows
alone do not fill the GPU, and where a program would add up so many tiles that it rounds; a second
kernel adds up.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from peer_points import Prepared, Problem
from peer_program import main

PACKAGES = ("torch", "numpy", "triton")

MOST_DIFFERENCES = 16
GRAM_DIMENSIONS = (16, 32, 64, 128)
PROGRAMS_PER_SM = 16
"""Columns are split to get so many: several waves, so that a partial last one costs little."""
LEAST_TILES = 4
"""Fewest tiles in a part of the columns."""
MOST_SPLITS = 65535
"""The largest extent of a grid in y."""
MOST_TILES = 256
"""Most tiles in a part of the columns: each is one rounded addition in float."""


@dataclass(frozen=True)
class Shape:
    """A kernel, by differences or by products; a block's rows, columns, warps, and stages."""

    by_products: bool  # of points
    block_m: int
    block_n: int
    warps: int
    stages: int = 3
    programs_per_sm: int = PROGRAMS_PER_SM

    def __str__(self) -> str:
        """As the row has it."""
        how = "products" if self.by_products else "differences"
        return f"{how}, {self.block_m} x {self.block_n}, {self.warps} warps, {self.stages} stages"


DIFFERENCE_SHAPES = tuple(
    Shape(False, block_m, block_n, block_n // 32 // per_thread)
    for block_m in (1, 2, 4, 8, 16, 32, 64)
    for block_n, per_thread in ((128, 1), (256, 2), (256, 1))
)
GRAM_SHAPES = tuple(
    Shape(True, *blocks)
    for blocks in (
        (16, 32, 4),
        (16, 64, 4),
        (16, 64, 4, 1),
        (16, 128, 4),
        (16, 128, 4, 1),
        (64, 64, 4),
        (64, 64, 4, 1),
        (64, 128, 4),
        (128, 32, 4),
        (128, 64, 4),
        (128, 64, 8),
        (128, 64, 8, 1),
        (128, 128, 8),
        (128, 128, 8, 1),
        (256, 32, 8),
        (256, 64, 8),
        (256, 64, 16),
    )
)
SIGNAL_SHAPES = tuple(
    Shape(False, block_m, block_n, warps)
    for block_m, warps in ((64, 4), (128, 4), (128, 8), (256, 8))
    for block_n in (32, 64, 128)
)
"""With signals of several numbers, which are a matrix product."""
GRAM_SIGNAL_SHAPES = tuple(
    Shape(True, *blocks)
    for blocks in (
        (64, 32, 4),
        (64, 32, 4, 1),
        (64, 64, 4),
        (64, 64, 4, 1),
        (128, 32, 4),
        (128, 32, 8),
        (128, 32, 8, 1),
        (128, 64, 8),
        (128, 64, 8, 1),
        (128, 128, 8, 1),
        (256, 32, 8),
        (256, 64, 16),
    )
)
"""The same with points that are another one."""
NEAREST_SHAPES = tuple(
    Shape(True, *blocks, programs)
    for programs in (2, PROGRAMS_PER_SM)
    for blocks in (
        (64, 32, 4, 2),
        (64, 64, 4, 2),
        (64, 128, 4, 2),
        (128, 32, 4, 2),
        (128, 64, 4, 2),
        (128, 64, 8, 1),
        (128, 64, 8, 2),
        (128, 128, 8, 2),
        (256, 64, 8, 2),
    )
)
"""For the nearest columns."""
TUNED_PAIRS = 10**11
"""Shapes are tried on at most so many: the first rows, some tens of milliseconds."""
MOST_COORDINATES = 24576
"""Most coordinates of a block's rows and columns: for products, shared memory holds two parts of
each.
"""
MOST_ROW_REGISTERS = 160
"""Most coordinates of rows that a thread of differences_kernel holds: each has all of them."""


def next_power_of_two(value: int) -> int:
    """The least power of two that is not below the value."""
    return 1 << max(0, value - 1).bit_length()


def shapes_of(problem: Problem) -> list[Shape]:
    """The shapes worth trying: not larger than m, nor than shared memory and registers hold."""
    most_rows = next_power_of_two(problem.m)
    shapes = []
    if problem.is_nearest:
        return list(NEAREST_SHAPES)
    if problem.e > 1:
        by_products = list(GRAM_SIGNAL_SHAPES) if problem.d in GRAM_DIMENSIONS else []
        by_differences = list(SIGNAL_SHAPES) if problem.d <= MOST_DIFFERENCES else []
        return by_differences + by_products
    if problem.d in GRAM_DIMENSIONS:
        least_rows = 16 if most_rows < 64 else 64
        shapes += [
            each
            for each in GRAM_SHAPES
            if least_rows <= each.block_m <= max(16, most_rows)
            and (each.block_m + each.block_n) * problem.d <= MOST_COORDINATES
        ]
    if problem.d <= MOST_DIFFERENCES:
        least_rows = min(most_rows, 8)
        most_rows = min(most_rows, MOST_ROW_REGISTERS // problem.d)
        shapes += [each for each in DIFFERENCE_SHAPES if least_rows <= each.block_m <= most_rows]
    return shapes


def split_columns_of(problem: Problem, shape: Shape, sm_count: int) -> tuple[int, int]:
    """Into how many parts the columns are split, and how many columns a part has."""
    row_blocks = -(-problem.m // shape.block_m)
    tiles = -(-problem.n // shape.block_n)
    wanted = -(-shape.programs_per_sm * sm_count // row_blocks)
    splits = max(1, min(wanted, tiles // LEAST_TILES))
    if not problem.is_nearest:
        splits = max(splits, -(-tiles // MOST_TILES))
    splits = min(splits, MOST_SPLITS)
    columns = -(-tiles // splits) * shape.block_n
    return -(-problem.n // columns), columns


def make_call(problem: Problem, shape: Shape, inputs: Any, sm_count: int) -> Callable[[], Any]:
    """The launches for one shape, with their memory."""
    import gaussian_kernels as kernels
    import torch

    splits, split_columns = split_columns_of(problem, shape, sm_count)
    m, n = problem.m, problem.n
    numbers = m * problem.e
    out = torch.empty(numbers, device=inputs.x.device)
    sums = torch.empty((splits, numbers), device=inputs.x.device) if splits > 1 else out
    kernel = kernels.gram_kernel if shape.by_products else kernels.differences_kernel
    further = {}
    if problem.e > 1:
        kernel = kernels.gram_signals_kernel if shape.by_products else kernels.signals_kernel
        further = {"E": problem.e, "BLOCK_E": max(16, next_power_of_two(problem.e))}
    grid = (-(-m // shape.block_m), splits)
    add_m = min(32, next_power_of_two(numbers))

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
            **further,
            num_warps=shape.warps,
            num_stages=shape.stages,
        )
        if splits > 1:
            kernels.sum_splits_kernel[(-(-numbers // add_m),)](
                sums, out, numbers, splits, BLOCK_M=add_m, BLOCK_SPLITS=32
            )
        return out

    return call


def make_nearest_call(
    problem: Problem, shape: Shape, inputs: Any, sm_count: int
) -> Callable[[], Any]:
    """The same for the nearest columns."""
    import gaussian_kernels as kernels
    import torch

    splits, split_columns = split_columns_of(problem, shape, sm_count)
    m, n = problem.m, problem.n
    device = inputs.x.device
    columns = torch.empty(m, device=device, dtype=torch.int64)
    values = torch.empty((splits, m), device=device)
    parts = torch.empty((splits, m), device=device, dtype=torch.int64) if splits > 1 else columns
    merge_m = min(128, next_power_of_two(m))

    def call() -> Any:
        kernels.nearest_kernel[(-(-m // shape.block_m), splits)](
            inputs.x,
            inputs.y,
            values,
            parts,
            m,
            n,
            split_columns,
            D=problem.d,
            BLOCK_M=shape.block_m,
            BLOCK_N=shape.block_n,
            num_warps=shape.warps,
            num_stages=shape.stages,
        )
        if splits > 1:
            kernels.nearest_of_splits_kernel[(-(-m // merge_m),)](
                values, parts, columns, m, splits, BLOCK_M=merge_m
            )
        return columns

    return call


class TritonGaussian:
    """Gaussian sums and nearest columns in float32, by kernels of their own."""

    variant = "triton"
    clock = "gpu"
    waits_for_gpu = False

    def __init__(self) -> None:
        """Problems of up to max_pairs take some seconds."""
        self.max_pairs = 1e12

    def cannot(self, problem: Problem) -> str | None:
        """All but those in float32 of the dimensions that a kernel is there for."""
        if not problem.is_gaussian_sum and not problem.is_nearest:
            return "the Triton kernels do sums of gaussian, and argmin, in float32 only"
        if problem.is_nearest and problem.d not in GRAM_DIMENSIONS:
            return "the Triton kernel of argmin does 16, 32, 64 and 128 dimensions"
        if problem.d > MOST_DIFFERENCES and problem.d not in GRAM_DIMENSIONS:
            return f"the Triton kernel does up to {MOST_DIFFERENCES}, 32, 64 and 128 dimensions"
        return None

    def prepare(self, problem: Problem, inputs: Any) -> Prepared:
        """The launches, with the shape that is fastest at this problem."""
        import torch
        from peer_gpu import fastest
        from triton.runtime.errors import OutOfResources

        sm_count = torch.cuda.get_device_properties(0).multi_processor_count
        tuned = replace(problem, m=min(problem.m, max(1, TUNED_PAIRS // problem.n)))
        make = make_nearest_call if problem.is_nearest else make_call
        calls = ((make(tuned, shape, inputs, sm_count), shape) for shape in shapes_of(problem))
        shape = fastest(calls, (OutOfResources,))
        call = make(problem, shape, inputs, sm_count)
        return Prepared(call, {"shape": str(shape)})


def peers() -> list[TritonGaussian]:
    """The one variant."""
    return [TritonGaussian()]


if __name__ == "__main__":
    description = "Fused Triton kernels as a peer of map_reduce"
    sys.exit(main(description, peers(), PACKAGES, sys.argv[1:]))
