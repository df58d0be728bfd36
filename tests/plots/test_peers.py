"""The peers that are Python programs: their rows, inputs, rules, and what they do without a GPU.

No GPU is needed, and none is used where there is one. Where torch is not installed, a fake stands
for it where times are taken, and the tests of its numbers are skipped.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import archive as archives
import numpy as np
import pytest
import synthetic

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments" / "peers"))

import keops  # noqa: E402
import numpy_forms  # noqa: E402
import numpy_gaussian  # noqa: E402
import peer_check  # noqa: E402
import peer_host  # noqa: E402
import peer_inputs  # noqa: E402
import peer_points  # noqa: E402
import peer_program  # noqa: E402
import peer_rows  # noqa: E402
import torch_gaussian  # noqa: E402
import triton_gaussian  # noqa: E402

PROGRAMS = (keops, triton_gaussian, torch_gaussian, numpy_gaussian)
PROBLEM = {"m": 100, "n": 1000, "d": 3, "formula": "gaussian", "reduction": "sum"}
PROBLEM |= {"number": "float32", "seed": 7}


def technique_row(variant: str, median: float = 2.0, **params: Any) -> dict[str, Any]:
    """A row as the harness writes it, with a parameter that is the variant's alone."""
    return {
        "variant": variant,
        "role": "technique",
        "runs": "anywhere",
        "params": PROBLEM | {"block_threads": 192} | params,
        "verified": "passed",
        "time_ms": {
            "median": median,
            "min": 0.9 * median,
            "p10": 0.95 * median,
            "p90": 1.1 * median,
            "noise": 0.01,
            "samples": 20,
        },
        "clock": "gpu",
        "host_is_in_the_time": False,
        "cache": "warm",
        "launches": 1,
        "items_per_s": 1e5 / median * 1e3,
        "bytes_min": 17600,
        "gb_per_s": 1.76e-2 / median,
        "percent_of_peak": 1.0,
        "peak": "ex2",
        "counters": {"workspace_bytes": 0.0},
        "choices": {},
        "stop": "noise",
        "discarded_samples": 0,
        "sm_clock_mhz": {"median": 1980, "min": 1965},
    }


def open_row(variant: str, **params: Any) -> dict[str, Any]:
    """A row that `warpath run` leaves to a peer's program."""
    row = technique_row(variant, **params) | {"role": "peer", "runs": "elsewhere"}
    row |= dict.fromkeys(("time_ms", "items_per_s", "bytes_min", "gb_per_s", "percent_of_peak"))
    row |= {"verified": "not_verified", "counters": {}, "stop": None}
    row |= {"sm_clock_mhz": None}
    del row["peak"]
    return row | {"skipped": "a program has not measured it yet"}


def rows_at(*columns: int, variants: tuple[str, ...] = ("keops_1d", "keops_2d")) -> list[dict]:
    return [
        made
        for n in columns
        for made in (technique_row("gpu_1d", n=n), *(open_row(each, n=n) for each in variants))
    ]


def written(folder: Path, rows: list[dict[str, Any]] | None = None, **changes: Any) -> Path:
    """A small archive of map_reduce; where no rows are given, gpu_1d and KeOps at two problems."""
    backend = changes.pop("backend", "cuda")
    changes = {"technique": "map_reduce", "measure": {"cache": "warm", "min_samples": 6}} | changes
    rows = rows_at(1000, 2000) if rows is None else rows
    return synthetic.write(folder, synthetic.archive("sizes", rows, backend, **changes))


class StandIn:
    """Measures nothing: gives each variant the outcome that the test chose."""

    def __init__(self, **outcomes: peer_points.Outcome | Exception):
        self.outcomes = outcomes
        self.asked: list[tuple[str, peer_points.Problem, peer_points.Measure]] = []
        self.archive_is_of: str | None = None

    def why_not(self, provenance):
        if self.archive_is_of:
            raise peer_points.ForeignArchive(f"is of {self.archive_is_of}")
        return None

    def facts(self):
        return {"gpu_uuid": "GPU-0"}

    def measure(self, peer, problem, measure):
        self.asked.append((peer.variant, problem, measure))
        outcome = self.outcomes[peer.variant]
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


def timed(*samples_ms: float) -> peer_points.Outcome:
    return peer_points.Outcome(
        verified="passed",
        counters={"relative_error": 1e-7, "with_host_ms": 9.0},
        choices={"accuracy": "block"},
        samples_ms=list(samples_ms),
        sm_clocks_mhz=[1980, 1950, 1965],
        host_is_in_the_time=True,
        stop="noise",
    )


def fill(path: Path, bench: Any, program: Any = keops) -> list[peer_points.Outcome]:
    return peer_rows.fill_rows(path, program.peers(), program.PACKAGES, bench)


def rows_of(path: Path, variant: str) -> list[dict[str, Any]]:
    return [row for row in json.loads(path.read_text())["rows"] if row["variant"] == variant]


def problem(**changes: Any) -> peer_points.Problem:
    return peer_points.Problem(**PROBLEM | changes)


# ---------------------------------------------------------------- rows in an archive


def test_open_rows_are_filled_in_and_read(tmp_path):
    path = written(tmp_path)
    bench = StandIn(keops_1d=timed(4, 4, 5), keops_2d=timed(8, 8, 8))
    assert all(outcome.is_good for outcome in fill(path, bench))
    archive = archives.load(path)
    assert len(archive.rows) == 6
    first = archives.where(archive.rows, variant="keops_1d", n=1000)[0]
    assert (first.role, first.verified, first.clock, first.cache) == (
        "peer",
        "passed",
        "gpu",
        "warm",
    )
    assert (first.timing.median, first.timing.samples, first.stop) == (4, 3, "noise")
    assert first.skipped is None
    assert first.items_per_s == pytest.approx(100 * 1000 / 4e-3)
    # The bytes are those that the other variants of the problem have.
    assert first.gb_per_s == pytest.approx(17600 / 4e-3 * 1e-9)
    assert first.counters == {"relative_error": 1e-7, "with_host_ms": 9.0}
    assert first.choices == {"accuracy": "block"}
    (row, _) = rows_of(path, "keops_1d")
    assert row["host_is_in_the_time"] is True
    assert row["sm_clock_mhz"] == {"median": 1965, "min": 1950}


def test_a_run_that_is_cut_off_keeps_what_it_measured(tmp_path):
    path = written(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        fill(path, StandIn(keops_1d=timed(4.0), keops_2d=KeyboardInterrupt()))
    done = [row for row in rows_of(path, "keops_1d") if row["time_ms"]]
    assert [row["time_ms"]["median"] for row in done] == [4.0]
    assert json.loads(path.read_text())["provenance"]["peers"]["gpu_uuid"] == "GPU-0"


def test_rows_keep_their_places_and_parameters(tmp_path):
    path = written(tmp_path)
    before = json.loads(path.read_text())["rows"]
    fill(path, StandIn(keops_1d=timed(4.0), keops_2d=timed(8.0)))
    after = json.loads(path.read_text())["rows"]
    for key in ("variant", "params"):
        assert [row[key] for row in after] == [row[key] for row in before]
    assert [after[0], after[3]] == [before[0], before[3]]


def test_a_peer_on_the_host_has_no_cache_and_no_launches(tmp_path):
    path = written(tmp_path, rows_at(1000, variants=("numpy_tensorized", "numpy_gram")))
    fill(path, StandIn(numpy_tensorized=timed(9.0), numpy_gram=timed(8.0)), numpy_gaussian)
    (row,) = rows_of(path, "numpy_gram")
    assert (row["runs"], row["clock"]) == ("host", "host")
    assert (row["cache"], row["launches"]) == (None, None)


def test_a_peer_is_compared_with_gpu_1d_of_its_problem(tmp_path):
    path = written(tmp_path)
    fill(path, StandIn(keops_1d=timed(4.0), keops_2d=timed(8.0)))
    archive = archives.load(path)
    source = archives.where(archive.rows, variant="gpu_1d", n=2000)[0]
    assert archive.peer_of(source).variant == "keops_1d"
    assert archive.speedup_over_peer(source) == pytest.approx(2)


def test_an_archive_without_rows_of_the_peer_stays_as_it_is(tmp_path):
    path = written(tmp_path)
    before = path.read_bytes()
    assert fill(path, StandIn(), numpy_gaussian) == []
    assert path.read_bytes() == before


def test_points_of_one_problem_are_measured_once(tmp_path):
    path = written(tmp_path, [open_row("keops_1d", block_threads=b) for b in (64, 192)])
    bench = StandIn(keops_1d=timed(4.0))
    fill(path, bench)
    assert [variant for variant, _, _ in bench.asked] == ["keops_1d"]
    assert [row["time_ms"]["median"] for row in rows_of(path, "keops_1d")] == [4, 4]


def test_a_second_run_replaces_the_times(tmp_path):
    path = written(tmp_path)
    fill(path, StandIn(keops_1d=timed(4.0), keops_2d=RuntimeError("no luck")))
    fill(path, StandIn(keops_1d=timed(3.0), keops_2d=timed(8.0)))
    assert [row["time_ms"]["median"] for row in rows_of(path, "keops_1d")] == [3.0, 3.0]
    assert not any("error" in row for row in rows_of(path, "keops_2d"))


def test_another_peers_rows_and_versions_stay(tmp_path, monkeypatch):
    path = written(tmp_path, rows_at(1000, variants=("keops_1d", "keops_2d", "triton")))
    monkeypatch.setattr(peer_rows, "version_of", lambda package: f"{package} 1")
    fill(path, StandIn(keops_1d=timed(4.0), keops_2d=timed(8.0)))
    monkeypatch.setattr(peer_rows, "version_of", lambda package: f"{package} 2")
    fill(path, StandIn(triton=timed(1.0)), triton_gaussian)
    assert rows_of(path, "keops_1d")[0]["time_ms"]["median"] == 4
    peers = json.loads(path.read_text())["provenance"]["peers"]
    assert set(peers) == {*keops.PACKAGES, *triton_gaussian.PACKAGES, "gpu_uuid", "time"}
    assert [peers[name] for name in ("pykeops", "torch", "triton")] == [
        "pykeops 1",
        "torch 2",
        "triton 2",
    ]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", peers["time"])


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_peer_that_ran_has_its_versions(program, tmp_path):
    variants = tuple(peer.variant for peer in program.peers())
    path = written(tmp_path, rows_at(1000, variants=variants))
    fill(path, StandIn(**dict.fromkeys(variants, timed(1.0))), program)
    peers = json.loads(path.read_text())["provenance"]["peers"]
    assert all(isinstance(peers[package], str) for package in program.PACKAGES)
    assert peers["numpy"] == np.__version__


def test_a_peer_that_did_not_run_has_no_version(tmp_path):
    path = written(tmp_path)
    fill(path, "no GPU")
    fill(path, StandIn(keops_1d=RuntimeError("no"), keops_2d=RuntimeError("no")))
    assert "peers" not in json.loads(path.read_text())["provenance"]


def test_the_archives_own_rules_hold(tmp_path):
    path = written(tmp_path, measure={"cache": "warm", "launches": 20, "unknown": 1})
    bench = StandIn(keops_1d=timed(4.0), keops_2d=timed(8.0))
    fill(path, bench)
    assert bench.asked[0][2] == peer_points.Measure(cache="warm", launches=20)
    assert {row["launches"] for row in rows_of(path, "keops_1d")} == {20}


def test_without_rules_the_harness_defaults_hold():
    assert peer_rows.measure_of({}) == peer_points.Measure("cold", 15, 500, 0.02, 5, 0.75, 1)


def test_nothing_is_left_beside_the_archive(tmp_path):
    path = written(tmp_path)
    fill(path, StandIn(keops_1d=timed(4.0), keops_2d=timed(8.0)))
    assert list(tmp_path.iterdir()) == [path]


def hold(path: Path) -> int:
    """Takes the lock as `warpath` does."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.write(descriptor, b"process 17 since today\n")
    return descriptor


def test_a_folder_that_a_run_is_writing_to_is_left_alone(tmp_path):
    path = written(tmp_path)
    before = path.read_bytes()
    bench = StandIn(keops_1d=timed(4.0), keops_2d=timed(8.0))
    descriptor = hold(tmp_path / ".lock")
    with pytest.raises(peer_rows.InputError, match=r"another program.*process 17 since today"):
        fill(path, bench)
    assert bench.asked == []
    assert path.read_bytes() == before
    assert (tmp_path / ".lock").exists()
    os.close(descriptor)
    # What a killed program has left is no lock, and goes.
    fill(path, bench)
    assert rows_of(path, "keops_1d")[0]["time_ms"]["median"] == 4.0
    assert list(tmp_path.iterdir()) == [path]


def test_an_archive_is_read_and_written_under_the_lock(tmp_path, monkeypatch):
    path = written(tmp_path)
    read, write, free = peer_rows.read_archive, peer_rows.write_archive, []

    def watched(function):
        def it(*arguments):
            try:
                os.close(hold(tmp_path / ".lock"))
                free.append(function.__name__)
            except BlockingIOError:
                pass
            return function(*arguments)

        return it

    monkeypatch.setattr(peer_rows, "read_archive", watched(read))
    monkeypatch.setattr(peer_rows, "write_archive", watched(write))
    fill(path, StandIn(keops_1d=timed(4.0), keops_2d=timed(8.0)))
    assert free == ["read_archive"]  # the first look, before anything is measured


def test_the_lock_is_no_link_and_no_folder(tmp_path):
    path, precious = written(tmp_path / "runs"), tmp_path / "precious"
    precious.write_text("text")
    (path.parent / ".lock").symlink_to(precious)
    with pytest.raises(peer_rows.InputError, match="lock cannot be taken"):
        fill(path, "no GPU")
    assert precious.read_text() == "text"
    (path.parent / ".lock").unlink()
    os.mkfifo(path.parent / ".lock")
    with pytest.raises(peer_rows.InputError, match="no regular file"):
        fill(path, "no GPU")


def test_a_lock_that_its_holder_removed_is_taken_anew(tmp_path, monkeypatch):
    path = written(tmp_path)
    flock, calls = fcntl.flock, []

    def late(descriptor, how):
        if not calls:
            (tmp_path / ".lock").unlink()
        calls.append(how)
        flock(descriptor, how)

    monkeypatch.setattr(peer_rows.fcntl, "flock", late)
    with peer_rows.folder_lock(path.parent):
        assert len(calls) == 2
        with pytest.raises(BlockingIOError):
            flock(os.open(tmp_path / ".lock", os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_what_cannot_be_written_leaves_the_archive_as_it_was(tmp_path):
    path = written(tmp_path)
    before = path.read_bytes()
    with pytest.raises(ValueError):
        peer_rows.write_archive(path, {"rows": [float("nan")]})
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


# ---------------------------------------------------------------- inputs, the same as warpath's


def test_mt19937_64_is_the_standards():
    # [rand.predef]: the 10000th number of a default-constructed mt19937_64.
    assert peer_inputs.mt19937_64(5489, 10000)[-1] == 9981545732273789042


CPP_POINTS = """
#include "points.hpp"
#include <cstdio>
using namespace warpath::experiments::pairs;
template <class T> void write(std::int64_t m, std::int64_t n, std::int64_t d, std::int64_t e,
                              std::uint64_t seed, std::int64_t extent = 1,
                              std::int64_t averaged = 1) {
  auto x = uniform<T>(different_rows(m, n, d, e) * d, 4 * seed + 1, 0, extent, averaged);
  repeat(x, m * d);
  std::fwrite(x.data(), sizeof(T), x.size(), stdout);
  for (const auto& a :
       {uniform<T>(n * d, 4 * seed + 2, 0, extent, averaged),
        uniform<T>(n * e, 4 * seed + 3, -0.5)}) {
    std::fwrite(a.data(), sizeof(T), a.size(), stdout);
  }
}
int main() {
  write<float>(100, 1000, 3, 1, 7);
  write<double>(5, 700, 16, 1, 42);
  write<float>(900, 300000, 3, 16, 7);
  write<float>(100, 1000, 3, 1, 7, 100);
  write<float>(100, 1000, 3, 1, 7, 5, 12);
  write<float>(2000, 2000000, 1, 1, 0);
}
"""


def test_points_are_those_of_warpath_bit_by_bit(tmp_path):
    source, program = tmp_path / "points.cpp", tmp_path / "points"
    source.write_text(CPP_POINTS)
    folder = ROOT / "experiments" / "map_reduce"
    command = ["g++", "-std=c++20", "-O1", f"-I{folder}", str(source), "-o", str(program)]
    subprocess.run(command, check=True, capture_output=True)
    numbers = subprocess.run([program], check=True, capture_output=True).stdout
    problems = (
        problem(),
        problem(m=5, n=700, d=16, number="float64", seed=42),
        problem(m=900, n=300_000, e=16),
        problem(extent=100),
        problem(extent=5, averaged=12),
        problem(m=2000, n=2_000_000, d=1, seed=0),  # its rows repeat 1187 points
    )
    for each in problems:
        points = peer_inputs.make_points(each)
        made = b"".join(array.tobytes() for array in (points.x, points.y, points.b))
        assert made == numbers[: len(made)]
        numbers = numbers[len(made) :]
    assert numbers == b""
    assert peer_inputs.make_points(problems[-1]).different == 1187


# ---------------------------------------------------------------- wrong answers, errors, skips


def sums(**changes: Any) -> tuple[peer_inputs.Points, np.ndarray]:
    """Points, and the right sums of the different rows."""
    points = peer_inputs.make_points(problem(**changes))
    return points, peer_host.expected_sums(points)


def judged(error: float, **changes: Any) -> peer_points.Outcome:
    """Of results that are all off by that part of themselves."""
    points = peer_inputs.make_points(problem(**changes))
    expected = np.ones((points.different, 1))
    return peer_check.judge(points, points.repeated(expected) * (1 + error), expected)


def test_the_answer_is_the_sum():
    points, expected = sums(m=3, n=5)
    x, y, b = (array.astype(float) for array in (points.x, points.y, points.b))
    for i in range(3):
        terms = [np.exp(-sum((x[i] - y[j]) ** 2)) * b[j] for j in range(5)]
        assert expected[i, 0] == pytest.approx(sum(terms), rel=1e-14)


def test_blocks_of_the_answer_are_all_rows(monkeypatch):
    points, expected = sums()
    monkeypatch.setattr(peer_host, "BLOCK_PAIRS", 7000)  # 7 rows of 100
    assert peer_host.expected_sums(points) == pytest.approx(expected, rel=1e-14)


def test_every_row_is_checked():
    repeated = peer_inputs.make_points(problem(m=1500, n=2_000_000, d=1))
    assert repeated.different == 1187
    expected = np.ones((1187, 1))
    right = repeated.repeated(expected)
    assert peer_check.judge(repeated, right, expected).counters["checked_rows"] == 1500
    for row in (0, 1186, 1187, 1499):
        wrong = right.copy()
        wrong[row] += 1e-2
        outcome = peer_check.judge(repeated, wrong, expected)
        assert outcome.verified == "failed"
        assert f"result {row} is 1.01: expected 1;" in outcome.error


@pytest.mark.parametrize(
    ("error", "changes", "accuracy"),
    [
        (1.9e-6, {}, "block"),
        (2.1e-6, {}, "plain"),
        (4.9e-4, {}, "plain"),
        (5.1e-4, {}, None),
        (0.9e-13, {"number": "float64"}, "block"),
        (1.1e-13, {"number": "float64"}, None),
        (1.9e-6, {"reduction": "log_sum_exp"}, "block"),
        (0.9e-6, {"reduction": "argkmin"}, "block"),
        (1.1e-6, {"reduction": "argmin"}, None),
        (float("nan"), {}, None),
        (float("inf"), {}, None),
    ],
)
def test_what_is_right(error, changes, accuracy):
    outcome = judged(error, **changes)
    assert outcome.verified == ("failed" if accuracy is None else "passed")
    assert outcome.choices.get("accuracy") == accuracy
    assert outcome.is_good == (accuracy is not None)


def test_one_row_that_is_off_is_found_where_all_are_not():
    points, expected = sums(m=100_000, n=10)
    found = points.repeated(expected)
    found[77_777] += 1e-2 * max(abs(found[77_777]), np.sqrt(np.mean(expected**2)))
    assert peer_check.relative_error(found, points.repeated(expected)) < 5e-4
    outcome = peer_check.judge(points, found, expected)
    assert "result 77777 is" in outcome.error
    assert outcome.counters["worst_error"] == pytest.approx(1e-2)


def test_missing_results_are_wrong():
    points, expected = sums()
    outcome = peer_check.judge(points, expected[:-1], expected)
    assert (outcome.verified, outcome.counters) == ("failed", {})
    assert "(99, 1), expected (100, 1)" in outcome.error


def test_infinities_that_are_expected_are_right():
    found = np.array([[1.0, np.inf]])
    assert peer_check.relative_error(found, found) == 0
    assert peer_check.worst_error(found, found, "itself") == (0, 0)


def test_the_tolerances_are_those_of_our_rows():
    text = (ROOT / "experiments" / "map_reduce" / "pairs.cuh").read_text()
    ours = re.findall(r"\{([-\d.e]+), ([-\d.e]+), oracle::Scale::(\w+)\}", text)
    kinds = ({}, {"number": "float64"}, {"reduction": "log_sum_exp"}, {"reduction": "argmin"})
    theirs = [each for kind in kinds for each in peer_points.tolerances(problem(**kind)).values()]
    assert {peer_points.Tolerance(float(a), float(b), scale) for a, b, scale in ours} == set(theirs)


def test_a_wrong_answer_has_no_time(tmp_path):
    path = written(tmp_path)
    outcomes = fill(path, StandIn(keops_1d=judged(1e-3), keops_2d=timed(8.0)))
    assert not all(outcome.is_good for outcome in outcomes)
    row = archives.load(path).rows[1]
    assert (row.variant, row.verified, row.timing) == ("keops_1d", "failed", None)
    assert row.is_wrong
    assert "0.001" in row.error and "allowed 0.0005" in row.error
    assert row.counters["relative_error"] == pytest.approx(1e-3, rel=1e-3)
    assert row.items_per_s is None


def test_a_nan_leaves_a_valid_archive(tmp_path):
    path = written(tmp_path)
    wrong = judged(float("nan"))
    fill(path, StandIn(keops_1d=wrong, keops_2d=wrong))
    assert "relative_error" not in archives.load(path).rows[-1].counters


def test_an_exception_is_one_rows_error(tmp_path):
    path = written(tmp_path)
    fill(path, StandIn(keops_1d=RuntimeError("no luck"), keops_2d=timed(8.0)))
    rows = archives.load(path).rows
    assert [row.error for row in rows if row.variant == "keops_1d"] == ["RuntimeError: no luck"] * 2
    assert all(row.timing for row in rows if row.variant == "keops_2d")


def test_problems_too_large_are_skipped(tmp_path):
    rows = [open_row(each, m=10**6, n=10**6) for each in ("keops_1d", "keops_2d")]
    path = written(tmp_path, rows)
    bench = StandIn(keops_1d=timed(4.0))
    fill(path, bench)
    assert len(bench.asked) == 1
    skipped = archives.load(path).rows[-1]
    assert skipped.variant == "keops_2d"
    assert skipped.skipped == "1e+12 pairs: more than --max-pairs 2e+10"
    assert not skipped.is_wrong


@pytest.mark.parametrize(
    ("changes", "reason_1d", "reason_2d"),
    [
        ({}, None, None),
        ({"formula": "cauchy"}, "no formula", "no formula"),
        ({"reduction": "median"}, "no reduction", "no reduction"),
        ({"reduction": "argkmin"}, None, "no sums"),
        ({"reduction": "argmin", "n": 10**8}, "no indices", "no sums"),
        ({"reduction": "argmin", "n": 10**8, "number": "float64"}, None, "no sums"),
        ({"n": 65535 * 192}, None, None),
        ({"n": 65535 * 192 + 1}, None, "65535 tiles"),
    ],
)
def test_what_keops_does_not_do(changes, reason_1d, reason_2d):
    for peer, reason in zip(keops.peers(), (reason_1d, reason_2d), strict=True):
        found = peer.cannot(problem(**changes))
        assert (found is None) if reason is None else (reason in found)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"d": 16}, None),
        ({"d": 17}, "dimensions"),
        ({"d": 64}, None),
        ({"d": 128}, None),
        ({"formula": "laplacian"}, "float32 only"),
        ({"reduction": "log_sum_exp"}, "float32 only"),
        ({"number": "float64"}, "float32 only"),
    ],
)
def test_what_the_triton_kernel_does_not_do(changes, reason):
    found = triton_gaussian.TritonGaussian().cannot(problem(**changes))
    assert (found is None) if reason is None else (reason in found)


def gaussian_peers(program):
    """Those of a program that do Gaussian sums."""
    return [each for each in program.peers() if isinstance(each, peer_points.GaussianPeer)]


@pytest.mark.parametrize("program", [torch_gaussian, numpy_gaussian])
def test_what_tensorized_code_does_not_do(program):
    for peer in gaussian_peers(program):
        assert peer.cannot(problem(m=10**5, n=10**5, d=64)) is None
        for changes in ({"formula": "laplacian"}, {"number": "float64"}):
            assert "gaussian in float32 only" in peer.cannot(problem(**changes))


@pytest.mark.parametrize(
    ("program", "clock", "forms"),
    [
        (numpy_gaussian, "host", ["numpy_tensorized", "numpy_gram"]),
        (torch_gaussian, "gpu", ["torch_tensorized", "torch_cdist", "torch_gram"]),
    ],
)
def test_forms_of_one_formula_are_peers_alike(program, clock, forms):
    peers = gaussian_peers(program)
    assert [peer.variant for peer in peers] == forms
    for peer in peers:
        assert (peer.clock, peer.waits_for_gpu, peer.max_pairs) == (clock, False, 1e12)


@pytest.mark.parametrize("form", ["tensorized", "gram"])
def test_numpys_peers_call_their_forms(monkeypatch, form):
    points, calls = sums()[0], []
    monkeypatch.setattr(numpy_forms, form, lambda *arguments: calls.append(arguments))
    monkeypatch.setattr(numpy_forms, f"rows_of_{form}", lambda inputs: 7)
    (peer,) = (each for each in numpy_gaussian.peers() if each.variant == f"numpy_{form}")
    prepared = peer.prepare(points.problem, points)
    assert calls == [] and prepared.choices == {"rows_at_a_time": "7"}
    prepared.call()
    (x, y, b, rows) = calls[0]
    assert x is points.x and y is points.y and b is points.b and rows == 7


@pytest.mark.parametrize(("form", "rows"), [("tensorized", 40), ("cdist", 20), ("gram", 20)])
def test_torchs_peers_call_their_forms(monkeypatch, form, rows):
    from unittest.mock import MagicMock

    fake, forms, made = FakeGpu(monkeypatch), MagicMock(), []
    times_us = {10: 30, 20: 10, 40: 20}

    def run(x, y, b, rows):
        made.append((x, y, b, rows))
        fake.enqueue(1, times_us[rows])

    setattr(forms, form, run)
    forms.rows_that_fit = lambda m, bytes_a_row, free: {(100, 24_000, 9): 40}[
        m, bytes_a_row, free
    ]
    forms.rows_to_try = lambda m, n, free: {(100, 1000, 9): [10, 20, 40]}[m, n, free]
    fake.torch.cuda.mem_get_info = lambda: (9, 10)
    fake.torch.cuda.OutOfMemoryError = MemoryError
    monkeypatch.setitem(sys.modules, "torch_forms", forms)
    monkeypatch.setitem(sys.modules, "peer_gpu", fake.module)
    (peer,) = (each for each in torch_gaussian.peers() if each.variant == f"torch_{form}")
    inputs = MagicMock()
    prepared = peer.prepare(problem(), inputs)
    assert prepared.choices == {"rows_at_a_time": str(rows)}
    made.clear()
    prepared.call()
    assert made == [(inputs.x, inputs.y, inputs.b, rows)]


def several_nearest(**changes):
    return problem(**{"formula": "squared_distance", "reduction": "argkmin", **changes})


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"reduction": "argkmin_100", "d": 64}, None),
        ({"reduction": "argmin"}, "several nearest columns"),
        ({"formula": "gaussian", "reduction": "sum"}, "several nearest columns"),
        ({"number": "float64"}, "float32 only"),
    ],
)
def test_what_topk_does_not_do(changes, reason):
    found = torch_gaussian.KNearest().cannot(several_nearest(**changes))
    assert (found is None) if reason is None else (reason in found)


def test_topk_takes_the_fastest_number_of_rows(monkeypatch):
    from unittest.mock import MagicMock

    fake, forms, made = FakeGpu(monkeypatch), MagicMock(), []
    times_us = {10: 30, 20: 10, 40: 20}

    def run(x, y, k, rows):
        made.append((x, y, k, rows))
        fake.enqueue(1, times_us[rows])

    forms.k_nearest = run
    forms.rows_to_try = lambda m, n, free: [10, 20, 40]
    fake.torch.cuda.mem_get_info = lambda: (9, 10)
    fake.torch.cuda.OutOfMemoryError = MemoryError
    monkeypatch.setitem(sys.modules, "torch_forms", forms)
    monkeypatch.setitem(sys.modules, "peer_gpu", fake.module)
    inputs = MagicMock()
    prepared = torch_gaussian.KNearest().prepare(several_nearest(n=7), inputs)
    assert prepared.choices == {"rows_at_a_time": "20"}
    made.clear()
    prepared.call()
    assert made == [(inputs.x, inputs.y, 7, 20)]


def test_a_product_of_floats_need_not_tell_near_columns_apart():
    allowed = peer_points.tolerances(several_nearest())
    assert list(allowed) == ["block", "plain"]
    assert allowed["plain"].each > allowed["block"].each


# ---------------------------------------------------------------- Triton's shapes


@pytest.mark.parametrize(
    ("d", "kernels"),
    [(3, {False}), (10, {False}), (16, {False, True}), (64, {True}), (128, {True})],
)
def test_both_kernels_are_tried_where_both_can(d, kernels):
    shapes = triton_gaussian.shapes_of(problem(m=10**5, n=10**5, d=d))
    assert {shape.by_products for shape in shapes} == kernels
    assert len(set(shapes)) == len(shapes)


@pytest.mark.parametrize("d", [3, 16, 64, 128])
def test_no_part_adds_up_more_tiles_than_floats_bear(d):
    large = problem(m=10**6, n=10**6, d=d)
    for shape in triton_gaussian.shapes_of(large):
        _, columns = triton_gaussian.split_columns_of(large, shape, 132)
        assert columns <= 256 * shape.block_n


@pytest.mark.parametrize("d", [1, 3, 10, 16, 64, 128])
@pytest.mark.parametrize("m", [1, 2, 5, 16, 100, 10**6])
@pytest.mark.parametrize("n", [1, 127, 10**4, 10**9])
def test_parts_of_the_columns_are_all_of_them(m, n, d):
    given = problem(m=m, n=n, d=d)
    shapes = triton_gaussian.shapes_of(given)
    assert shapes
    for shape in shapes:
        splits, columns = triton_gaussian.split_columns_of(given, shape, 132)
        assert (splits - 1) * columns < n <= splits * columns
        assert splits <= 65535


# ---------------------------------------------------------------- NumPy's forms, for real


@pytest.mark.parametrize("form", [numpy_forms.tensorized, numpy_forms.gram])
@pytest.mark.parametrize("rows", [1, 7, 100, 1000])
def test_numpys_forms_are_right_by_any_number_of_rows(form, rows):
    points, expected = sums()
    found = form(points.x, points.y, points.b, rows)
    assert found.dtype == np.float32
    outcome = peer_check.judge(points, found.reshape(-1, 1), expected)
    assert outcome.choices == {"accuracy": "block"}


def test_memory_says_how_many_rows_fit(monkeypatch):
    points, _ = sums()
    monkeypatch.setattr(numpy_forms, "free_bytes", lambda: 2 * 8 * 3 * 1000 * 40)
    assert numpy_forms.rows_of_tensorized(points) == 40
    monkeypatch.setattr(numpy_forms, "free_bytes", lambda: 10**12)
    assert numpy_forms.rows_of_tensorized(points) == 100


def test_numpy_is_measured_in_an_emulated_archive(tmp_path, capsys):
    bench = peer_host.HostBench()
    rows = rows_at(300, variants=("numpy_tensorized", "numpy_gram"))
    content = synthetic.archive("sizes", rows, "emulated", technique="map_reduce")
    content["measure"] = {"max_samples": 7, "max_noise": 0}
    content["provenance"]["host"] = {"cpu": peer_host.cpu_name(), "cores": peer_host.os.cpu_count()}
    path = synthetic.write(tmp_path, content)
    assert all(outcome.is_good for outcome in fill(path, bench, numpy_gaussian))
    for row in rows_of(path, "numpy_tensorized") + rows_of(path, "numpy_gram"):
        assert (row["verified"], row["stop"], row["time_ms"]["samples"]) == ("passed", "samples", 7)
        assert row["counters"]["cores_available"] == peer_host.cores()
        assert "cpu_threads" not in row["counters"]
        assert int(row["choices"]["rows_at_a_time"]) >= 1
    assert json.loads(path.read_text())["provenance"]["peers"]["numpy"] == np.__version__


class Slow:
    """A peer on the host, by a false clock: a second for 1000 x 1000 pairs in three dimensions."""

    variant, clock, waits_for_gpu, max_pairs = "slow", "host", False, 1e12

    def __init__(self, monkeypatch):
        self.seconds = 0.0
        self.calls = []
        monkeypatch.setattr(peer_host.time, "perf_counter", lambda: self.seconds)

    def prepare(self, given, points):
        def call():
            self.calls.append(given.m)
            self.seconds += given.pairs * given.d / 3e6
            return peer_host.expected_sums(points)

        return peer_points.Prepared(call)


@pytest.mark.parametrize(("thousands", "samples"), [(15, 2), (11, 2), (5, 4), (3, 6)])
def test_a_long_calls_first_one_is_a_sample(monkeypatch, thousands, samples):
    slow = Slow(monkeypatch)
    measure = peer_points.Measure(max_seconds=2, min_samples=9, max_noise=0)
    given = problem(m=1000 * thousands, n=1000)
    outcome = peer_host.HostBench().measure(slow, given, measure)
    assert outcome.samples_ms == [1000.0 * thousands] * samples
    assert outcome.host_is_in_the_time
    # The small one, for the expected time, is called twice.
    assert slow.calls == [1000, 1000] + [1000 * thousands] * samples


def test_a_short_call_has_as_many_samples_as_a_host_variant(monkeypatch):
    slow = Slow(monkeypatch)
    measure = peer_points.Measure(max_seconds=20, min_samples=9, max_noise=1)
    outcome = peer_host.HostBench().measure(slow, problem(m=1000, n=1000), measure)
    assert (outcome.samples_ms, outcome.stop) == ([1000.0] * 6, "noise")
    assert slow.calls == [1000] * (2 + 1 + 6)


def test_a_call_beyond_the_limit_is_not_made(monkeypatch):
    slow = Slow(monkeypatch)
    outcome = peer_host.HostBench().measure(slow, problem(m=16000, n=1000), peer_points.Measure())
    assert outcome.skipped == "16 s a call are expected, and at most 15 are spent on one"
    assert slow.calls == [1000, 1000]


def test_the_expected_time_is_of_as_many_dimensions(monkeypatch):
    slow, bench = Slow(monkeypatch), peer_host.HostBench()
    measure = peer_points.Measure(max_seconds=1)
    assert bench.measure(slow, problem(m=1000, n=1000, d=3), measure).samples_ms
    del slow.calls[:]
    outcome = bench.measure(slow, problem(m=2000, n=1000, d=30), measure)
    assert outcome.skipped.startswith("20 s a call are expected")
    assert slow.calls == [1000, 1000]


# ---------------------------------------------------------------- PyTorch's part, where it is


@pytest.mark.parametrize("form", ["tensorized", "cdist", "gram"])
def test_torchs_forms_are_right_by_any_number_of_rows(form):
    pytest.importorskip("torch")
    import peer_gpu
    import torch_forms

    points, expected = sums()
    inputs = peer_gpu.make_inputs(points, "cpu")
    for rows in (1, 7, 100):
        result = getattr(torch_forms, form)(inputs.x, inputs.y, inputs.b, rows)
        found = peer_gpu.found_results(points.problem, result, inputs)
        assert peer_check.judge(points, found, expected).choices == {"accuracy": "block"}
    peer_gpu.poison(result)
    found = peer_gpu.found_results(points.problem, result, inputs)
    assert peer_check.judge(points, found, expected).verified == "failed"


def test_torchs_answer_is_numpys(monkeypatch):
    pytest.importorskip("torch")
    import peer_gpu

    points, expected = sums()
    for pairs in (2**25, 300):  # in one piece, and in pieces of rows and columns
        monkeypatch.setattr(peer_gpu, "CHUNK_PAIRS", pairs)
        assert peer_gpu.expected_results(points, "cpu") == pytest.approx(expected, rel=1e-12)


def test_indices_are_judged_by_their_distances():
    torch = pytest.importorskip("torch")
    import peer_gpu

    points = peer_inputs.make_points(problem(formula="squared_distance", reduction="argkmin"))
    inputs = peer_gpu.make_inputs(points, "cpu")
    expected = peer_gpu.expected_results(points, "cpu")
    indices = torch.cdist(inputs.x, inputs.y).topk(10, 1, largest=False).indices

    def verified() -> str:
        found = peer_gpu.found_results(points.problem, indices, inputs)
        return peer_check.judge(points, found, expected).verified

    assert verified() == "passed"
    for wrong in (-1, 1000, int(indices[3, 5])):
        indices[3, 4] = wrong
        assert verified() == "failed"


def test_chunks_of_rows_are_what_memory_and_cache_hold():
    pytest.importorskip("torch")
    import torch_forms

    assert torch_forms.rows_that_fit(20_000, 24 * 20_000, 140 * 10**9) == 20_000
    assert torch_forms.rows_that_fit(100_000, 24 * 100_000, 140 * 10**9) == 29_166
    assert torch_forms.rows_to_try(1000, 1000, 140 * 10**9) == [1000]
    assert torch_forms.rows_to_try(10**5, 10**5, 140 * 10**9) == [41, 83, 335, 2684, 10**5]


# ---------------------------------------------------------------- whose time a row has


class FakeGpu:
    """A host and a GPU that takes its work in order, in microseconds; nothing else of torch."""

    def __init__(self, monkeypatch):
        from unittest.mock import MagicMock

        self.host = self.gpu = 0.0
        torch = MagicMock()
        torch.cuda.Event = lambda enable_timing: Event(self)
        torch.cuda.synchronize = self.synchronize
        torch.cuda._sleep = lambda cycles: self.enqueue(1, cycles)  # a cycle a microsecond
        monkeypatch.setitem(sys.modules, "torch", torch)
        monkeypatch.delitem(sys.modules, "peer_gpu", raising=False)
        import peer_gpu

        monkeypatch.setattr(peer_gpu.time, "perf_counter", lambda: 1e-6 * self.host)
        self.module, self.torch = peer_gpu, torch
        monkeypatch.delitem(sys.modules, "peer_gpu")  # the next test gets its own

    def enqueue(self, host_us: float, gpu_us: float) -> None:
        self.host += host_us
        self.gpu = max(self.gpu, self.host) + gpu_us

    def synchronize(self) -> None:
        self.host = max(self.host, self.gpu)

    def call(self, host_us: float, gpu_us: float, waits: bool):
        def it() -> None:
            self.enqueue(host_us, gpu_us)
            if waits:
                self.synchronize()

        return it

    def stopwatch(self, launches: int = 1, waits: bool = False):
        return self.module.Stopwatch(1, None, launches, waits)


class Event:
    def __init__(self, gpu: FakeGpu):
        self.of, self.at = gpu, 0.0

    def record(self) -> None:
        self.of.enqueue(0, 0)
        self.at = self.of.gpu

    def synchronize(self) -> None:
        self.of.synchronize()

    def elapsed_time(self, end: "Event") -> float:
        return 1e-3 * (end.at - self.at)


@pytest.mark.parametrize(
    ("spin_cycles", "gpu_ms", "enqueue_us"),
    [(0, 0.100, 90), (200, 0.030, 91), (50, 0.050, 91)],
)
def test_two_events_have_the_calls_between_them(monkeypatch, spin_cycles, gpu_ms, enqueue_us):
    fake = FakeGpu(monkeypatch)
    events, call = fake.module.EventPair(), fake.call(30, 10, waits=False)
    for _ in range(2):
        found = events.around(call, 3, spin_cycles)
        assert found == (pytest.approx(gpu_ms), pytest.approx(enqueue_us))


def test_the_spin_is_timed_between_two_events(monkeypatch):
    assert FakeGpu(monkeypatch).module.cycles_per_microsecond() == pytest.approx(1, rel=1e-5)


@pytest.mark.parametrize("launches", [1, 20])
@pytest.mark.parametrize("host_us", [1, 30, 300])
def test_a_call_that_does_not_wait_is_timed_without_the_host(monkeypatch, launches, host_us):
    fake = FakeGpu(monkeypatch)
    stopwatch, call = fake.stopwatch(launches), fake.call(host_us, 10, waits=False)
    for _ in range(3):
        assert stopwatch.sample_ms(call) == pytest.approx(0.010)
    assert not stopwatch.has_host
    assert stopwatch.with_host_ms(call) == pytest.approx((host_us + 10) / 1000)


def test_a_call_that_waits_has_the_host_in_its_time(monkeypatch):
    fake = FakeGpu(monkeypatch)
    for launches in (1, 20):
        stopwatch, call = fake.stopwatch(launches, waits=True), fake.call(100, 10, waits=True)
        for _ in range(3):
            assert stopwatch.sample_ms(call) == pytest.approx(0.110)
        assert stopwatch.has_host
        assert stopwatch.with_host_ms(call) == pytest.approx(0.110)


@pytest.mark.parametrize("uuid", ["1-2", "GPU-1-2"])
def test_clocks_are_those_of_torchs_gpu(monkeypatch, uuid):
    from unittest.mock import MagicMock

    fake, nvml = FakeGpu(monkeypatch), MagicMock()
    fake.torch.cuda.get_device_properties.return_value.uuid = uuid
    handles = {"GPU-1-2": "handle"}
    nvml.nvmlDeviceGetHandleByUUID = handles.__getitem__
    nvml.nvmlDeviceGetMaxClockInfo = lambda handle, kind: {"handle": 1980}[handle]
    nvml.nvmlDeviceGetClockInfo = lambda handle, kind: {"handle": 1700}[handle]
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    clocks = fake.module.Clocks()
    assert (clocks.highest, clocks.now()) == (1980, 1700)


def test_a_host_slower_than_the_longest_spin_is_in_the_time(monkeypatch):
    fake = FakeGpu(monkeypatch)
    stopwatch, call = fake.stopwatch(), fake.call(3000, 10, waits=False)
    stopwatch.sample_ms(call)
    assert stopwatch.has_host


def test_both_times_are_in_the_row(monkeypatch):
    fake = FakeGpu(monkeypatch)
    monkeypatch.setattr(fake.module, "device_only_ms", lambda call, calls: 0.010)
    bench = object.__new__(fake.module.GpuBench)
    for waits in (False, True):
        stopwatch, call = fake.stopwatch(1, waits), fake.call(100, 10, waits)
        stopwatch.sample_ms(call)
        outcome = peer_points.Outcome()
        bench._tell_the_host_apart(call, stopwatch, outcome)
        assert outcome.host_is_in_the_time == waits
        assert outcome.counters.pop("with_host_ms") == pytest.approx(0.110)
        assert outcome.counters == ({"device_only_ms": 0.010} if waits else {})


def test_the_device_alone_is_what_the_profiler_adds_up(monkeypatch):
    fake = FakeGpu(monkeypatch)
    on_gpu = fake.torch.autograd.DeviceType.CUDA
    profile = fake.torch.profiler.profile.return_value.__enter__.return_value
    made = []
    for device, microseconds in ((on_gpu, 30.0), ("cpu", 500.0), (on_gpu, 10.0)):
        event = type("Event", (), {"device_type": device})()
        event.time_range = type("Range", (), {"elapsed_us": lambda self, us=microseconds: us})()
        made.append(event)
    profile.events.return_value = made
    calls = []
    assert fake.module.device_only_ms(lambda: calls.append(1), 4) == pytest.approx(0.010)
    assert len(calls) == 4
    fake.torch.profiler.profile.side_effect = RuntimeError("no profiler")
    assert fake.module.device_only_ms(lambda: None, 4) is None


def test_the_fastest_of_those_that_fit_is_taken(monkeypatch):
    fake = FakeGpu(monkeypatch)

    def too_large() -> None:
        raise MemoryError

    calls = [(too_large, "too large")]
    calls += [(fake.call(1, us, False), f"{us} us") for us in (30, 10, 20)]
    assert fake.module.fastest(calls, (MemoryError,)) == "10 us"
    with pytest.raises(RuntimeError, match="no shape"):
        fake.module.fastest(calls[:1], (MemoryError,))


# ---------------------------------------------------------------- nothing to measure on


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_missing_package_is_said(program, tmp_path, monkeypatch, capsys):
    variants = tuple(peer.variant for peer in program.peers())
    path = written(tmp_path, rows_at(1000, 2000, variants=variants))
    monkeypatch.setattr(peer_program.importlib.util, "find_spec", lambda name: None)
    code = peer_program.main("test", program.peers(), program.PACKAGES, [str(tmp_path)])
    assert code == 0
    reason = f"{program.PACKAGES[0]} is not installed"
    assert reason in capsys.readouterr().out
    rows = [row for row in archives.load(path).rows if row.variant in variants]
    assert len(rows) == 2 * len(variants)
    assert {row.skipped for row in rows} == {reason}
    assert {row.verified for row in rows} == {"not_verified"}
    assert not any(row.timing or row.is_wrong for row in rows)


def test_where_a_peer_cannot_run_what_was_measured_stays(tmp_path, capsys):
    path = written(tmp_path)
    fill(path, StandIn(keops_1d=timed(4.0), keops_2d=RuntimeError("no luck")))
    before = json.loads(path.read_text())
    capsys.readouterr()
    assert [outcome.skipped for outcome in fill(path, "no GPU")] == ["no GPU"] * 2
    assert rows_of(path, "keops_1d") == [r for r in before["rows"] if r["variant"] == "keops_1d"]
    assert [row["skipped"] for row in rows_of(path, "keops_2d")] == ["no GPU"] * 2
    assert json.loads(path.read_text())["provenance"] == before["provenance"]
    assert capsys.readouterr().out.endswith("no GPU; measured rows kept: 2\n")


def test_the_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(
        peer_program.importlib.util,
        "find_spec",
        lambda name: None if name == "pykeops" else "there",
    )
    assert peer_program.missing_package(keops.PACKAGES) == "pykeops is not installed"
    assert peer_program.missing_package(triton_gaussian.PACKAGES) is None


def test_an_archive_of_another_gpu_is_refused_and_the_others_go_on(tmp_path, monkeypatch, capsys):
    fake = FakeGpu(monkeypatch)
    bench = object.__new__(fake.module.GpuBench)
    monkeypatch.setattr(fake.module, "gpu_uuid", lambda: "GPU-0")
    monkeypatch.setattr(bench, "measure", lambda *_: timed(4.0), raising=False)
    fake.torch.cuda.get_device_name = lambda index: synthetic.GPU
    fake.torch.version.cuda = "13.0"
    monkeypatch.setattr(peer_program, "make_bench", lambda peers, packages: bench)
    ours, other = written(tmp_path / "ours"), written(tmp_path / "other")
    archive = json.loads(other.read_text())
    archive["provenance"]["device"]["uuid"] = "GPU-1"
    other.write_text(json.dumps(archive))
    before = other.read_bytes()
    arguments = [str(other), str(ours)]
    assert peer_program.main("test", keops.peers(), keops.PACKAGES, arguments) == 2
    refusal = capsys.readouterr().err
    assert str(other) in refusal and "GPU-1" in refusal and "GPU-0" in refusal
    assert other.read_bytes() == before
    assert rows_of(ours, "keops_1d")[0]["time_ms"]["median"] == 4
    assert json.loads(ours.read_text())["provenance"]["peers"]["gpu_uuid"] == "GPU-0"


@pytest.mark.parametrize(
    ("backend", "changes", "gpus", "refusal"),
    [
        ("emulated", {}, [], None),
        ("cuda", {}, ["GPU-0", "GPU-1"], None),
        ("cuda", {}, ["GPU-1"], "GPU GPU-0, and this machine's are: GPU-1"),
        ("cuda", {}, [], "this machine's are: none"),
        ("emulated", {"cores": 99}, [], "99 cores, and this one is"),
    ],
)
def test_times_of_the_host_stay_on_their_machine(monkeypatch, backend, changes, gpus, refusal):
    monkeypatch.setattr(peer_host, "gpu_uuids", lambda: gpus)
    provenance = synthetic.provenance(backend)
    cores = peer_host.os.cpu_count()
    provenance["host"] = {"cpu": peer_host.cpu_name(), "cores": cores} | changes
    bench = peer_host.HostBench()
    if refusal is None:
        assert bench.why_not(provenance) is None
    else:
        with pytest.raises(peer_points.ForeignArchive, match=refusal):
            bench.why_not(provenance)


def test_an_emulated_archive_gets_no_time_of_a_gpu(tmp_path, monkeypatch):
    bench = object.__new__(FakeGpu(monkeypatch).module.GpuBench)
    rows = [technique_row("gpu_1d") | {"time_ms": None}, open_row("keops_1d")]
    path = written(tmp_path, rows, backend="emulated")
    fill(path, bench)
    assert "times no kernel" in archives.load(path).rows[-1].skipped


def test_foreign_archives_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(peer_program.importlib.util, "find_spec", lambda name: None)
    path = synthetic.write(tmp_path, synthetic.passes())
    assert peer_program.main("test", keops.peers(), keops.PACKAGES, [str(path)]) == 2
    assert synthetic.TECHNIQUE in capsys.readouterr().err
    assert peer_program.main("test", keops.peers(), keops.PACKAGES, [str(tmp_path / "no")]) == 2
    # Of a folder, only the archives of map_reduce are taken.
    assert peer_program.main("test", keops.peers(), keops.PACKAGES, [str(tmp_path)]) == 0


def test_a_row_without_a_parameter_is_refused(tmp_path):
    row = open_row("keops_1d")
    del row["params"]["d"]
    with pytest.raises(peer_rows.InputError, match="keops_1d has no parameter d"):
        fill(written(tmp_path, [row]), StandIn())


def test_max_pairs_wins_over_the_variants_own(tmp_path, monkeypatch):
    path = written(tmp_path)
    bench = StandIn(keops_1d=timed(4.0), keops_2d=timed(8.0))
    monkeypatch.setattr(peer_program, "make_bench", lambda peers, packages: bench)
    arguments = [str(path), "--max-pairs", "1e5"]
    assert peer_program.main("test", keops.peers(), keops.PACKAGES, arguments) == 0
    assert [problem.n for _, problem, _ in bench.asked] == [1000, 1000]


def test_a_wrong_answer_makes_the_program_fail(tmp_path, monkeypatch, capsys):
    bench = StandIn(keops_1d=judged(1.0), keops_2d=timed(8.0))
    monkeypatch.setattr(peer_program, "make_bench", lambda peers, packages: bench)
    path = written(tmp_path)
    assert peer_program.main("test", keops.peers(), keops.PACKAGES, [str(path)]) == 1
    assert "FAILED: wrong answer" in capsys.readouterr().out


# ---------------------------------------------------------------- statistics


def test_a_summary():
    time = peer_points.summarize([5.0, 1.0, 2.0, 4.0, 3.0])
    assert (time["median"], time["min"], time["samples"]) == (3, 1, 5)
    assert (time["p10"], time["p90"]) == (pytest.approx(1.4), pytest.approx(4.6))
    assert time["noise"] == 1  # less than 6 samples
    assert peer_points.summarize([7.0])["p90"] == 7


def test_noise_is_between_order_statistics():
    # n = 16: ranks 8 -+ 3.92, so the 5th and the 13th sample (from 0: 4 and 12).
    samples = [float(k) for k in range(100, 116)]
    assert peer_points.median_noise(samples) == pytest.approx((112 - 104) / 2 / 107.5)
    assert peer_points.median_noise([*samples[:-1], 1e9]) == peer_points.median_noise(samples)
    assert peer_points.median_noise([2.0] * 6) == 0


@pytest.mark.parametrize(
    ("samples", "seconds", "reason"),
    [
        ([1.0] * 14, 0.1, None),
        ([1.0] * 15, 0.1, "noise"),
        ([1.0, 2.0] * 10, 0.1, None),
        ([1.0, 2.0] * 15, 0.1, "samples"),
        ([1.0, 2.0] * 10, 5.0, "time"),
        ([1.0] * 5, 49.0, None),
        ([1.0] * 5, 50.0, "time"),
        ([1.0] * 6, 5.0, "time"),
        ([], 50.0, "time"),
        ([1.0] * 30, 9.0, "noise"),
    ],
)
def test_when_to_stop(samples, seconds, reason):
    measure = peer_points.Measure(max_samples=30)
    assert peer_points.stop_reason(measure, samples, seconds) == reason
