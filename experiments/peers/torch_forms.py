"""What torch_gaussian.py measures, in float32: Gaussian sums in three forms, nearest columns.

Each sum takes x (m x d), y (n x d), b (n x 1) and a number of rows to take at a time, and returns
the sums of all m rows, m x 1.
"""

from __future__ import annotations

import torch

VALUE_BYTES = tuple(2**k for k in (24, 25, 27, 30))
"""Sizes of a block of values that are tried, beside all values at once: what the second-level cache
holds, and larger ones."""


@torch.inference_mode()
def tensorized(x: torch.Tensor, y: torch.Tensor, b: torch.Tensor, rows: int) -> torch.Tensor:
    """By broadcast differences (M, N, D)."""
    sums = torch.empty(len(x), 1, dtype=x.dtype, device=x.device)
    for i in range(0, len(x), rows):
        differences = x[i : i + rows, None, :] - y[None, :, :]
        sums[i : i + rows] = torch.exp(-(differences**2).sum(-1)) @ b
    return sums


@torch.inference_mode()
def cdist(x: torch.Tensor, y: torch.Tensor, b: torch.Tensor, rows: int) -> torch.Tensor:
    """By torch.cdist, which takes a matrix product, and the rest in place."""
    sums = torch.empty(len(x), 1, dtype=x.dtype, device=x.device)
    for i in range(0, len(x), rows):
        values = torch.cdist(x[i : i + rows], y).square_().neg_().exp_()
        torch.mm(values, b, out=sums[i : i + rows])
    return sums


@torch.inference_mode()
def gram(x: torch.Tensor, y: torch.Tensor, b: torch.Tensor, rows: int) -> torch.Tensor:
    """By [2x, -|x|^2, 1] . [y, 1, -|y|^2] = -|x - y|^2, and exp in place."""
    x_square, y_square = (points.square().sum(1, keepdim=True) for points in (x, y))
    left = torch.cat((2 * x, -x_square, torch.ones_like(x_square)), 1)
    right = torch.cat((y, torch.ones_like(y_square), -y_square), 1).T
    sums = torch.empty(len(x), 1, dtype=x.dtype, device=x.device)
    for i in range(0, len(x), rows):
        values = torch.mm(left[i : i + rows], right).exp_()
        torch.mm(values, b, out=sums[i : i + rows])
    return sums


@torch.inference_mode()
def k_nearest(x: torch.Tensor, y: torch.Tensor, k: int, rows: int) -> torch.Tensor:
    """The k nearest columns of each row, m x k: |y|^2 - 2 x . y by one product, and torch.topk."""
    y_square = y.square().sum(1)
    columns = torch.empty(len(x), k, dtype=torch.int64, device=x.device)
    for i in range(0, len(x), rows):
        values = torch.addmm(y_square, x[i : i + rows], y.T, alpha=-2)
        columns[i : i + rows] = torch.topk(values, k, largest=False).indices
    return columns


def rows_that_fit(m: int, bytes_a_row: int, free: int) -> int:
    """All rows, or as many as fill half of the memory that is free."""
    return max(1, min(m, free // 2 // bytes_a_row))


def rows_to_try(m: int, n: int, free: int) -> list[int]:
    """Numbers of rows at a time that may be fastest, for one float a pair."""
    most = rows_that_fit(m, 4 * n, free)
    return sorted({most} | {max(1, min(most, size // (4 * n))) for size in VALUE_BYTES})
