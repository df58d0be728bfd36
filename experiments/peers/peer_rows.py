"""Rows of peers that are Python programs, in the archives of map_reduce that `warpath run` wrote.

`warpath` measures what is linked into it. Peers that live in Python packages are measured here: for
each distinct problem of an archive's rows, by the archive's own rules, and written into that
archive as rows of the same schema. If a package or a GPU is missing, the rows
name the reason.

Modules, each importing only those before it: peer_points, then peer_rows and peer_gpu (the only one
that imports torch), then peer_program, then the programs (keops, triton_gaussian).
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path

from peer_points import Bench, Json, Measure, Outcome, Peer, Problem, summarize

TECHNIQUE = "map_reduce"


class InputError(Exception):
    """An archive that cannot be used; the message says which, and why."""


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
    # As in the harness's rows, these two keys are left out if they are empty.
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


# ---------------------------------------------------------------- measuring


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
