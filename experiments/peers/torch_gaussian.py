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
from functools import partial
from typing import Any

from peer_points import GaussianPeer, Prepared, Problem
from peer_program import main

PACKAGES = ("torch", "numpy")


def prepare(form: str, problem: Problem, inputs: Any) -> Prepared:
    """The call of a form in torch_forms.py, with its number of rows."""
    import torch
    import torch_forms
    from peer_gpu import fastest

    function = getattr(torch_forms, form)

    def call_of(rows: int) -> Callable[[], Any]:
        return lambda: function(inputs.x, inputs.y, inputs.b, rows)

    free, _ = torch.cuda.mem_get_info()
    if form == "tensorized":
        # Differences and their squares at a time.
        rows = torch_forms.rows_that_fit(problem.m, 8 * problem.d * problem.n, free)
    else:
        tried = torch_forms.rows_to_try(problem.m, problem.n, free)
        calls = ((call_of(rows), rows) for rows in tried)
        rows = fastest(calls, (torch.cuda.OutOfMemoryError,))
    return Prepared(call_of(rows), {"rows_at_a_time": str(rows)})


def peers() -> list[GaussianPeer]:
    """The three forms."""
    return [
        GaussianPeer(f"torch_{form}", "gpu", partial(prepare, form))
        for form in ("tensorized", "cdist", "gram")
    ]


if __name__ == "__main__":
    sys.exit(main("PyTorch as a peer of map_reduce", peers(), PACKAGES, sys.argv[1:]))
