"""Rows of peers that are Python programs, in the archives of map_reduce that `warpath run` wrote.

`warpath` measures what is linked into it. Peers that live in Python packages are measured here. The
configurations say at which points; `warpath run` leaves these rows open ("... has not measured it
yet"), and the peer's program fills them in, by the archive's own rules and with the same inputs. If
a package or a GPU is missing, the rows say so. An archive of another GPU is refused.

nccl_ranks, which fills rows of another technique in, takes what is here of archives and rows.

Modules, each importing only those before it: peer_points; peer_inputs; peer_check; peer_rows,
peer_host and peer_gpu (the only one that imports torch); peer_program; then the programs (keops,
triton_gaussian, torch_gaussian, numpy_gaussian).
"""

from __future__ import annotations

import fcntl
import importlib.metadata
import json
import os
import stat
import statistics
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields
from datetime import UTC, datetime
from pathlib import Path

from peer_points import (
    Bench,
    Clock,
    ForeignArchive,
    Json,
    Measure,
    Outcome,
    Peer,
    Problem,
    summarize,
)

TECHNIQUE = "map_reduce"


LOCK_NAME = ".lock"
"""The same name as in experiments/harness/store.cpp."""


class InputError(Exception):
    """An archive that cannot be used; the message says which, and why."""


# ---------------------------------------------------------------- archives


def read_archive(path: Path, technique: str = TECHNIQUE) -> Json:
    """An archive of the technique. Raises InputError."""
    try:
        archive = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    if not isinstance(archive, dict) or not isinstance(archive.get("rows"), list):
        raise InputError(f"{path}: is no archive: it has no rows")
    if archive.get("technique") != technique:
        raise InputError(f"{path}: is an archive of {archive.get('technique')}, not {technique}")
    return archive


def write_archive(path: Path, archive: Json) -> None:
    """Writes beside the place and renames, so that the archive is never incomplete."""
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


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Holds the lock of a folder of results, which `warpath` takes to write there.

    The lock file is removed at the end. Raises InputError where another program has the lock, or
    where it cannot be taken.
    """
    path = folder / LOCK_NAME
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    while True:
        try:
            descriptor = os.open(path, flags, 0o644)
        except OSError as error:
            raise InputError(f"{path}: the lock cannot be taken: {error.strerror}") from error
        try:
            locked = os.fstat(descriptor)
            if not stat.S_ISREG(locked.st_mode):
                raise InputError(f"{path}: the lock cannot be taken: it is no regular file")
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                holder = os.pread(descriptor, 100, 0).decode(errors="replace").partition("\n")[0]
                raise InputError(
                    f"another program is writing to {folder} ({holder}): wait for its end"
                ) from error
            # The previous holder may have removed the file since it was opened.
            if not is_the_file(path, locked):
                continue
            try:
                now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
                os.ftruncate(descriptor, 0)
                os.write(descriptor, f"process {os.getpid()} since {now}\n".encode())
                yield
            finally:
                path.unlink(missing_ok=True)
            return
        finally:
            os.close(descriptor)


def is_the_file(path: Path, facts: os.stat_result) -> bool:
    """Whether the path still names the file that was opened."""
    try:
        return os.path.samestat(path.stat(), facts)
    except FileNotFoundError:
        return False


def archives_of(places: Iterable[Path], technique: str = TECHNIQUE) -> list[Path]:
    """The archives that the command line names: files, and folders of them."""
    found: list[Path] = []
    for place in places:
        found += sorted(place.glob(f"{technique}.*.json")) if place.is_dir() else [place]
    return list(dict.fromkeys(found))


def measure_of(archive: Json) -> Measure:
    """The archive's rules; the harness's defaults where it names none."""
    given = archive.get("measure") or {}
    known = {each.name: given[each.name] for each in fields(Measure) if each.name in given}
    return Measure(**known)


def problem_of(row: Json) -> Problem:
    """The problem of a row. Raises InputError."""
    params = row["params"]
    needed = [each.name for each in fields(Problem) if each.default is MISSING]
    missing = [name for name in needed if name not in params]
    if missing:
        raise InputError(f"a row of {row['variant']} has no parameter {', '.join(missing)}")
    names = [each.name for each in fields(Problem) if each.name in params]
    return Problem(**{name: params[name] for name in names})


def has_time(row: Json) -> bool:
    """Whether it was verified and timed."""
    return row.get("verified") == "passed" and row.get("time_ms") is not None


def bytes_of(rows: Iterable[Json]) -> dict[Problem, float]:
    """The bytes_min of each problem, from any row that has been measured."""
    return {problem_of(row): row["bytes_min"] for row in rows if row.get("bytes_min") is not None}


def filled_row(
    open_row: Json,
    clock: Clock,
    measure: Measure,
    outcome: Outcome,
    items: int,
    bytes_min: float | None,
) -> Json:
    """The row as the outcome fills it in; what does not apply is null, as in the harness's rows."""
    is_on_host = clock == "host"
    row = {key: value for key, value in open_row.items() if key not in ("skipped", "error")}
    row |= {
        "runs": clock,
        "verified": outcome.verified,
        "time_ms": None,
        "clock": clock,
        "host_is_in_the_time": outcome.host_is_in_the_time,
        "cache": None if is_on_host else measure.cache,
        "launches": None if is_on_host else measure.launches,
        "items_per_s": None,
        "bytes_min": bytes_min,
        "gb_per_s": None,
        "percent_of_peak": None,
        "counters": outcome.counters,
        "choices": outcome.choices,
        "stop": outcome.stop,
        "discarded_samples": outcome.discarded_samples,
        "sm_clock_mhz": clocks(outcome.sm_clocks_mhz),
    }
    if outcome.is_good and outcome.samples_ms:
        row |= speed(summarize(outcome.samples_ms), items, bytes_min)
    # As in the harness's rows, these two keys are left out if they are empty.
    row |= {"skipped": outcome.skipped} if outcome.skipped else {}
    row |= {"error": outcome.error} if outcome.error else {}
    return row


def clocks(mhz: Sequence[float]) -> Json | None:
    """The SM clock while the samples were taken; None if it is not known."""
    return {"median": round(statistics.median(mhz)), "min": round(min(mhz))} if mhz else None


def speed(time_ms: Json, items: int, bytes_min: float | None) -> Json:
    """The members of a row that follow from its time."""
    seconds = time_ms["median"] / 1000
    rates: Json = {"time_ms": time_ms}
    if seconds > 0:
        rates["items_per_s"] = items / seconds
        rates["gb_per_s"] = None if bytes_min is None else 1e-9 * bytes_min / seconds
    return rates


def version_of(package: str) -> str:
    """The version of a package that was imported: as installed, else as it says itself."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return str(getattr(sys.modules.get(package), "__version__", "unknown"))


def place_of(row: Json) -> str:
    """A text that differs for all rows of an archive."""
    return json.dumps([row["variant"], row["params"]], sort_keys=True)


def merge(archive: Json, rows: list[Json], facts: Json) -> Json:
    """The archive with these rows in the places of the same variants and parameters.

    `facts` are versions and the like, for its provenance; empty if nothing was measured.
    """
    filled = {place_of(row): row for row in rows}
    provenance = dict(archive.get("provenance") or {})
    if facts:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        provenance["peers"] = (provenance.get("peers") or {}) | facts | {"time": now}
    return archive | {
        "provenance": provenance,
        "rows": [filled.get(place_of(row), row) for row in archive["rows"]],
    }


# ---------------------------------------------------------------- measuring


def outcome_of(peer: Peer, problem: Problem, measure: Measure, bench: Bench) -> Outcome:
    """Skips what the peer cannot do, and measures the rest; an exception becomes the error."""
    reason = peer.cannot(problem)
    if reason is None and problem.pairs > peer.max_pairs:
        reason = f"{problem.pairs:.3g} pairs: more than --max-pairs {peer.max_pairs:.3g}"
    if reason:
        return Outcome(skipped=reason)
    try:
        return bench.measure(peer, problem, measure)
    except Exception as error:  # any exception of a package: the other points go on
        return Outcome(error=f"{type(error).__name__}: {error}")


def outcome_text(outcome: Outcome) -> str:
    """One line for the terminal."""
    if outcome.error:
        return f"FAILED: {outcome.error}"
    if outcome.skipped:
        return f"skipped: {outcome.skipped}"
    time = summarize(outcome.samples_ms)
    chosen = "".join(f", {name}: {value}" for name, value in outcome.choices.items())
    host = ", with the host" if outcome.host_is_in_the_time else ""
    return f"{time['median']:.6g} ms{host} ({time['samples']} samples, {outcome.stop}{chosen})"


def fill_rows(
    path: Path, peers: Sequence[Peer], packages: Sequence[str], bench: Bench | str
) -> list[Outcome]:
    """Measures the peers where an archive has rows of them, and writes what was found into these.

    Each row is written as soon as it is known, so that a killed run loses none, and under the lock
    of the archive's folder. `bench` is a text where nothing can be measured: the reason; rows that
    have a time keep it then. Returns the outcomes of what was not kept. Raises InputError.
    """
    archive = read_archive(path)
    measure = measure_of(archive)
    peer_of = {peer.variant: peer for peer in peers}
    bytes_min = bytes_of(archive["rows"])
    open_rows = [row for row in archive["rows"] if row["variant"] in peer_of]
    if not open_rows:
        return []
    try:
        provenance = archive.get("provenance") or {}
        why_not = bench if isinstance(bench, str) else bench.why_not(provenance)
    except ForeignArchive as error:
        raise InputError(f"{path}: {error}") from error
    if why_not:
        measured_before = [row for row in open_rows if has_time(row)]
        kept = f"; measured rows kept: {len(measured_before)}" if measured_before else ""
        print(f"{path.name}: {', '.join(peer_of)}: {why_not}{kept}", flush=True)
        open_rows = [row for row in open_rows if not has_time(row)]
    with folder_lock(path.parent):
        pass  # a lock that another program has is an error before anything is measured
    measured: dict[tuple[str, Problem], Outcome] = {}
    for row in open_rows:
        peer, problem = peer_of[row["variant"]], problem_of(row)
        place = peer.variant, problem
        if place not in measured:
            if why_not:
                measured[place] = Outcome(skipped=why_not)
            else:
                measured[place] = outcome_of(peer, problem, measure, bench)
                text = outcome_text(measured[place])
                print(f"{path.name}: {peer.variant}/{problem}: {text}", flush=True)
        filled = filled_row(
            row, peer.clock, measure, measured[place], problem.pairs, bytes_min.get(problem)
        )
        facts: Json = {}
        if measured[place].samples_ms:
            facts = {package: version_of(package) for package in packages} | bench.facts()
        # What was written meanwhile by another program stays.
        with folder_lock(path.parent):
            write_archive(path, merge(read_archive(path), [filled], facts))
    return list(measured.values())
