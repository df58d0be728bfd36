"""PyTorch as a peer of map_reduce: Gaussian sums in float32 on the GPU, for the claim of x30.

    python3 experiments/peers/torch_gaussian.py ARCHIVE.json|FOLDER... [--max-pairs PAIRS]

Fills in the rows of three variants in map_reduce's archives; see peer_rows.py. torch_tensorized is
the textbook's: broadcast differences (M, N, D), squared, summed, exp, product with the signal; by
as many rows at a time as memory has room for. torch_cdist and torch_gram are the best that a user
would write without a kernel of one's own: distances by a matrix product (by torch.cdist, or by one
product of D + 2 columns that gives -|x - y|^2 at once), the rest in place, by as many rows at a
time as is fastest. Matrix products are in full float32 (torch's default), not TF32.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from peer_points import Prepared, Problem
from peer_program import main

PACKAGES = ("torch", "numpy")


class TorchGaussian:
    """One of the three forms, in torch_forms.py."""

    clock = "gpu"
    waits_for_gpu = False

    def __init__(self, variant: str) -> None:
        """`variant` is torch_tensorized, torch_cdist or torch_gram."""
        self.variant = variant
        self.max_pairs = 1e12

    def cannot(self, problem: Problem) -> str | None:
        """All but Gaussian sums in float32."""
        return None if problem.is_gaussian_sum else "does sums of gaussian in float32 only"

    def prepare(self, problem: Problem, inputs: Any) -> Prepared:
        """The call, with its number of rows."""
        import torch
        import torch_forms
        from peer_gpu import fastest

        form = getattr(torch_forms, self.variant.removeprefix("torch_"))

        def call_of(rows: int) -> Callable[[], Any]:
            return lambda: form(inputs.x, inputs.y, inputs.b, rows)

        free, _ = torch.cuda.mem_get_info()
        if self.variant == "torch_tensorized":
            # Differences and their squares at a time.
            rows = torch_forms.rows_that_fit(problem.m, 8 * problem.d * problem.n, free)
        else:
            tried = torch_forms.rows_to_try(problem.m, problem.n, free)
            calls = ((call_of(rows), rows) for rows in tried)
            rows = fastest(calls, (torch.cuda.OutOfMemoryError,))
        return Prepared(call_of(rows), {"rows_at_a_time": str(rows)})


def peers() -> list[TorchGaussian]:
    """The three forms."""
    return [TorchGaussian(f"torch_{form}") for form in ("tensorized", "cdist", "gram")]


if __name__ == "__main__":
    sys.exit(main("PyTorch as a peer of map_reduce", peers(), PACKAGES, sys.argv[1:]))
