"""Rows of peers that are Python programs, in the archives of map_reduce that `warpath run` wrote.

`warpath` measures what is linked into it. Peers that live in Python packages are measured here: for
each distinct problem of an archive's rows, by the archive's own rules (experiments/harness,
"How a point is measured"), and written into that archive as rows of the same schema.

This module knows neither a package nor a GPU, so that it can be tested without; what needs torch is
in peer_gpu.py. Where a package or a GPU is missing, the rows are there and say so.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

TECHNIQUE = "map_reduce"
LEAST_COUNT = 10
"""K of the reductions kmin and argkmin."""

Json = dict[str, Any]


class InputError(Exception):
    """An archive that cannot be used; the message says which, and why."""


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
    """What verifies and times a peer: peer_gpu.Bench, or a test's stand-in."""

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


# ---------------------------------------------------------------- archives


def read_archive(path: Path) -> Json:
    """An archive of map_reduce. Raises InputError."""
    try:
        archive = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    if not isinstance(archive, dict) or not isinstance(archive.get("rows"), list):
        raise InputError(f"{path}: is no archive: it has no rows")
    if archive.get("technique") != TECHNIQUE:
        raise InputError(f"{path}: is an archive of {archive.get('technique')}, not {TECHNIQUE}")
    return archive


def write_archive(path: Path, archive: Json) -> None:
    """Writes beside the place and renames, so that the archive is never half there."""
    text = json.dumps(archive, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    beside = path.with_name(f"{path.name}.tmp.{os.getpid()}")
    try:
        with beside.open("w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def archives_of(places: Iterable[Path]) -> list[Path]:
    """The archives that the command line names: files, and folders of them."""
    found: list[Path] = []
    for place in places:
        found += sorted(place.glob(f"{TECHNIQUE}.*.json")) if place.is_dir() else [place]
    return list(dict.fromkeys(found))


def measure_of(archive: Json) -> Measure:
    """The archive's rules; the harness's defaults where it names none."""
    given = archive.get("measure") or {}
    known = {each.name: given[each.name] for each in fields(Measure) if each.name in given}
    return Measure(**known)


def problem_of(row: Json) -> Problem:
    """The problem of a row. Raises InputError."""
    params = row["params"]
    missing = [each.name for each in fields(Problem) if each.name not in params]
    if missing:
        raise InputError(f"a row of {row['variant']} has no parameter {', '.join(missing)}")
    return Problem(**{each.name: params[each.name] for each in fields(Problem)})


def templates_of(rows: Iterable[Json], variants: Iterable[str]) -> dict[Problem, Json]:
    """Each distinct problem, with the row that gives a peer's row its other parameters.

    That is the problem's row of gpu_1d, else its first one that is no peer's, else its first one.
    Rows of `variants` do not count: they are about to be replaced.
    """

    def rank(row: Json) -> int:
        return 0 if row["variant"] == "gpu_1d" else 2 if row.get("role") == "peer" else 1

    replaced = frozenset(variants)
    found: dict[Problem, Json] = {}
    for row in rows:
        if row["variant"] in replaced:
            continue
        problem = problem_of(row)
        if problem not in found or rank(row) < rank(found[problem]):
            found[problem] = row
    return found


def peer_row(
    template: Json, variant: str, problem: Problem, measure: Measure, outcome: Outcome
) -> Json:
    """The row of a peer, with the keys of the template's; what does not apply is null."""
    params = dict(template["params"])
    if "variant" in params:
        params["variant"] = variant
    counters = {}
    if outcome.relative_error is not None:
        counters["relative_error"] = outcome.relative_error
    row: Json = dict.fromkeys(template)
    row |= {
        "variant": variant,
        "role": "peer",
        "runs": "gpu",
        "params": params,
        "verified": outcome.verified,
        "time_ms": None,
        "clock": "gpu",
        "cache": measure.cache,
        "launches": measure.launches,
        "items_per_s": None,
        "bytes_min": template.get("bytes_min"),
        "counters": counters,
        "stop": outcome.stop,
        "discarded_samples": outcome.discarded_samples,
        "clocks_mhz": {"before": outcome.clock_before_mhz, "after": outcome.clock_after_mhz},
    }
    if outcome.is_good and outcome.samples_ms:
        row |= speed(summarize(outcome.samples_ms), problem, row["bytes_min"])
    # As in the harness's rows, these two keys stand only where they say something.
    row |= {"skipped": outcome.skipped} if outcome.skipped else {}
    row |= {"error": outcome.error} if outcome.error else {}
    return row


def speed(time_ms: Json, problem: Problem, bytes_min: float | None) -> Json:
    """What a row says of its time."""
    seconds = time_ms["median"] / 1000
    rates: Json = {"time_ms": time_ms}
    if seconds > 0:
        rates["items_per_s"] = problem.pairs / seconds
        rates["gb_per_s"] = None if bytes_min is None else 1e-9 * bytes_min / seconds
    return rates


def version_of(package: str) -> str | None:
    """The version of a package, installed or only imported, or None."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return getattr(sys.modules.get(package), "__version__", None)


def merge(archive: Json, variants: Iterable[str], rows: list[Json], packages: Json) -> Json:
    """The archive with these rows instead of those that it has of these variants."""
    replaced = frozenset(variants)
    provenance = dict(archive.get("provenance") or {})
    before: Json = {"pykeops": None, "torch": None, "triton": None}
    before |= provenance.get("peers") or {}
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    provenance["peers"] = before | packages | {"time": now}
    kept = [row for row in archive["rows"] if row["variant"] not in replaced]
    return archive | {"provenance": provenance, "rows": kept + rows}


# ---------------------------------------------------------------- a program


def missing_package(packages: Iterable[str]) -> str | None:
    """The first of the packages that this Python does not have, as a reason."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            return f"{package} is not installed"
    return None


def why_no_bench(packages: Iterable[str]) -> str | None:
    """Why nothing can be measured here, if so."""
    reason = missing_package(packages)
    if reason:
        return reason
    import torch

    return None if torch.cuda.is_available() else "no GPU"


def why_not_here(archive: Json, device_name: str) -> str | None:
    """Why times of this machine's GPU may not stand in the archive, if so."""
    provenance = archive.get("provenance") or {}
    if provenance.get("backend") != "cuda":
        return "the archive is of the emulated backend, which times nothing"
    archived = (provenance.get("device") or {}).get("name")
    if archived != device_name:
        return f"the archive is of {archived}, and this GPU is {device_name}"
    return None


def outcome_of(peer: Peer, problem: Problem, measure: Measure, bench: Bench) -> Outcome:
    """Skips what the peer cannot do, and measures the rest; an exception becomes the error."""
    reason = peer.cannot(problem)
    if reason is None and problem.pairs > peer.max_pairs:
        reason = f"{problem.pairs:.3g} pairs: more than --max-pairs {peer.max_pairs:.3g}"
    if reason:
        return Outcome(skipped=reason)
    try:
        return bench.measure(peer, problem, measure)
    except Exception as error:  # whatever a package raises; the other points go on
        return Outcome(error=f"{type(error).__name__}: {error}")


def outcome_text(outcome: Outcome) -> str:
    """One line for the terminal."""
    if outcome.error:
        return f"FAILED: {outcome.error}"
    if outcome.skipped:
        return f"skipped: {outcome.skipped}"
    time = summarize(outcome.samples_ms)
    return f"{time['median']:.6g} ms ({time['samples']} samples, {outcome.stop})"


def add_rows(
    path: Path, peers: Sequence[Peer], packages: Sequence[str], bench: Bench | str
) -> list[Outcome]:
    """Measures the peers at an archive's problems and writes their rows into it.

    `bench` is a text where nothing can be measured: the reason. Raises InputError.
    """
    archive = read_archive(path)
    variants = [peer.variant for peer in peers]
    templates = templates_of(archive["rows"], variants)
    measure = measure_of(archive)
    why_not = bench if isinstance(bench, str) else why_not_here(archive, bench.device_name())
    if why_not:
        print(f"{path.name}: {', '.join(variants)}: {why_not}", flush=True)
    rows, outcomes = [], []
    for problem, template in templates.items():
        for peer in peers:
            if why_not:
                outcome = Outcome(skipped=why_not)
            else:
                outcome = outcome_of(peer, problem, measure, bench)
                print(f"{path.name}: {peer.variant}/{problem}: {outcome_text(outcome)}", flush=True)
            rows.append(peer_row(template, peer.variant, problem, measure, outcome))
            outcomes.append(outcome)
    versions = {package: version_of(package) for package in packages}
    # What was written meanwhile by another program stays.
    write_archive(path, merge(read_archive(path), variants, rows, versions))
    return outcomes


def make_bench(packages: Sequence[str]) -> Bench | str:
    """This machine's GPU, or why there is none to measure on."""
    reason = why_no_bench(packages)
    if reason:
        return reason
    import peer_gpu

    return peer_gpu.GpuBench()


def main(
    description: str, peers: Sequence[Peer], packages: Sequence[str], arguments: Sequence[str]
) -> int:
    """A peer program: 0 good, 1 a wrong answer or an error, 2 bad input."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("places", nargs="+", type=Path, metavar="ARCHIVE.json", help="or a folder")
    limits = ", ".join(f"{peer.max_pairs:g} for {peer.variant}" for peer in peers)
    parser.add_argument("--max-pairs", type=float, help=f"skip larger problems ({limits})")
    options = parser.parse_args(arguments)
    for peer in peers:
        peer.max_pairs = options.max_pairs or peer.max_pairs
    try:
        bench = make_bench(packages)
        outcomes: list[Outcome] = []
        for path in archives_of(options.places):
            outcomes += add_rows(path, peers, packages, bench)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0 if all(outcome.is_good for outcome in outcomes) else 1
