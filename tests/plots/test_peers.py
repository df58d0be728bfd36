"""The peers that are Python programs: their rows, their rules, and what they do without a GPU.

Neither torch nor a GPU is needed, and none is used where they are there.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import archive as archives
import pytest
import synthetic

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments" / "peers"))

import keops  # noqa: E402
import peer_points  # noqa: E402
import peer_program  # noqa: E402
import peer_rows  # noqa: E402
import triton_gaussian  # noqa: E402

PROBLEM = {"m": 100, "n": 1000, "d": 3, "formula": "gaussian", "reduction": "sum"}
PROBLEM |= {"number": "float32", "seed": 7}
VARIANTS = {"gpu_1d": "technique", "tuned_1d": "technique", "other": "peer"}


def technique_row(variant: str, median: float = 2.0, **params: Any) -> dict[str, Any]:
    """A row as the harness writes it, with a parameter that is the variant's alone."""
    block = 192 if variant == "gpu_1d" else 0
    return {
        "variant": variant,
        "role": VARIANTS[variant],
        "runs": "anywhere",
        "params": PROBLEM | {"block_threads": block} | params,
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
        "cache": "warm",
        "launches": 1,
        "items_per_s": 1e5 / median * 1e3,
        "bytes_min": 17600,
        "gb_per_s": 1.76e-2 / median,
        "percent_of_peak": 1.0,
        "peak": "ex2",
        "counters": {"workspace_bytes": 0.0},
        "stop": "noise",
        "discarded_samples": 0,
        "clocks_mhz": {"before": 1980, "after": 1980},
    }


def written(folder: Path, rows: list[dict[str, Any]] | None = None, **changes: Any) -> Path:
    """A small archive of map_reduce; where no rows are given, two variants of two problems."""
    if rows is None:
        rows = [technique_row(v, n=n) for n in (1000, 2000) for v in ("tuned_1d", "gpu_1d")]
    backend = changes.pop("backend", "cuda")
    changes = {"technique": "map_reduce", "measure": {"cache": "warm", "min_samples": 6}} | changes
    return synthetic.write(folder, synthetic.archive("sizes", rows, backend, **changes))


class StandIn:
    """Measures nothing: gives each variant the outcome that the test chose."""

    def __init__(self, **outcomes: peer_points.Outcome | Exception):
        self.outcomes = outcomes
        self.asked: list[tuple[str, peer_points.Problem, peer_points.Measure]] = []

    def device_name(self) -> str:
        return synthetic.GPU

    def measure(self, peer, problem, measure):
        self.asked.append((peer.variant, problem, measure))
        outcome = self.outcomes[peer.variant]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def timed(*samples_ms: float) -> peer_points.Outcome:
    return peer_points.Outcome(
        verified="passed", relative_error=1e-7, samples_ms=list(samples_ms), stop="noise"
    )


def add(path: Path, bench: Any, peers: list | None = None) -> list[peer_points.Outcome]:
    return peer_rows.add_rows(path, peers or keops.peers(), keops.PACKAGES, bench)


def rows_of(path: Path, variant: str) -> list[dict[str, Any]]:
    return [row for row in json.loads(path.read_text())["rows"] if row["variant"] == variant]


# ---------------------------------------------------------------- rows in an archive


def test_rows_are_merged_and_read(tmp_path):
    path = written(tmp_path)
    bench = StandIn(keops_1d=timed(4, 4, 5), keops_2d=timed(8, 8, 8))
    assert all(outcome.is_good for outcome in add(path, bench))
    archive = archives.load(path)
    assert len(archive.rows) == 4 + 2 * 2
    first = archives.where(archive.rows, variant="keops_1d", n=1000)[0]
    assert (first.role, first.verified, first.clock, first.cache) == (
        "peer",
        "passed",
        "gpu",
        "warm",
    )
    assert (first.timing.median, first.timing.samples, first.stop) == (4, 3, "noise")
    assert first.items_per_s == pytest.approx(100 * 1000 / 4e-3)
    assert first.gb_per_s == pytest.approx(17600 / 4e-3 * 1e-9)
    assert first.counters == {"relative_error": 1e-7}


def test_a_row_has_the_keys_of_the_others(tmp_path):
    path = written(tmp_path)
    add(path, StandIn(keops_1d=timed(4.0), keops_2d=timed(8.0)))
    rows = json.loads(path.read_text())["rows"]
    assert len({tuple(sorted(row)) for row in rows}) == 1
    assert rows_of(path, "keops_1d")[0]["percent_of_peak"] is None


def test_a_peer_is_compared_with_gpu_1d_of_its_problem(tmp_path):
    path = written(tmp_path)
    add(path, StandIn(keops_1d=timed(4.0), keops_2d=timed(8.0)))
    archive = archives.load(path)
    source = archives.where(archive.rows, variant="gpu_1d", n=2000)[0]
    assert archive.peer_of(source).variant == "keops_1d"
    assert archive.speedup_over_peer(source) == pytest.approx(2)


def test_without_gpu_1d_the_first_row_gives_the_parameters(tmp_path):
    rows = [technique_row("other", block_threads=5), technique_row("tuned_1d", block_threads=8)]
    path = written(tmp_path, rows)
    add(path, StandIn(keops_1d=timed(4.0), keops_2d=timed(8.0)))
    assert [row["params"]["block_threads"] for row in rows_of(path, "keops_1d")] == [8]


def test_the_variants_name_stands_where_rows_carry_it(tmp_path):
    row = technique_row("gpu_1d")
    row["params"]["variant"] = "gpu_1d"
    path = written(tmp_path, [row])
    add(path, StandIn(keops_1d=timed(4.0), keops_2d=timed(8.0)))
    assert rows_of(path, "keops_2d")[0]["params"]["variant"] == "keops_2d"
    rows = archives.load(path).rows
    assert len({row.problem for row in rows}) == 1


def test_points_of_one_problem_are_measured_once(tmp_path):
    path = written(tmp_path, [technique_row("gpu_1d", block_threads=b) for b in (64, 192)])
    bench = StandIn(keops_1d=timed(4.0), keops_2d=timed(8.0))
    add(path, bench)
    assert [variant for variant, _, _ in bench.asked] == ["keops_1d", "keops_2d"]


def test_a_second_run_replaces_the_rows(tmp_path):
    path = written(tmp_path)
    before = json.loads(path.read_text())["rows"]
    for median in (4.0, 3.0):
        add(path, StandIn(keops_1d=timed(median), keops_2d=timed(8.0)))
    assert [row["time_ms"]["median"] for row in rows_of(path, "keops_1d")] == [3.0, 3.0]
    rows = json.loads(path.read_text())["rows"]
    assert len(rows) == 4 + 2 * 2
    assert rows[:4] == before


def test_another_peers_rows_and_versions_stay(tmp_path, monkeypatch):
    path = written(tmp_path)
    add(path, StandIn(keops_1d=timed(4.0), keops_2d=timed(8.0)))
    monkeypatch.setattr(peer_rows, "version_of", lambda package: f"{package} 1")
    peer_rows.add_rows(path, triton_gaussian.peers(), ("triton",), StandIn(triton=timed(1.0)))
    assert len(rows_of(path, "keops_1d")) == len(rows_of(path, "triton")) == 2
    peers = json.loads(path.read_text())["provenance"]["peers"]
    assert set(peers) == {"pykeops", "torch", "triton", "time"}
    assert peers["triton"] == "triton 1"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", peers["time"])
    # The other program's packages are not this one's to name.
    assert peers["pykeops"] != "pykeops 1"


def test_the_archives_own_rules_hold(tmp_path):
    path = written(tmp_path, measure={"cache": "warm", "launches": 20, "unknown": 1})
    bench = StandIn(keops_1d=timed(4.0), keops_2d=timed(8.0))
    add(path, bench)
    assert bench.asked[0][2] == peer_points.Measure(cache="warm", launches=20)
    assert {row["launches"] for row in rows_of(path, "keops_1d")} == {20}


def test_without_rules_the_harness_defaults_hold():
    assert peer_rows.measure_of({}) == peer_points.Measure("cold", 15, 500, 0.02, 5, 0.75, 1)


def test_nothing_is_left_beside_the_archive(tmp_path):
    path = written(tmp_path)
    add(path, StandIn(keops_1d=timed(4.0), keops_2d=timed(8.0)))
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_leaves_the_archive_as_it_was(tmp_path):
    path = written(tmp_path)
    before = path.read_bytes()
    with pytest.raises(ValueError):
        peer_rows.write_archive(path, {"rows": [float("nan")]})
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


# ---------------------------------------------------------------- wrong answers, errors, skips


def test_a_wrong_answer_has_no_time(tmp_path):
    path = written(tmp_path)
    problem = peer_points.Problem(**PROBLEM)
    wrong = peer_points.judge(problem, 3e-4)
    outcomes = add(path, StandIn(keops_1d=wrong, keops_2d=timed(8.0)))
    assert not all(outcome.is_good for outcome in outcomes)
    row = archives.load(path).rows[4]
    assert (row.variant, row.verified, row.timing) == ("keops_1d", "failed", None)
    assert row.is_wrong
    assert "0.0003" in row.error and "1e-05" in row.error
    assert row.counters == {"relative_error": 3e-4}
    assert row.items_per_s is None


@pytest.mark.parametrize(
    ("reduction", "number", "error", "verified"),
    [
        ("sum", "float32", 1e-5, "passed"),
        ("sum", "float32", 1.1e-5, "failed"),
        ("sum", "float64", 1e-11, "failed"),
        ("log_sum_exp", "float64", 1e-12, "passed"),
        ("argkmin", "float64", 1e-6, "passed"),
        ("min", "float32", float("nan"), "failed"),
        ("min", "float32", float("inf"), "failed"),
    ],
)
def test_what_is_right(reduction, number, error, verified):
    problem = peer_points.Problem(**PROBLEM | {"reduction": reduction, "number": number})
    outcome = peer_points.judge(problem, error)
    assert outcome.verified == verified
    assert outcome.is_good == (verified == "passed")


def test_a_nan_leaves_a_valid_archive(tmp_path):
    path = written(tmp_path)
    wrong = peer_points.judge(peer_points.Problem(**PROBLEM), float("nan"))
    add(path, StandIn(keops_1d=wrong, keops_2d=wrong))
    assert archives.load(path).rows[-1].counters == {}


def test_an_exception_is_one_rows_error(tmp_path):
    path = written(tmp_path)
    add(path, StandIn(keops_1d=RuntimeError("no luck"), keops_2d=timed(8.0)))
    rows = archives.load(path).rows
    assert [row.error for row in rows if row.variant == "keops_1d"] == ["RuntimeError: no luck"] * 2
    assert all(row.timing for row in rows if row.variant == "keops_2d")


def test_problems_too_large_are_skipped(tmp_path):
    path = written(tmp_path, [technique_row("gpu_1d", m=10**6, n=10**6)])
    bench = StandIn(keops_1d=timed(4.0))
    add(path, bench)
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
    problem = peer_points.Problem(**PROBLEM | changes)
    for peer, reason in zip(keops.peers(), (reason_1d, reason_2d), strict=True):
        found = peer.cannot(problem)
        assert (found is None) if reason is None else (reason in found)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"d": 16}, None),
        ({"d": 17}, "dimensions"),
        ({"d": 64}, None),
        ({"formula": "laplacian"}, "gaussian only"),
        ({"reduction": "log_sum_exp"}, "gaussian only"),
        ({"number": "float64"}, "float32 only"),
    ],
)
def test_what_the_triton_kernel_does_not_do(changes, reason):
    found = triton_gaussian.TritonGaussian().cannot(peer_points.Problem(**PROBLEM | changes))
    assert (found is None) if reason is None else (reason in found)


@pytest.mark.parametrize("d", [1, 3, 10, 16, 64])
@pytest.mark.parametrize("m", [1, 2, 5, 16, 100, 10**6])
@pytest.mark.parametrize("n", [1, 127, 10**4, 10**9])
def test_parts_of_the_columns_are_all_of_them(m, n, d):
    problem = peer_points.Problem(**PROBLEM | {"m": m, "n": n, "d": d})
    shapes = triton_gaussian.shapes_of(problem)
    assert shapes
    for shape in shapes:
        splits, columns = triton_gaussian.split_columns_of(problem, shape, 132)
        assert (splits - 1) * columns < n <= splits * columns
        assert splits <= 65535


# ---------------------------------------------------------------- nothing to measure on


@pytest.mark.parametrize("program", [keops, triton_gaussian])
def test_a_missing_package_is_said(program, tmp_path, monkeypatch, capsys):
    path = written(tmp_path)
    monkeypatch.setattr(peer_program.importlib.util, "find_spec", lambda name: None)
    code = peer_program.main("test", program.peers(), program.PACKAGES, [str(tmp_path)])
    assert code == 0
    assert "torch is not installed" in capsys.readouterr().out
    variants = {peer.variant for peer in program.peers()}
    rows = [row for row in archives.load(path).rows if row.variant in variants]
    assert len(rows) == 2 * len(variants)
    assert {row.skipped for row in rows} == {"torch is not installed"}
    assert {row.verified for row in rows} == {"not_verified"}
    assert not any(row.timing or row.is_wrong for row in rows)


def test_the_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(
        peer_program.importlib.util,
        "find_spec",
        lambda name: None if name == "pykeops" else "there",
    )
    assert peer_program.missing_package(keops.PACKAGES) == "pykeops is not installed"
    assert peer_program.missing_package(triton_gaussian.PACKAGES) is None


def test_times_stay_with_their_device(tmp_path):
    path = written(tmp_path)
    archive = json.loads(path.read_text())
    archive["provenance"]["device"]["name"] = "Another GPU"
    path.write_text(json.dumps(archive))
    bench = StandIn()
    add(path, bench)
    assert bench.asked == []
    assert "Another GPU" in rows_of(path, "keops_1d")[0]["skipped"]


def test_an_emulated_archive_gets_no_time(tmp_path):
    rows = [technique_row("gpu_1d") | {"time_ms": None}]
    path = written(tmp_path, rows, backend="emulated")
    bench = StandIn()
    add(path, bench)
    assert bench.asked == []
    assert "times nothing" in archives.load(path).rows[-1].skipped


def test_foreign_archives_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(peer_program.importlib.util, "find_spec", lambda name: None)
    path = synthetic.write(tmp_path, synthetic.passes())
    assert peer_program.main("test", keops.peers(), keops.PACKAGES, [str(path)]) == 2
    assert synthetic.TECHNIQUE in capsys.readouterr().err
    assert peer_program.main("test", keops.peers(), keops.PACKAGES, [str(tmp_path / "no")]) == 2
    # Of a folder, only the archives of map_reduce are taken.
    assert peer_program.main("test", keops.peers(), keops.PACKAGES, [str(tmp_path)]) == 0


def test_a_row_without_a_parameter_is_refused(tmp_path):
    row = technique_row("gpu_1d")
    del row["params"]["d"]
    with pytest.raises(peer_rows.InputError, match="gpu_1d has no parameter d"):
        add(written(tmp_path, [row]), StandIn())


def test_max_pairs_wins_over_the_variants_own(tmp_path, monkeypatch):
    path = written(tmp_path)
    bench = StandIn(keops_1d=timed(4.0), keops_2d=timed(8.0))
    monkeypatch.setattr(peer_program, "make_bench", lambda packages: bench)
    arguments = [str(path), "--max-pairs", "1e5"]
    assert peer_program.main("test", keops.peers(), keops.PACKAGES, arguments) == 0
    assert [problem.n for _, problem, _ in bench.asked] == [1000, 1000]


def test_a_wrong_answer_makes_the_program_fail(tmp_path, monkeypatch, capsys):
    wrong = peer_points.judge(peer_points.Problem(**PROBLEM), 1.0)
    bench = StandIn(keops_1d=wrong, keops_2d=timed(8.0))
    monkeypatch.setattr(peer_program, "make_bench", lambda packages: bench)
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
        ([], 5.0, "time"),
        ([1.0] * 30, 9.0, "noise"),
    ],
)
def test_when_to_stop(samples, seconds, reason):
    measure = peer_points.Measure(max_samples=30)
    assert peer_points.stop_reason(measure, samples, seconds) == reason
