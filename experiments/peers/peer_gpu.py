"""Inputs, verification and times of peers on a GPU, through torch.

The answer that results are compared with is computed in float64 on the same GPU, by torch and by
differences: no code of the peers, nor of ours.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch
from peer_check import judge
from peer_inputs import Points, make_points
from peer_points import (
    LEAST_COUNTS,
    ForeignArchive,
    Json,
    Measure,
    Outcome,
    Peer,
    Problem,
    stop_reason,
)

T = TypeVar("T")

CHUNK_PAIRS = 2**25
"""Pairs of the answer at a time: 256 MiB of doubles in each of about four arrays."""


@dataclass(frozen=True)
class Inputs:
    """The arrays of a problem, contiguous."""

    x: torch.Tensor  # m x d
    y: torch.Tensor  # n x d
    b: torch.Tensor  # n x e


def make_inputs(points: Points, device: str = "cuda") -> Inputs:
    """The points on the device."""
    arrays = (points.x, points.y, points.b.reshape(-1, points.problem.e))
    return Inputs(*(torch.from_numpy(array.copy()).to(device) for array in arrays))


# ---------------------------------------------------------------- the answer, in float64


def squared_distances(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """|x - y|^2 by differences, coordinate by coordinate: no more memory than the result takes."""
    total = (x[..., 0] - y[..., 0]).square()
    for k in range(1, x.shape[-1]):
        total += (x[..., k] - y[..., k]).square()
    return total


FORMULAS: dict[str, Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "gaussian": lambda x, y, b: torch.exp(-squared_distances(x, y)) * b,
    "log_gaussian": lambda x, y, b: -squared_distances(x, y),
    "squared_distance": lambda x, y, b: squared_distances(x, y),
    "laplacian": lambda x, y, b: torch.exp(-squared_distances(x, y).sqrt()) * b,
}


def reduced(problem: Problem, values: torch.Tensor) -> torch.Tensor:
    """The reduction of each row of `values`: R x 1 numbers, or the R x K least, ascending."""
    if problem.reduction == "sum":
        return values.sum(1, keepdim=True)
    if problem.reduction == "log_sum_exp":
        return values.logsumexp(1, keepdim=True)
    count = LEAST_COUNTS.get(problem.reduction, 1)
    return values.topk(min(count, values.shape[1]), 1, largest=False).values


def expected_results(points: Points, device: str = "cuda") -> np.ndarray:
    """The answer for each different row, in double precision; of indices, the values there."""
    problem = points.problem
    kind = {"device": device, "dtype": torch.float64}
    x, y, b = (torch.tensor(a, **kind) for a in (points.different_x, points.y, points.b))
    columns = min(problem.n, CHUNK_PAIRS)
    rows = max(1, CHUNK_PAIRS // columns)
    results = []
    for i in range(0, points.different, rows):
        if problem.e > 1:
            ones = x.new_ones(())
            values = FORMULAS[problem.formula](x[i : i + rows, None], y[None], ones)
            results.append(values @ b)
            continue
        parts = []
        for j in range(0, problem.n, columns):
            some = slice(j, j + columns)
            values = FORMULAS[problem.formula](x[i : i + rows, None], y[None, some], b[some])
            parts.append(reduced(problem, values))
        results.append(reduced(problem, torch.cat(parts, 1)))
    return torch.cat(results).cpu().numpy()


def found_results(problem: Problem, result: torch.Tensor, inputs: Inputs) -> np.ndarray:
    """A peer's m x K results; of indices, the values that are there, infinite if there is none."""
    found = result.reshape(problem.m, -1)
    if problem.reduction.startswith("arg"):
        is_column = (found >= 0) & (found < problem.n)
        columns = torch.where(is_column, found, torch.zeros_like(found)).long()
        squares = squared_distances(inputs.x[:, None].double(), inputs.y[columns].double())
        found = torch.where(is_column, squares, torch.full_like(squares, torch.inf))
    return found.double().cpu().numpy()


@torch.inference_mode()  # since a result may have been made in it
def poison(result: torch.Tensor) -> None:
    """Overwrites a result, so that nothing stale can pass for an answer."""
    result.fill_(torch.nan if result.is_floating_point() else -1)


# ---------------------------------------------------------------- times


class Clocks:
    """The SM clock, through NVML; None where that cannot be read."""

    def __init__(self) -> None:
        """Opens NVML for torch's device."""
        self.highest: int | None = None
        try:
            import pynvml

            pynvml.nvmlInit()
            handle = pynvml.nvmlDeviceGetHandleByUUID(gpu_uuid())
            self._read = lambda: pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM)
            self.highest = pynvml.nvmlDeviceGetMaxClockInfo(handle, pynvml.NVML_CLOCK_SM)
        except Exception as error:  # no package, no library or no permission: the row has no clock
            print(f"clocks are not read: {error}", flush=True)

    def now(self) -> int | None:
        """The clock now, in MHz."""
        return None if self.highest is None else self._read()

    def is_throttled(self, mhz: int | None, share: float) -> bool:
        """Below that share of the highest clock."""
        return mhz is not None and self.highest is not None and mhz < share * self.highest


class EventPair:
    """Two CUDA events, and what the GPU does between them."""

    def __init__(self) -> None:
        """For any number of measurements: to make events takes the host's time."""
        self._begin, self._end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def around(
        self, call: Callable[[], Any], calls: int = 1, spin_cycles: int = 0
    ) -> tuple[float, float]:
        """Milliseconds of the GPU for all calls; microseconds of the host to enqueue everything.

        With `spin_cycles` the GPU spins before the first event, while the host enqueues.
        """
        start = time.perf_counter()
        if spin_cycles:
            torch.cuda._sleep(spin_cycles)
        self._begin.record()
        for _ in range(calls):
            call()
        self._end.record()
        enqueue_us = 1e6 * (time.perf_counter() - start)
        self._end.synchronize()
        return self._begin.elapsed_time(self._end), enqueue_us


class Stopwatch:
    """Times a call between two CUDA events, with the second-level cache in a known state."""

    LONGEST_SPIN_US = 1000.0
    """The longest spin for each launch of a sample."""

    def __init__(
        self,
        cycles_per_us: float,
        flush: torch.Tensor | None,
        launches: int,
        waits_for_gpu: bool = False,
    ) -> None:
        """`flush` is the buffer that is written before each sample; with None the cache is as the
        previous execution of the same call left it.

        For a call that waits for the GPU the GPU does not spin: its time is what its caller waits.
        """
        self._cycles_per_us = cycles_per_us
        self._flush = flush
        self._launches = launches
        self._waits_for_gpu = waits_for_gpu
        self._spin_us = 40.0
        self._events = EventPair()
        self._covered: list[bool] = []

    @property
    def has_host(self) -> bool:
        """Whether the host's part of a call is in the time of most samples so far."""
        return self._waits_for_gpu or 2 * sum(self._covered) < len(self._covered)

    def sample_ms(self, call: Callable[[], Any]) -> float:
        """Milliseconds of one execution.

        The GPU spins until the host has enqueued everything; where the host was slower, the sample
        is taken again with a longer spin, which is kept, up to the longest: then the host is in the
        time.
        """
        longest = self.LONGEST_SPIN_US * self._launches
        while True:
            self._settle()
            cycles = 0 if self._waits_for_gpu else int(self._spin_us * self._cycles_per_us)
            gpu_ms, enqueue_us = self._events.around(call, self._launches, cycles)
            is_covered = enqueue_us < self._spin_us
            if is_covered or self._waits_for_gpu or self._spin_us >= longest:
                self._covered.append(is_covered)
                return gpu_ms / self._launches
            self._spin_us = min(longest, max(2 * self._spin_us, 1.5 * enqueue_us))

    def with_host_ms(self, call: Callable[[], Any]) -> float:
        """Milliseconds of one call by the host's clock: from an idle GPU to the result on it."""
        self._settle()
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
        return 1e3 * (time.perf_counter() - start)

    def _settle(self) -> None:
        if self._flush is not None:
            self._flush.fill_(0x5A)
        torch.cuda.synchronize()


def device_only_ms(call: Callable[[], Any], calls: int) -> float | None:
    """Milliseconds of a call's kernels and copies on the GPU, as its profiler has them, added up.

    None where there is no profiler.
    """
    activities = [torch.profiler.ProfilerActivity.CUDA]
    try:
        with torch.profiler.profile(activities=activities) as profile:
            for _ in range(calls):
                call()
            torch.cuda.synchronize()
        on_device = torch.autograd.DeviceType.CUDA
        events = [event for event in profile.events() if event.device_type == on_device]
    except Exception as error:  # no permission or no library: the row lacks this counter
        print(f"the device's own time is not measured: {error}", flush=True)
        return None
    total_us = sum(event.time_range.elapsed_us() for event in events)
    return total_us / 1000 / calls if total_us > 0 else None


def fastest(
    calls: Iterable[tuple[Callable[[], Any], T]], cannot: tuple[type[Exception], ...]
) -> T:
    """The choice beside the fastest call; calls that raise one of `cannot` are left out.

    Raises RuntimeError where none is left.
    """
    best: T | None = None
    best_ms = float("inf")
    events = EventPair()
    for call, choice in calls:
        try:
            call()  # compiles
        except cannot:
            torch.cuda.empty_cache()
            continue
        for _ in range(2):
            torch.cuda.synchronize()
            gpu_ms, _ = events.around(call, spin_cycles=500_000)
            if gpu_ms < best_ms:
                best, best_ms = choice, gpu_ms
    if best is None:
        raise RuntimeError("no shape of it fits this GPU")
    return best


def cycles_per_microsecond() -> float:
    """The rate of torch's spinning kernel: its second launch, since the first wakes the clocks."""
    cycles = 2_000_000
    events = EventPair()
    for _ in range(2):
        gpu_ms, _ = events.around(lambda: torch.cuda._sleep(cycles))
    return cycles / (1000 * gpu_ms)


def gpu_uuid() -> str:
    """The UUID of torch's first GPU, as archives have it."""
    uuid = str(torch.cuda.get_device_properties(0).uuid)
    return uuid if uuid.startswith("GPU-") else f"GPU-{uuid}"


class GpuBench:
    """Verifies and times peers on torch's first GPU; keeps the last problem and its answer."""

    WITH_HOST_SAMPLES = 15
    WITH_HOST_SECONDS = 0.3
    PROFILED_MS = 10.0
    """The time that is profiled: as many calls as fit, at least one."""

    def __init__(self) -> None:
        """Calibrates the spin."""
        self._clocks = Clocks()
        self._cycles_per_us = cycles_per_microsecond()
        self._kept: tuple[Points, Inputs, np.ndarray] | None = None

    def why_not(self, provenance: Json) -> str | None:
        """The emulated backend times no kernel. Raises ForeignArchive for another GPU."""
        if provenance.get("backend") != "cuda":
            return "the archive is of the emulated backend, which times no kernel"
        archived, here = provenance.get("device") or {}, gpu_uuid()
        if archived.get("uuid") != here:
            of = f"{archived.get('name')} {archived.get('uuid')}"
            name = torch.cuda.get_device_name(0)
            raise ForeignArchive(
                f"is of the GPU {of}, and this one is {name} {here}: run warpath on it first"
            )
        return None

    def facts(self) -> Json:
        """The GPU that the peers ran on, and the CUDA version that torch was built with."""
        return {"gpu_uuid": gpu_uuid(), "torch_cuda": torch.version.cuda}

    def measure(self, peer: Peer, problem: Problem, measure: Measure) -> Outcome:
        """Verifies the peer at the problem; if it is right, takes its time."""
        try:
            return self._measure(peer, problem, measure)
        except torch.cuda.OutOfMemoryError as error:
            return Outcome(skipped=f"does not fit: {str(error).splitlines()[0]}")
        finally:
            # Peers may allocate without torch: what its allocator keeps unused is free for them.
            torch.cuda.empty_cache()

    def _problem(self, problem: Problem) -> tuple[Points, Inputs, np.ndarray]:
        if self._kept is None or self._kept[0].problem != problem:
            self._kept = None  # the old arrays are freed before the new ones are allocated
            points = make_points(problem)
            expected = expected_results(points)
            torch.cuda.empty_cache()
            self._kept = points, make_inputs(points), expected
        return self._kept

    def _measure(self, peer: Peer, problem: Problem, measure: Measure) -> Outcome:
        points, inputs, expected = self._problem(problem)
        prepared = peer.prepare(problem, inputs)
        torch.cuda.empty_cache()
        poison(prepared.call())
        result = prepared.call()
        torch.cuda.synchronize()
        outcome = judge(points, found_results(problem, result, inputs), expected)
        outcome.choices |= prepared.choices
        del result
        torch.cuda.empty_cache()
        if outcome.is_good:
            stopwatch = self._stopwatch(measure, peer.waits_for_gpu)
            self._take_samples(prepared.call, stopwatch, measure, outcome)
        return outcome

    def _stopwatch(self, measure: Measure, waits_for_gpu: bool) -> Stopwatch:
        flush = None
        if measure.cache == "cold":
            l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
            flush = torch.empty(2 * l2_bytes, dtype=torch.uint8, device="cuda")
        return Stopwatch(self._cycles_per_us, flush, measure.launches, waits_for_gpu)

    def _take_samples(
        self, call: Callable[[], Any], stopwatch: Stopwatch, measure: Measure, outcome: Outcome
    ) -> None:
        begin = time.perf_counter()
        warm_ups = 0
        while warm_ups < 2 or (warm_ups < 100 and time.perf_counter() - begin < 0.02):
            stopwatch.sample_ms(call)
            warm_ups += 1
        begin = time.perf_counter()
        while outcome.stop is None:
            milliseconds = stopwatch.sample_ms(call)
            mhz = self._clocks.now()
            if self._clocks.is_throttled(mhz, measure.min_clock):
                outcome.discarded_samples += 1
            else:
                outcome.samples_ms.append(milliseconds)
                outcome.sm_clocks_mhz += [] if mhz is None else [mhz]
            seconds = time.perf_counter() - begin
            outcome.stop = stop_reason(measure, outcome.samples_ms, seconds)
        if not outcome.samples_ms:
            discarded = outcome.discarded_samples
            outcome.skipped = f"the GPU throttled in every one of {discarded} samples"
            return
        self._tell_the_host_apart(call, stopwatch, outcome)

    def _tell_the_host_apart(
        self, call: Callable[[], Any], stopwatch: Stopwatch, outcome: Outcome
    ) -> None:
        """Records a call's time with the host's part; without it, too, if the row's time has it."""
        samples: list[float] = []
        begin = time.perf_counter()
        while len(samples) < self.WITH_HOST_SAMPLES and (
            not samples or time.perf_counter() - begin < self.WITH_HOST_SECONDS
        ):
            samples.append(stopwatch.with_host_ms(call))
        outcome.counters["with_host_ms"] = statistics.median(samples)
        outcome.host_is_in_the_time = stopwatch.has_host
        if stopwatch.has_host:
            calls = max(1, int(self.PROFILED_MS / outcome.counters["with_host_ms"]))
            alone = device_only_ms(call, calls)
            outcome.counters |= {} if alone is None else {"device_only_ms": alone}
