"""Rows of ranks over NCCL: filled in by a program that stands for mpirun, and left with a reason."""

import json
import os
import stat
import sys

import pytest
import synthetic
from conftest import ROOT
from rows.multi_gpu_sort import DEFAULTS

sys.path.insert(0, str(ROOT / "experiments" / "peers"))

import nccl_ranks  # noqa: E402
import peer_rows  # noqa: E402

UUID = "GPU-1"
ANSWER = {
    "verified": "passed",
    "moved_share": 0.5,
    "workspace_of_a_rank_bytes": 4096,
    "time_ms": {
        step: {"median": 1.5} for step in ("sort", "split", "exchange", "merge", "write")
    }
    | {"total": {"median": 3.0, "samples_ms": [2.9, 3.0, 3.1]}},
}


def open_row(**params):
    return {
        "variant": "nccl_ranks",
        "role": "technique",
        "runs": "elsewhere",
        "params": DEFAULTS | {"n": 1000, "devices": 2, "seed": 42} | params,
        "verified": "not_verified",
        "skipped": "experiments/peers/nccl_ranks.py has not measured it yet",
    }


@pytest.fixture
def archive(tmp_path):
    """Writes an archive of this machine with these rows; returns its path."""

    def write(*rows, backend="cuda", uuid=UUID):
        content = synthetic.archive("ranks", [], backend, technique="multi_gpu_sort")
        content["rows"] = list(rows)
        content["measure"] = {"cache": "warm", "max_samples": 3}
        content["provenance"]["backend"] = backend
        content["provenance"]["device"] = {"name": "a GPU", "uuid": uuid}
        path = tmp_path / "multi_gpu_sort.ranks.json"
        path.write_text(json.dumps(content))
        return path

    return write


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Two GPUs, and an mpirun that writes down its words and answers; returns warpath_ranks."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (tmp_path / "answer.json").write_text(json.dumps(ANSWER))
    write_script(folder / "nvidia-smi", f"printf '{UUID}\\nGPU-2\\n'")
    copy = f'cp "{tmp_path}/answer.json" "${{@: -1}}"'
    say = f'printf "%s " "$@" >> "{tmp_path}/words"'
    write_script(folder / "mpirun", f"{say}\n{copy}")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    ranks = folder / "warpath_ranks"
    write_script(ranks, "exit 1")
    return ranks


def write_script(path, text):
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def filled(path, program):
    outcomes = nccl_ranks.fill_rows(path, program)
    return outcomes, json.loads(path.read_text())["rows"]


def test_a_row_has_what_the_ranks_measured(archive, program, tmp_path):
    outcomes, (row,) = filled(archive(open_row(type="float", distribution="sorted")), program)
    assert [outcome.is_good for outcome in outcomes] == [True]
    words = (tmp_path / "words").read_text().split()
    assert words[:2] == ["-n", "2"]
    for option, value in {
        "--n": "1000",
        "--type": "f32",
        "--distribution": "sorted",
        "--seed": "42",
        "--repeats": "3",
    }.items():
        assert words[words.index(option) + 1] == value
    assert "--pairs" not in words
    assert (row["verified"], row["time_ms"]["median"]) == ("passed", 3.0)
    assert row["clock"] == "gpu"
    assert row["host_is_in_the_time"] is True
    assert row["role"] == "technique"
    assert row["bytes_min"] == 8000
    assert row["items_per_s"] == pytest.approx(1000 / 3e-3)
    assert row["counters"]["exchange_ms"] == 1.5
    assert "skipped" not in row


def test_pairs_are_asked_for_and_counted(archive, program, tmp_path):
    _, (row,) = filled(archive(open_row(type="uint64", operation="pairs")), program)
    assert "--pairs" in (tmp_path / "words").read_text()
    assert row["bytes_min"] == 24000


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"devices": 4}, "needs 4 GPUs: here are 2"),
        ({"virtual": "on"}, "needs a GPU for each rank"),
        ({"place": "host"}, "sorts what lies on GPUs"),
        ({"distribution": "zipf"}, "makes no keys of the distribution zipf"),
    ],
)
def test_what_ranks_do_not_do_is_said(archive, program, params, reason):
    _, (row,) = filled(archive(open_row(**params)), program)
    assert row["skipped"] == reason
    assert row["time_ms"] is None


def test_a_wrong_result_has_no_time(archive, program):
    text = "echo starting >&2; echo 'rank 1: WRONG RESULT: 3 elements' >&2; exit 1"
    write_script(program.parent / "mpirun", text)
    outcomes, (row,) = filled(archive(open_row()), program)
    assert not outcomes[0].is_good
    assert (row["verified"], row["time_ms"]) == ("failed", None)
    assert "WRONG RESULT: 3 elements" in row["error"]


def test_a_failed_call_is_an_error(archive, program):
    write_script(program.parent / "mpirun", "echo 'no slots' >&2; exit 3")
    _, (row,) = filled(archive(open_row()), program)
    assert row["error"] == "mpirun ended with 3: no slots"


@pytest.mark.parametrize("missing", ["program", "mpirun", "gpu", "backend"])
def test_a_row_stays_open_where_nothing_can_be_measured(archive, program, monkeypatch, missing):
    backend = "emulated" if missing == "backend" else "cuda"
    if missing == "program":
        program.unlink()
    if missing == "mpirun":
        which = nccl_ranks.shutil.which
        hidden = lambda name: None if name == "mpirun" else which(name)  # noqa: E731
        monkeypatch.setattr(nccl_ranks.shutil, "which", hidden)
    if missing == "gpu":
        write_script(program.parent / "nvidia-smi", "exit 9")
    _, (row,) = filled(archive(open_row(), backend=backend), program)
    expected = {
        "program": "warpath_ranks is not built: it needs MPI and NCCL",
        "mpirun": "mpirun is not installed (Debian: openmpi-bin)",
        "gpu": "no GPU",
        "backend": "the archive is of the emulated backend, which times no kernel",
    }
    assert row["skipped"] == expected[missing]


def test_a_time_is_kept_where_nothing_can_be_measured(archive, program):
    path = archive(open_row())
    filled(path, program)
    program.unlink()
    outcomes, (row,) = filled(path, program)
    assert outcomes == []
    assert row["time_ms"]["median"] == 3.0


def test_another_machine_is_refused(archive, program, capsys):
    path = archive(open_row(), uuid="GPU-9")
    with pytest.raises(peer_rows.InputError, match=r"GPU-9, and here are GPU-1, GPU-2"):
        nccl_ranks.fill_rows(path, program)
    assert nccl_ranks.main([str(path), "--program", str(program)]) == 2
    assert str(path) in capsys.readouterr().err


def test_other_rows_are_left_alone(archive, program, tmp_path):
    other = open_row() | {"variant": "splitter_merge"}
    outcomes, rows = filled(archive(other), program)
    assert (outcomes, rows) == ([], [other])
    assert not (tmp_path / "words").exists()
