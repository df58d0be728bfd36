"""Made-up archives for the tests: the shape of what `warpath run` writes, with invented numbers.

Nothing here is a measurement, and the device's name says so wherever it is drawn.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

GPU = "Synthetic GPU (not a measurement)"
TECHNIQUE = "sample"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
COPY_GB_PER_S = 4000.0
# Invented: share of the copy bandwidth at large n, and the fixed cost of a launch in ms.
SPEEDS = {"single_pass": (0.85, 0.006), "cub": (0.62, 0.010)}
SPEEDS |= {"two_pass_recount": (0.42, 0.016), "two_pass_copy": (0.30, 0.020), "std": (0.0004, 0)}
ROLES = {"cub": "peer", "std": "oracle"}
RUNS = {"cub": "gpu", "std": "host"}
OPERATIONS = ("select_if", "select_flagged", "unique", "unique_by_key", "remove_duplicates")
MEASURE = {"cache": "cold", "min_samples": 15, "max_samples": 500, "max_noise": 0.02}
MEASURE |= {"max_seconds": 5.0, "min_clock": 0.75, "launches": 1}
SIZES = [2**e for e in range(16, 29, 4)]


def provenance(backend: str = "cuda", device: str = GPU) -> dict[str, Any]:
    return {
        "git_commit": COMMIT,
        "git_dirty": False,
        "compiler": "synthetic 1.0",
        "flags": "-O3",
        "build_type": "Release",
        "cuda_version": "13.0" if backend == "cuda" else None,
        "driver": "000.00" if backend == "cuda" else None,
        "backend": backend,
        "device": {"name": device, "uuid": "GPU-0", "sm_count": 1, "count": 1},
        "host": {"cpu": "Synthetic CPU", "cores": 2},
        "time": "2000-01-02T03:04:05Z",
    }


def row(variant: str, backend: str = "cuda", **params: Any) -> dict[str, Any]:
    """A row as the harness writes it on that backend: timed, or correct only, or skipped."""
    point = {"operation": "select_if", "n": 2**20, "element_bytes": 4, "selectivity": 0.5}
    point |= {"element_alignment": 0, "offset": 0, "coalescing": "on", "seed": 42} | params
    runs = RUNS.get(variant, "anywhere")
    bytes_min = int(point["n"] * point["element_bytes"] * (1 + point["selectivity"]))
    share, launch = SPEEDS[variant]
    if point["coalescing"] == "off":
        share *= 0.96
    median = launch + bytes_min / (share * COPY_GB_PER_S * 1e6)
    made = {
        "variant": variant,
        "role": ROLES.get(variant, "technique"),
        "runs": runs,
        "params": point,
        "verified": "passed",
        "clock": "host" if runs == "host" else "gpu",
        "cache": None if runs == "host" else "cold",
        "launches": None if runs == "host" else 1,
        "bytes_min": bytes_min,
        "time_ms": None,
    }
    if backend == "emulated" and runs == "anywhere":
        return made | {"skipped": "emulated backend: correct, not timed"}
    if backend == "emulated" and runs == "gpu":
        return made | {"verified": "not_verified", "skipped": "needs a GPU"}
    time = {"median": median, "min": 0.97 * median, "p10": 0.98 * median, "p90": 1.06 * median}
    return made | {
        "time_ms": time | {"samples": 31},
        "items_per_s": point["n"] / median * 1e3,
        "gb_per_s": bytes_min / median / 1e6,
        "percent_of_peak": 100 * bytes_min / median / 1e6 / COPY_GB_PER_S,
        "stop": "noise",
        "discarded_samples": 0,
    }


def timed(made: dict[str, Any], median: float) -> dict[str, Any]:
    """The row with another median, and a spread around it, if it has a time."""
    if made["time_ms"]:
        spread = {"min": 0.9 * median, "median": median, "p10": 0.98 * median, "p90": 1.05 * median}
        made["time_ms"] |= spread
    return made


def links(**of_the_host: float) -> dict[str, Any]:
    """The links of two GPUs, of which only the first accesses the other's memory."""
    host = {"to_gpu_gb_per_s": 55.0, "from_gpu_gb_per_s": 54.0, "both_ways_gb_per_s": 40.0}
    rates = {"copy_gb_per_s": 380.0, "pull_gb_per_s": 340.0, "push_gb_per_s": 360.0}
    copies = {"copy_gb_per_s": 12.5, "pull_gb_per_s": None, "push_gb_per_s": None}
    return {
        "bytes": 2**28,
        "host": [{"gpu": 0} | host | of_the_host],
        "pairs": [
            {"from": 0, "to": 1, "one_way": rates | {"push_gb_per_s": 370.0}, "both_ways": rates},
            {"from": 1, "to": 0, "one_way": copies, "both_ways": copies},
        ],
        "all_to_all": [{"gpus": 2, "each_way": rates}],
    }


def archive(experiment: str, rows: list[dict], backend: str = "cuda", **changes: Any) -> dict:
    technique = changes.get("technique", TECHNIQUE)
    device = GPU if backend == "cuda" else "Emulated (Synthetic CPU)"
    return {
        "schema": 1,
        "technique": technique,
        "experiment": experiment,
        "title": f"Synthetic {experiment}",
        "source": "synthetic.txt, section of the tests",
        "figure": f"{technique}_{experiment}",
        "claim": f"the synthetic claim of {experiment}",
        "profile": "paper" if backend == "cuda" else "smoke",
        "command": f"warpath run configs/{technique}/{experiment}.json",
        "complete": True,
        "measure": MEASURE,
        "provenance": provenance(backend, device),
        "ceilings": {"copy_gb_per_s": COPY_GB_PER_S} if backend == "cuda" else {},
        "rows": rows,
        "verdicts": [],
    } | changes


def throughput(backend: str = "cuda") -> dict:
    variants = ("single_pass", "two_pass_recount", "two_pass_copy", "cub")
    rows = [
        row(variant, backend, operation=operation, n=n, selectivity=kept)
        for operation in OPERATIONS
        for variant in variants
        if not (variant == "cub" and operation == "remove_duplicates")
        for n in SIZES
        for kept in (0.0, 0.1, 0.5, 0.9, 1.0)
    ]
    rows += [row("std", backend, n=n, selectivity=0.5) for n in SIZES[:2]]
    verdict = {
        "kind": "aim",
        "where": {"n": SIZES[-1], "operation": "select_if", "selectivity": 0.5},
        "metric": "speedup_over",
        "baseline": {"variant": "cub"},
        "published": None,
        "at_least": 1.0,
        "measured": 1.37 if backend == "cuda" else None,
        "verdict": "MET" if backend == "cuda" else "NOT TESTABLE HERE",
        "missing": None if backend == "cuda" else "a GPU",
        "source": "the aim of the tests",
    }
    return archive("throughput", rows, backend, verdicts=[verdict])


def element_sizes(backend: str = "cuda") -> dict:
    rows = [
        row(variant, backend, n=2**28, element_bytes=size)
        for variant in ("single_pass", "two_pass_recount", "two_pass_copy", "cub")
        for size in (4, 8, 16)
    ]
    rows += [
        row(variant, backend, n=n, element_bytes=size, selectivity=kept)
        for variant in ("single_pass", "cub")
        for size in (8, 16)
        for n in SIZES[:-1]
        for kept in (0.0, 0.5, 1.0)
    ]
    return archive("element_sizes", rows, backend)


def coalescing(backend: str = "cuda") -> dict:
    rows = [
        row(variant, backend, operation=operation, n=n, selectivity=kept, coalescing=switch)
        for operation in ("select_if", "remove_duplicates")
        for variant in ("two_pass_recount", "two_pass_copy")
        for kept in (0.1, 0.5)
        for n in SIZES
        for switch in ("on", "off")
    ]
    verdict = {
        "kind": "claim",
        "where": {"n": SIZES[-1], "variant": "two_pass_copy"},
        "metric": "speedup_over",
        "baseline": {"coalescing": "off"},
        "published": 1.05,
        "measured": 1.01 if backend == "cuda" else None,
        "verdict": "DIFFERS" if backend == "cuda" else "NOT TESTABLE HERE",
        "missing": None if backend == "cuda" else "a GPU",
        "source": "synthetic.txt, line 1",
    }
    return archive("coalescing", rows, backend, verdicts=[verdict])


def passes(backend: str = "cuda") -> dict:
    rows = [
        row(variant, backend, n=n)
        for variant in ("single_pass", "two_pass_recount", "two_pass_copy", "cub")
        for n in SIZES
    ]
    return archive("passes", rows, backend)


def records(backend: str = "cuda") -> dict:
    kinds = [(size, alignment, 0) for size, alignment in ((1, 1), (12, 1), (12, 4), (20, 4))]
    rows = [
        row(
            variant,
            backend,
            n=megabytes * 10**6 // size,
            element_bytes=size,
            element_alignment=alignment,
            offset=offset,
            selectivity=kept,
        )
        for variant in ("single_pass", "cub")
        for megabytes in (12, 600)
        for size, alignment, offset in [*kinds, (4, 0, 1), (12, 4, 1)]
        for kept in (0.1, 0.5, 0.9)
    ]
    return archive("records", rows, backend)


EVERY = {
    "throughput": throughput,
    "element_sizes": element_sizes,
    "coalescing": coalescing,
    "passes": passes,
}


def write(folder: Path, content: dict) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{content['technique']}.{content['experiment']}.json"
    path.write_text(json.dumps(content))
    return path


def write_all(folder: Path, backend: str = "cuda") -> None:
    for make in EVERY.values():
        write(folder, make(backend))
