"""What is measured of peers that are Python programs, and by which rules.

A problem, a peer, a bench that verifies and times peers, the outcome, our tolerances, and the
harness's rules on samples (experiments/harness, "How a point is measured"). No package and no GPU
is needed here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol

LEAST_COUNTS = {"argkmin": 10, "argkmin_100": 100}
"""K of the reductions that give several columns."""
FEWEST_SAMPLES = 6
"""With fewer, the noise of their median is not known."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """The parameters that shape a problem: m rows, n columns, d dimensions, e numbers a signal.

    Coordinates of points lie in [0, extent); they are means of so many uniform numbers.
    """

    m: int
    n: int
    d: int
    formula: str
    reduction: str
    number: str
    seed: int
    e: int = 1
    extent: int = 1
    averaged: int = 1

    @property
    def pairs(self) -> int:
        """How often the formula is evaluated."""
        return self.m * self.n

    @property
    def number_bytes(self) -> int:
        """The size of a number."""
        return 8 if self.number == "float64" else 4

    @property
    def is_gaussian_sum(self) -> bool:
        """A sum of gaussian in float32, which is all that peers written for one formula do."""
        return (self.formula, self.reduction, self.number) == ("gaussian", "sum", "float32")

    @property
    def is_nearest(self) -> bool:
        """The nearest column in float32."""
        kind = (self.formula, self.reduction, self.number)
        return kind == ("squared_distance", "argmin", "float32")

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
    counters: dict[str, float] = field(default_factory=dict)
    choices: dict[str, str] = field(default_factory=dict)
    samples_ms: list[float] = field(default_factory=list)
    stop: str | None = None
    discarded_samples: int = 0
    sm_clocks_mhz: list[float] = field(default_factory=list)
    """The SM clock at each sample that is kept."""
    host_is_in_the_time: bool = False
    skipped: str | None = None
    error: str | None = None

    @property
    def is_good(self) -> bool:
        """Neither a wrong answer nor an error."""
        return self.error is None and self.verified != "failed"


Clock = Literal["gpu", "host"]


class ForeignArchive(Exception):
    """The archive is another machine's, and gets no times of this one; the message says why."""


@dataclass
class Prepared:
    """A peer's call at one problem."""

    call: Callable[[], Any]
    """Computes the whole result, and returns it."""
    choices: dict[str, str] = field(default_factory=dict)
    """What was chosen for it, like the rows of a chunk."""


class Peer(Protocol):
    """One variant that a peer program measures."""

    variant: str
    clock: Clock
    """The clock that times it."""
    waits_for_gpu: bool
    """Whether its call returns when the GPU is done: then its time is what the caller waits."""
    max_pairs: float

    def cannot(self, problem: Problem) -> str | None:
        """Why this peer does not do the problem; None where it does."""

    def prepare(self, problem: Problem, inputs: Any) -> Prepared:
        """The call to be timed; what is not timed (compiling, choosing a shape) is done here."""


@dataclass
class GaussianPeer:
    """A peer of one formula, in one of several forms: Gaussian sums in float32."""

    variant: str
    clock: Clock
    prepare: Callable[[Problem, Any], Prepared]
    max_pairs: float = 1e12
    waits_for_gpu: bool = False

    def cannot(self, problem: Problem) -> str | None:
        """All but Gaussian sums in float32."""
        if problem.e != 1:
            return "does signals of one number only"
        return None if problem.is_gaussian_sum else "does sums of gaussian in float32 only"


class Bench(Protocol):
    """What verifies and times a peer: peer_gpu.GpuBench, peer_host.HostBench, or a stand-in."""

    def why_not(self, provenance: Json) -> str | None:
        """Why the archive gets no times of any machine; None if it may have this machine's.

        Raises ForeignArchive where the archive is another machine's.
        """

    def facts(self) -> Json:
        """What the archive should say of this machine and its libraries, beside versions."""

    def measure(self, peer: Peer, problem: Problem, measure: Measure) -> Outcome:
        """Verifies the peer at the problem; if it is right, takes its time."""


# ---------------------------------------------------------------- tolerances, as in pairs.cuh

Scale = Literal["one", "itself", "all_rows"]


@dataclass(frozen=True)
class Tolerance:
    """How far results may be off."""

    overall: float
    """The largest relative error of all results together."""
    each: float
    """The largest error of a single result, in units of the scale."""
    scale: Scale


def tolerances(problem: Problem) -> dict[str, Tolerance]:
    """By accuracy, the strictest first: those that our rows have in map_reduce/pairs.cuh.

    A peer's user does not choose among our accuracies, so an answer is right if it is as exact as
    one of them asks: sums one by one (plain) are less exact than those by blocks. Of several least
    values, as exact as a product of floats tells them apart.
    """
    if problem.reduction == "log_sum_exp":
        return {"block": Tolerance(2e-6, 1e-5, "one")}
    if problem.reduction in LEAST_COUNTS:
        return {"block": Tolerance(1e-6, 1e-6, "itself"), "plain": Tolerance(1e-5, 1e-5, "itself")}
    if problem.reduction != "sum":
        return {"block": Tolerance(1e-6, 1e-6, "itself")}
    if problem.number == "float64":
        return {"block": Tolerance(1e-13, 1e-12, "all_rows")}
    return {
        "block": Tolerance(2e-6, 1.6e-5, "all_rows"),
        "plain": Tolerance(5e-4, 2e-3, "all_rows"),
    }


# ---------------------------------------------------------------- statistics, as the harness does


def quantile(ordered: Sequence[float], share: float) -> float:
    """Between the two nearest ranks of the sorted samples, linearly."""
    rank = share * (len(ordered) - 1)
    below = int(rank)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (rank - below) * (ordered[above] - ordered[below])


def median_noise(ordered: Sequence[float]) -> float:
    """Half the width of the median's 95 % confidence interval, divided by the median.

    The interval is that between the order statistics n/2 -+ 0.98 sqrt n; 1 for fewer samples than
    the fewest.
    """
    count, median = len(ordered), quantile(ordered, 0.5)
    if count < FEWEST_SAMPLES or median <= 0:
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
    """Why to stop measuring a point whose samples took `seconds` so far; None: go on.

    Before it has the fewest samples, a point gets ten times the archive's max_seconds.
    """
    count = len(samples_ms)
    if count >= measure.min_samples and median_noise(sorted(samples_ms)) <= measure.max_noise:
        return "noise"
    if count >= measure.max_samples:
        return "samples"
    most_seconds = (10 if count < FEWEST_SAMPLES else 1) * measure.max_seconds
    return "time" if seconds >= most_seconds else None
