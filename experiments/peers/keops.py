"""KeOps as a peer of map_reduce: pykeops.torch.Genred with its schemes GPU_1D and GPU_2D.

    python3 experiments/peers/keops.py ARCHIVE.json|FOLDER... [--max-pairs PAIRS]

Fills in the rows of keops_1d and keops_2d in map_reduce's archives; see peer_rows.py. A call of
KeOps waits for the GPU before it returns, so what the host does is in its time, as it is for every
caller; so are the few operations of torch that KeOps does after its kernel (the logarithm of
LogSumExp, the integers of Arg reductions). The counter `device_only_ms` is the time of its kernels
alone. Genred's own choice of the summation scheme (sum_scheme="auto") stands.

KeOps compiles its own libraries with the compiler of $CXX. Where that is not the one that python
was built with, they may end the process with a segmentation fault: set CXX=/usr/bin/g++.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from peer_points import LEAST_COUNTS, Prepared, Problem
from peer_program import main

PACKAGES = ("torch", "numpy", "pykeops", "keopscore")

DISTANCE = "SqDist(x,y)"
FORMULAS = {
    "gaussian": f"Exp(-{DISTANCE})*b",
    "log_gaussian": f"-{DISTANCE}",
    "squared_distance": DISTANCE,
    "laplacian": "Exp(-Norm2(x-y))*b",
}
REDUCTIONS = {
    "sum": "Sum",
    "log_sum_exp": "LogSumExp",
    "argmin": "ArgMin",
    "argkmin": "ArgKMin",
    "argkmin_100": "ArgKMin",
}
FLOAT_INDICES = 16_000_000
"""KeOps keeps indices as floating-point numbers, and refuses more columns than this in float32."""
BLOCK_THREADS = 192
SHARED_BYTES = 49152
MOST_BLOCKS_Y = 65535


def needs_signal(formula: str) -> bool:
    """Whether the formula has the signal b."""
    return FORMULAS[formula].endswith("*b")


def block_threads(problem: Problem) -> int:
    """The size of KeOps's square tiles: 192, or what shared memory holds columns for."""
    column_numbers = problem.d + needs_signal(problem.formula)
    return min(BLOCK_THREADS, SHARED_BYTES // (column_numbers * problem.number_bytes))


class Keops:
    """One of KeOps's two schemes."""

    clock = "gpu"
    waits_for_gpu = True

    def __init__(self, variant: str, backend: str, max_pairs: float) -> None:
        """`backend` is Genred's name of the scheme."""
        self.variant = variant
        self.backend = backend
        self.max_pairs = max_pairs

    def cannot(self, problem: Problem) -> str | None:
        """What KeOps has no formula, reduction or indices for."""
        if problem.formula not in FORMULAS:
            return f"no formula of KeOps for {problem.formula}"
        if problem.reduction not in REDUCTIONS:
            return f"no reduction of KeOps for {problem.reduction}"
        if self.backend == "GPU_2D" and problem.reduction not in ("sum", "log_sum_exp"):
            return "GPU_2D of KeOps 2.3 has no code for reductions that are no sums"
        in_float = problem.reduction.startswith("arg") and problem.number == "float32"
        if in_float and problem.n > FLOAT_INDICES:
            return f"KeOps has no indices above {FLOAT_INDICES} in float32"
        if self.backend == "GPU_2D" and problem.n > MOST_BLOCKS_Y * block_threads(problem):
            return f"more columns than {MOST_BLOCKS_Y} tiles, the most that a grid's y takes"
        return None

    def prepare(self, problem: Problem, inputs: Any) -> Prepared:
        """A call of Genred; the first one compiles."""
        os.environ.setdefault("PYKEOPS_VERBOSE", "0")
        from pykeops.torch import Genred

        aliases = [f"x = Vi({problem.d})", f"y = Vj({problem.d})"]
        arguments = [inputs.x, inputs.y]
        if needs_signal(problem.formula):
            aliases.append(f"b = Vj({problem.e})")
            arguments.append(inputs.b)
        routine = Genred(
            FORMULAS[problem.formula],
            aliases,
            reduction_op=REDUCTIONS[problem.reduction],
            axis=1,
            opt_arg=LEAST_COUNTS.get(problem.reduction),
        )
        return Prepared(lambda: routine(*arguments, backend=self.backend))


def peers() -> list[Keops]:
    """Both schemes. Pairs: what an H200 does in a second with few, or with many rows."""
    return [Keops("keops_1d", "GPU_1D", 1e12), Keops("keops_2d", "GPU_2D", 2e10)]


if __name__ == "__main__":
    sys.exit(main("KeOps as a peer of map_reduce", peers(), PACKAGES, sys.argv[1:]))
