"""Verification and times of peers on the CPU, by the wall clock, through numpy."""

from __future__ import annotations

import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
from peer_check import judge
from peer_inputs import Points, make_points
from peer_points import (
    FEWEST_SAMPLES,
    ForeignArchive,
    Json,
    Measure,
    Outcome,
    Peer,
    Problem,
    stop_reason,
)

MOST_CALL_SECONDS = 15.0
"""A call that is expected to take longer is not made."""
SMALL = 1000
"""Rows and columns of a problem whose rate predicts the time of larger ones."""
BLOCK_PAIRS = 2**18
"""Pairs that are checked at a time: 2 MiB of doubles, which stay in a core's cache."""


def expected_sums(points: Points) -> np.ndarray:
    """The sum over j of exp(-|x_i - y_j|^2) b_j in double precision, for each different row.

    By differences, coordinate by coordinate, on all cores; a different x 1 array.
    """
    x, y, b = (values.astype(np.float64) for values in (points.different_x, points.y, points.b))
    rows = max(1, BLOCK_PAIRS // len(y))
    sums = np.empty((len(x), 1))

    def of_block(begin: int) -> None:
        block = x[begin : begin + rows]
        squares = np.zeros((len(block), len(y)))
        for k in range(x.shape[1]):
            squares += np.square(block[:, k, None] - y[None, :, k])
        sums[begin : begin + rows, 0] = (np.exp(-squares) * b).sum(1)

    with ThreadPoolExecutor(cores()) as pool:
        list(pool.map(of_block, range(0, len(x), rows)))
    return sums


# ---------------------------------------------------------------- the machine


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0))


def cpu_name() -> str:
    """The name of the CPU, as archives have it."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(": ")[2]
    return "unknown"


def gpu_uuids() -> list[str]:
    """The UUIDs of this machine's GPUs, as nvidia-smi lists them; empty without nvidia-smi."""
    command = ["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return done.stdout.split()


def blas() -> str:
    """The name and version of numpy's BLAS, as far as it says."""
    try:
        of_build = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return f"{of_build['name']} {of_build['version']}"
    except (TypeError, KeyError):
        return "unknown"


class HostBench:
    """Verifies and times peers on the CPU; keeps the answer of the last problem."""

    def __init__(self) -> None:
        """Reads what the machine's CPU and GPUs are."""
        self._cpu = cpu_name()
        # C++ libraries count either those of the machine or those that the process may use.
        self._cores = {os.cpu_count(), cores()}
        self._gpus = gpu_uuids()
        self._expected: tuple[Problem, np.ndarray] | None = None
        self._pairs_per_second: dict[tuple[str, int], float] = {}

    def why_not(self, provenance: Json) -> str | None:
        """None: the host's clock times emulated archives, too, if they are of this machine.

        Raises ForeignArchive.
        """
        host = provenance.get("host") or {}
        if host.get("cpu") != self._cpu or host.get("cores") not in self._cores:
            archived = f"{host.get('cpu')}, {host.get('cores')} cores"
            here = f"{self._cpu}, {cores()} cores"
            raise ForeignArchive(f"is of the CPU {archived}, and this one is {here}")
        archived = (provenance.get("device") or {}).get("uuid")
        if provenance.get("backend") == "cuda" and archived not in self._gpus:
            here = ", ".join(self._gpus) or "none"
            raise ForeignArchive(f"is of the GPU {archived}, and this machine's are: {here}")
        return None

    def facts(self) -> Json:
        """The BLAS that numpy was built with."""
        return {"numpy_blas": blas()}

    def _expected_of(self, points: Points) -> np.ndarray:
        if self._expected is None or self._expected[0] != points.problem:
            self._expected = points.problem, expected_sums(points)
        return self._expected[1]

    def measure(self, peer: Peer, problem: Problem, measure: Measure) -> Outcome:
        """Verifies the peer at the problem; if it is right, takes its time.

        A first call that takes `max_seconds` or longer is a sample.
        """
        expected_seconds = problem.pairs / self._rate_of(peer, problem)
        if expected_seconds > MOST_CALL_SECONDS:
            seconds = f"{expected_seconds:.3g} s a call are expected"
            return Outcome(skipped=f"{seconds}, and at most {MOST_CALL_SECONDS:g} are spent on one")
        points = make_points(problem)
        expected = self._expected_of(points)
        prepared = peer.prepare(problem, points)
        begin = time.perf_counter()
        found = prepared.call()
        first_seconds = time.perf_counter() - begin
        self._pairs_per_second[peer.variant, problem.d] = problem.pairs / first_seconds
        outcome = judge(points, found.reshape(problem.m, -1), expected)
        outcome.choices |= prepared.choices
        outcome.host_is_in_the_time = True
        if outcome.is_good:
            # Not all are always busy: BLAS uses all of them, numpy's exp only one.
            outcome.counters["cores_available"] = float(cores())
            self._take_samples(prepared.call, measure, outcome, first_seconds)
        return outcome

    def _rate_of(self, peer: Peer, problem: Problem) -> float:
        """Pairs a second: of the peer's last problem in as many dimensions, or of a small one."""
        kind = peer.variant, problem.d
        if kind not in self._pairs_per_second:
            small = replace(problem, m=min(problem.m, SMALL), n=min(problem.n, SMALL))
            call = peer.prepare(small, make_points(small)).call
            call()
            begin = time.perf_counter()
            call()
            self._pairs_per_second[kind] = small.pairs / (time.perf_counter() - begin)
        return self._pairs_per_second[kind]

    def _take_samples(self, call, measure: Measure, outcome: Outcome, first_seconds: float) -> None:
        # A host variant may stop after the fewest samples: it is a baseline, and often slow.
        rules = replace(measure, min_samples=min(measure.min_samples, FEWEST_SAMPLES))
        samples = [first_seconds] if first_seconds >= measure.max_seconds else []
        while True:
            outcome.samples_ms = [1000 * seconds for seconds in samples]
            outcome.stop = stop_reason(rules, outcome.samples_ms, sum(samples))
            if outcome.stop is not None:
                return
            begin = time.perf_counter()
            call()
            samples.append(time.perf_counter() - begin)
