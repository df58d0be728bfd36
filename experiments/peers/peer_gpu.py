"""Inputs, verification and times of peers on a GPU, through torch."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from peer_points import LEAST_COUNT, Measure, Outcome, Peer, Problem, judge, stop_reason

CHECKED_ROWS = 64
CHUNK_COLUMNS = 2**18
"""Columns that the check takes at a time: 64 rows of them are 128 MiB of doubles."""


class WrongAnswer(Exception):
    """A result that cannot be right whatever its numbers are; the message says why."""


@dataclass(frozen=True)
class Inputs:
    """The arrays of a problem, contiguous."""

    x: torch.Tensor  # m x d
    y: torch.Tensor  # n x d
    b: torch.Tensor  # n x 1


def make_inputs(problem: Problem, device: str = "cuda") -> Inputs:
    """x and y uniform in [0, 1), b uniform in [-0.5, 0.5)."""
    torch.manual_seed(problem.seed)
    kind = {"device": device, "dtype": getattr(torch, problem.number)}
    x = torch.rand(problem.m, problem.d, **kind)
    y = torch.rand(problem.n, problem.d, **kind)
    return Inputs(x, y, torch.rand(problem.n, 1, **kind).sub_(0.5))


# ---------------------------------------------------------------- the answer, in float64


def squared_distances(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """|x - y|^2 by differences, coordinate by coordinate: no more memory than the result takes."""
    total = (x[..., 0] - y[..., 0]).square()
    for k in range(1, x.shape[-1]):
        total += (x[..., k] - y[..., k]).square()
    return total


def inner_products(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """(x . y), coordinate by coordinate."""
    total = x[..., 0] * y[..., 0]
    for k in range(1, x.shape[-1]):
        total += x[..., k] * y[..., k]
    return total


FORMULAS: dict[str, Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "gaussian": lambda x, y, b: torch.exp(-squared_distances(x, y)) * b,
    "log_gaussian": lambda x, y, b: -squared_distances(x, y),
    "squared_distance": lambda x, y, b: squared_distances(x, y),
    "laplacian": lambda x, y, b: torch.exp(-squared_distances(x, y).sqrt()) * b,
    "inner_product": lambda x, y, b: inner_products(x, y) * b,
    "energy_distance": lambda x, y, b: -squared_distances(x, y).sqrt() * b,
}


def values_between(problem: Problem, x: torch.Tensor, inputs: Inputs, columns: Any) -> torch.Tensor:
    """The formula between the rows x (R x d) and `columns`: a slice, or R x K indices."""
    y = inputs.y[columns].double()
    b = inputs.b[columns].double().squeeze(-1)
    return FORMULAS[problem.formula](x[:, None], y, b)


def expected_rows(problem: Problem, x: torch.Tensor, inputs: Inputs) -> torch.Tensor:
    """The reduction of the rows x (R x d): R x 1 numbers, or the R x K least (greatest) values."""
    total: torch.Tensor | None = None
    for begin in range(0, problem.n, CHUNK_COLUMNS):
        values = values_between(problem, x, inputs, slice(begin, begin + CHUNK_COLUMNS))
        part = reduced(problem, values)
        total = part if total is None else reduced_pair(problem, total, part)
    if total is None:
        raise ValueError("no columns")
    return total


def reduced(problem: Problem, values: torch.Tensor) -> torch.Tensor:
    """The reduction of each row of `values`."""
    if problem.reduction == "sum":
        return values.sum(1, keepdim=True)
    if problem.reduction == "log_sum_exp":
        return values.logsumexp(1, keepdim=True)
    count = LEAST_COUNT if problem.reduction.endswith("kmin") else 1
    largest = problem.reduction.endswith("max")
    return values.topk(min(count, values.shape[1]), 1, largest=largest).values


def reduced_pair(problem: Problem, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """The reduction over the columns of both parts."""
    return reduced(problem, torch.cat((left, right), 1))


def found_values(
    problem: Problem, rows: torch.Tensor, result: torch.Tensor, x: torch.Tensor, inputs: Inputs
) -> torch.Tensor:
    """A peer's result at the checked rows; of indices, the values that are there in truth."""
    found = result.reshape(problem.m, -1)[rows]
    if not problem.reduction.startswith("arg"):
        return found.double()
    if bool(((found < 0) | (found >= problem.n)).any()):
        raise WrongAnswer(f"wrong answer: an index that is not in [0, {problem.n})")
    return values_between(problem, x, inputs, found.long())


def relative_error(problem: Problem, result: torch.Tensor, inputs: Inputs) -> float:
    """The relative L2 error of a result at 64 evenly spaced rows; NaN where it has a NaN."""
    count = min(CHECKED_ROWS, problem.m)
    # In integers: (m - 1) / (count - 1) of a large m is not exact in floating point.
    spaced = [k * (problem.m - 1) // max(1, count - 1) for k in range(count)]
    rows = torch.tensor(spaced, device=result.device)
    x = inputs.x[rows].double()
    expected = expected_rows(problem, x, inputs)
    # Where there are less than K columns, what follows the last one is not looked at.
    found = found_values(problem, rows, result, x, inputs)[:, : expected.shape[1]]
    if found.shape != expected.shape:
        raise WrongAnswer(f"wrong answer: {found.shape[1]} numbers a row, not {expected.shape[1]}")
    difference = float((found - expected).norm())
    return 0.0 if difference == 0 else difference / float(expected.norm().clamp_min(1e-300))


# ---------------------------------------------------------------- times


class Clocks:
    """The SM clock, through NVML; None where that cannot be read."""

    def __init__(self) -> None:
        """Opens NVML for torch's device."""
        self.highest: int | None = None
        try:
            import pynvml

            pynvml.nvmlInit()
            uuid = f"GPU-{torch.cuda.get_device_properties(0).uuid}"
            handle = pynvml.nvmlDeviceGetHandleByUUID(uuid)
            self._read = lambda: pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM)
            self.highest = pynvml.nvmlDeviceGetMaxClockInfo(handle, pynvml.NVML_CLOCK_SM)
        except Exception as error:  # no package, no library, no right to read: all the same
            print(f"clocks are not read: {error}", flush=True)

    def now(self) -> int | None:
        """The clock now, in MHz."""
        return None if self.highest is None else self._read()

    def is_throttled(self, mhz: int | None, share: float) -> bool:
        """Below that share of the highest clock."""
        return mhz is not None and self.highest is not None and mhz < share * self.highest


class Stopwatch:
    """Times a call between two CUDA events, with the second-level cache in a known state."""

    LONGEST_SPIN_US = 1000.0
    """For each launch of a sample."""

    def __init__(self, cycles_per_us: float, flush: torch.Tensor | None, launches: int) -> None:
        """`flush` is the buffer that is written before each sample; None leaves the cache warm."""
        self._cycles_per_us = cycles_per_us
        self._flush = flush
        self._launches = launches
        self._spin_us = 40.0
        self._begin = torch.cuda.Event(enable_timing=True)
        self._end = torch.cuda.Event(enable_timing=True)

    def sample_ms(self, call: Callable[[], Any]) -> float:
        """Milliseconds of one execution.

        The GPU spins until the host has enqueued everything; where the host was slower, the sample
        is taken again with a longer spin, which is kept. A call that waits for the GPU is slower
        than any spin, so there is a longest one.
        """
        longest = self.LONGEST_SPIN_US * self._launches
        while True:
            if self._flush is None:
                call()
            else:
                self._flush.fill_(0x5A)
            torch.cuda.synchronize()
            start = time.perf_counter()
            torch.cuda._sleep(int(self._spin_us * self._cycles_per_us))
            self._begin.record()
            for _ in range(self._launches):
                call()
            self._end.record()
            enqueue_us = 1e6 * (time.perf_counter() - start)
            self._end.synchronize()
            if enqueue_us < self._spin_us or self._spin_us >= longest:
                return self._begin.elapsed_time(self._end) / self._launches
            self._spin_us = min(longest, max(2 * self._spin_us, 1.5 * enqueue_us))


def cycles_per_microsecond() -> float:
    """Of torch's spinning kernel; the first launch wakes the clocks, the second one is measured."""
    cycles = 2_000_000
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for _ in range(2):
        begin.record()
        torch.cuda._sleep(cycles)
        end.record()
        end.synchronize()
    return cycles / (1000 * begin.elapsed_time(end))


class GpuBench:
    """Verifies and times peers on torch's first GPU; keeps the inputs of the last problem."""

    def __init__(self) -> None:
        """Calibrates the spin."""
        self._clocks = Clocks()
        self._cycles_per_us = cycles_per_microsecond()
        self._inputs: tuple[Problem, Inputs] | None = None

    def device_name(self) -> str:
        """The name of the GPU, as archives have it."""
        return torch.cuda.get_device_name(0)

    def measure(self, peer: Peer, problem: Problem, measure: Measure) -> Outcome:
        """Verifies the peer at the problem; if it is right, takes its time."""
        try:
            return self._measure(peer, problem, measure)
        except torch.cuda.OutOfMemoryError as error:
            return Outcome(skipped=f"does not fit: {str(error).splitlines()[0]}")
        finally:
            # Peers may allocate past torch: what it keeps unused is theirs.
            torch.cuda.empty_cache()

    def _inputs_of(self, problem: Problem) -> Inputs:
        if self._inputs is None or self._inputs[0] != problem:
            self._inputs = None  # the old ones go before the new ones come
            self._inputs = problem, make_inputs(problem)
        return self._inputs[1]

    def _measure(self, peer: Peer, problem: Problem, measure: Measure) -> Outcome:
        inputs = self._inputs_of(problem)
        torch.cuda.empty_cache()
        call = peer.prepare(problem, inputs)
        result = call()
        torch.cuda.synchronize()
        try:
            outcome = judge(problem, relative_error(problem, result, inputs))
        except WrongAnswer as error:
            return Outcome(verified="failed", error=str(error))
        del result
        torch.cuda.empty_cache()
        if outcome.is_good:
            self._take_samples(call, measure, outcome)
        return outcome

    def _stopwatch(self, measure: Measure) -> Stopwatch:
        flush = None
        if measure.cache == "cold":
            l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
            flush = torch.empty(2 * l2_bytes, dtype=torch.uint8, device="cuda")
        return Stopwatch(self._cycles_per_us, flush, measure.launches)

    def _take_samples(self, call: Callable[[], Any], measure: Measure, outcome: Outcome) -> None:
        stopwatch = self._stopwatch(measure)
        begin = time.perf_counter()
        warm_ups = 0
        while warm_ups < 2 or (warm_ups < 100 and time.perf_counter() - begin < 0.02):
            stopwatch.sample_ms(call)
            warm_ups += 1
        outcome.clock_before_mhz = self._clocks.now()
        begin = time.perf_counter()
        while outcome.stop is None:
            milliseconds = stopwatch.sample_ms(call)
            outcome.clock_after_mhz = self._clocks.now()
            if self._clocks.is_throttled(outcome.clock_after_mhz, measure.min_clock):
                outcome.discarded_samples += 1
            else:
                outcome.samples_ms.append(milliseconds)
            seconds = time.perf_counter() - begin
            outcome.stop = stop_reason(measure, outcome.samples_ms, seconds)
        if not outcome.samples_ms:
            discarded = outcome.discarded_samples
            outcome.skipped = f"the GPU throttled in every one of {discarded} samples"
