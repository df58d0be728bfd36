"""PyTorch as a peer of map_reduce, in float32 on the GPU: Gaussian sums, and nearest columns.

    python3 experiments/peers/torch_gaussian.py ARCHIVE.json|FOLDER... [--max-pairs PAIRS]

Fills in the rows of four variants in map_reduce's archives; see peer_rows.py. torch_tensorized is
the textbook's: broadcast differences (M, N, D), squared, summed, exp, product with the signal; by
as many rows at a time as memory has room for. torch_cdist and torch_gram are the best that a user
would write without a kernel of one's own: distances by a matrix product (by torch.cdist, or by one
product of D + 2 columns that gives -|x - y|^2 at once), the rest in place, by as many rows at a
time as is fastest. These three are for the claim of x30. torch_topk is the same for several nearest
columns: one product, and torch.topk of all rows that are taken at a time. Matrix products are in
full float32 (torch's default), not TF32.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from peer_points import LEAST_COUNTS, GaussianPeer, Peer, Prepared, Problem
from peer_program import main

PACKAGES = ("torch", "numpy")


def prepare(form: str, problem: Problem, inputs: Any) -> Prepared:
    """The call of a form in torch_forms.py, with its number of rows."""
    import torch
    import torch_forms

    function = getattr(torch_forms, form)

    def call_of(rows: int) -> Callable[[], Any]:
        return lambda: function(inputs.x, inputs.y, inputs.b, rows)

    if form != "tensorized":
        return fastest_of(problem, call_of)
    free, _ = torch.cuda.mem_get_info()
    # Differences and their squares at a time.
    rows = torch_forms.rows_that_fit(problem.m, 8 * problem.d * problem.n, free)
    return Prepared(call_of(rows), {"rows_at_a_time": str(rows)})


def fastest_of(problem: Problem, call_of: Callable[[int], Callable[[], Any]]) -> Prepared:
    """The fastest of the calls for numbers of rows at a time, of one float a pair."""
    import torch
    import torch_forms
    from peer_gpu import fastest

    free, _ = torch.cuda.mem_get_info()
    tried = torch_forms.rows_to_try(problem.m, problem.n, free)
    rows = fastest(((call_of(rows), rows) for rows in tried), (torch.cuda.OutOfMemoryError,))
    return Prepared(call_of(rows), {"rows_at_a_time": str(rows)})


class KNearest:
    """Several nearest columns in float32."""

    variant = "torch_topk"
    clock = "gpu"
    waits_for_gpu = False
    max_pairs = 1e12

    def cannot(self, problem: Problem) -> str | None:
        """All but the 10 or 100 nearest columns in float32."""
        kind = (problem.formula, problem.number)
        if kind == ("squared_distance", "float32") and problem.reduction in LEAST_COUNTS:
            return None
        return "does several nearest columns in float32 only"

    def prepare(self, problem: Problem, inputs: Any) -> Prepared:
        """The call, with its number of rows."""
        import torch_forms

        count = min(problem.n, LEAST_COUNTS[problem.reduction])

        def call_of(rows: int) -> Callable[[], Any]:
            return lambda: torch_forms.k_nearest(inputs.x, inputs.y, count, rows)

        return fastest_of(problem, call_of)


def peers() -> list[Peer]:
    """The three forms of sums, and nearest columns."""
    sums = [
        GaussianPeer(f"torch_{form}", "gpu", partial(prepare, form))
        for form in ("tensorized", "cdist", "gram")
    ]
    return [*sums, KNearest()]


if __name__ == "__main__":
    sys.exit(main("PyTorch as a peer of map_reduce", peers(), PACKAGES, sys.argv[1:]))
