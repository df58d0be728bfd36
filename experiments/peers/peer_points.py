"""What is measured of peers that are Python programs, and by which rules.

A problem, a peer, a bench that verifies and times peers, the outcome, and the harness's rules on
samples (experiments/harness, "How a point is measured"). No package and no GPU is needed here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

LEAST_COUNT = 10
"""K of the reductions kmin and argkmin."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """The parameters that shape a problem: m rows, n columns, d dimensions."""

    m: int
    n: int
    d: int
    formula: str
    reduction: str
    number: str
    seed: int

    @property
    def pairs(self) -> int:
        """How often the formula is evaluated."""
        return self.m * self.n

    @property
    def number_bytes(self) -> int:
        """The size of a number."""
        return 8 if self.number == "float64" else 4

    def __str__(self) -> str:
        """All parameters, as a point's name has them."""
        return "/".join(f"{name}:{value}" for name, value in asdict(self).items())


@dataclass(frozen=True)
class Measure:
    """How long to measure, and with which cache: the archive's object `measure`."""

    cache: str = "cold"
    min_samples: int = 15
    max_samples: int = 500
    max_noise: float = 0.02
    max_seconds: float = 5
    min_clock: float = 0.75
    launches: int = 1


@dataclass
class Outcome:
    """What became of one peer at one problem."""

    verified: str = "not_verified"
    relative_error: float | None = None
    samples_ms: list[float] = field(default_factory=list)
    stop: str | None = None
    discarded_samples: int = 0
    clock_before_mhz: int | None = None
    clock_after_mhz: int | None = None
    skipped: str | None = None
    error: str | None = None

    @property
    def is_good(self) -> bool:
        """Neither a wrong answer nor an error."""
        return self.error is None and self.verified != "failed"


class Peer(Protocol):
    """One variant that a peer program measures."""

    variant: str
    max_pairs: float

    def cannot(self, problem: Problem) -> str | None:
        """Why this peer does not do the problem; None where it does."""

    def prepare(self, problem: Problem, inputs: Any) -> Callable[[], Any]:
        """What is to be timed. Each call computes the whole result, and returns it."""


class Bench(Protocol):
    """What verifies and times a peer: peer_gpu.GpuBench, or a test's stand-in."""

    def device_name(self) -> str:
        """The name of the GPU, as archives have it."""

    def measure(self, peer: Peer, problem: Problem, measure: Measure) -> Outcome:
        """Verifies the peer at the problem; if it is right, takes its time."""


# ---------------------------------------------------------------- statistics, as the harness does


def quantile(ordered: Sequence[float], share: float) -> float:
    """Between the two nearest ranks of the sorted samples, linearly."""
    rank = share * (len(ordered) - 1)
    below = int(rank)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (rank - below) * (ordered[above] - ordered[below])


def median_noise(ordered: Sequence[float]) -> float:
    """Half the width of the median's 95 % confidence interval, divided by the median.

    The interval is that between the order statistics n/2 -+ 0.98 sqrt n; 1 for less than 6 samples.
    """
    count, median = len(ordered), quantile(ordered, 0.5)
    if count < 6 or median <= 0:
        return 1.0
    reach = 0.98 * math.sqrt(count)
    low = max(0, math.floor(count / 2 - reach))
    high = min(count - 1, math.ceil(count / 2 + reach))
    return (ordered[high] - ordered[low]) / 2 / median


def summarize(samples_ms: Iterable[float]) -> Json:
    """A row's `time_ms` of at least one sample."""
    ordered = sorted(samples_ms)
    return {
        "median": quantile(ordered, 0.5),
        "min": ordered[0],
        "p10": quantile(ordered, 0.1),
        "p90": quantile(ordered, 0.9),
        "noise": median_noise(ordered),
        "samples": len(ordered),
    }


def stop_reason(measure: Measure, samples_ms: Sequence[float], seconds: float) -> str | None:
    """Why to stop measuring a point whose samples took `seconds` so far; None: go on."""
    count = len(samples_ms)
    if count >= measure.min_samples and median_noise(sorted(samples_ms)) <= measure.max_noise:
        return "noise"
    if count >= measure.max_samples:
        return "samples"
    return "time" if seconds >= measure.max_seconds else None


def tolerance(problem: Problem) -> float:
    """The relative L2 error up to which an answer is right."""
    sums = problem.reduction in ("sum", "log_sum_exp")
    return 1e-12 if sums and problem.number == "float64" else 1e-5


def judge(problem: Problem, relative_error: float) -> Outcome:
    """The outcome of a verification: no NaN passes."""
    outcome = Outcome(verified="passed")
    if math.isfinite(relative_error):
        outcome.relative_error = relative_error
    allowed = tolerance(problem)
    if not relative_error <= allowed:
        outcome.verified = "failed"
        outcome.error = f"wrong answer: relative error {relative_error:.3g}, allowed {allowed:g}"
    return outcome
