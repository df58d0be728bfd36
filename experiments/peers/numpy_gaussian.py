"""NumPy as a peer of map_reduce: Gaussian sums in float32 on the CPU, for the claim of x10,000.

    python3 experiments/peers/numpy_gaussian.py ARCHIVE.json|FOLDER... [--max-pairs PAIRS]

Fills in the rows of two variants in map_reduce's archives; see peer_rows.py. numpy_tensorized is
the textbook's: broadcast differences (M, N, D), squared, summed, exp, product with the signal.
numpy_gram is the best that a user would write without threads of one's own: |x|^2 - 2 x.y + |y|^2
as one matrix product of D + 2 columns by BLAS on all cores, exp in place, by as many rows at a time
as is fastest. NumPy's exp runs on one core.

A first call that takes longer than the archive's max_seconds is a sample, and more are taken up to
ten times that. A call that is expected to take longer than 15 s is not made, and its row says so.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import Any

from peer_points import GaussianPeer, Prepared, Problem
from peer_program import main

PACKAGES = ("numpy",)


def prepare(form: str, problem: Problem, inputs: Any) -> Prepared:
    """The call of a form in numpy_forms.py, with its number of rows."""
    import numpy_forms

    function = getattr(numpy_forms, form)
    rows, x = getattr(numpy_forms, f"rows_of_{form}")(inputs), inputs.x
    return Prepared(lambda: function(x, inputs.y, inputs.b, rows), {"rows_at_a_time": str(rows)})


def peers() -> list[GaussianPeer]:
    """Both forms."""
    return [
        GaussianPeer(f"numpy_{form}", "host", partial(prepare, form))
        for form in ("tensorized", "gram")
    ]


if __name__ == "__main__":
    # BLAS is to take all cores. It reads these variables when numpy is imported, after this.
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.pop(f"{library}_NUM_THREADS", None)
    sys.exit(main("NumPy as a peer of map_reduce", peers(), PACKAGES, sys.argv[1:]))
