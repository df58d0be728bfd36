"""Sorts by ranks over NCCL and MPI, in the archives of multi_gpu_sort that `warpath run` wrote.

    python3 experiments/peers/nccl_ranks.py ARCHIVE.json|FOLDER... [--program PATH]

A rank is a process, so that `warpath` cannot measure them: this fills in the rows of variant
`nccl_ranks`, by `mpirun warpath_ranks`, one rank a GPU, as peer_rows.py does for peers. That
program makes keys of its own, as evenly spread, and verifies each sort. Its time is a wall clock's,
from when all ranks have met to when the slowest is done: so all that hosts do is in it, as it is in
the times of the sorts beside it. Where it cannot run, the rows say why.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from peer_points import Json, Outcome
from peer_rows import (
    InputError,
    archives_of,
    filled_row,
    folder_lock,
    has_time,
    measure_of,
    merge,
    outcome_text,
    read_archive,
    write_archive,
)

TECHNIQUE = "multi_gpu_sort"
VARIANT = "nccl_ranks"
PROGRAM = Path(__file__).parents[2] / "build" / "cuda" / "bin" / "warpath_ranks"
TYPES = {"uint32": "u32", "uint64": "u64", "float": "f32"}
DISTRIBUTIONS = ("uniform", "sorted", "reversed", "all_equal")
MOST_SECONDS = 300
"""Of one call: a rank that does not answer ends the others long before."""


def gpus() -> list[str]:
    """The uuid of each GPU here."""
    if not shutil.which("nvidia-smi"):
        return []
    command = ["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    return answer.stdout.split() if answer.returncode == 0 else []


def why_not(archive: Json, program: Path) -> str | None:
    """Why no row of the archive can be filled in here. Raises InputError for another machine's."""
    provenance = archive.get("provenance") or {}
    if provenance.get("backend") != "cuda":
        return "the archive is of the emulated backend, which times no kernel"
    here = gpus()
    if not here:
        return "no GPU"
    device = provenance.get("device") or {}
    if device.get("uuid") not in here:
        of = f"{device.get('name')} {device.get('uuid')}"
        raise InputError(f"is of the GPU {of}, and here are {', '.join(here)}: run warpath first")
    if not shutil.which("mpirun"):
        return "mpirun is not installed (Debian: openmpi-bin)"
    if not program.is_file():
        return f"{program.name} is not built: it needs MPI and NCCL"
    return None


def cannot(params: Json) -> str | None:
    """Why ranks do not do this sort here; None where they do."""
    count = len(gpus())
    if params["devices"] > count:
        return f"needs {params['devices']} GPUs: here are {count}"
    if params["virtual"] == "on":
        return "needs a GPU for each rank"
    if params["place"] != "devices":
        return "sorts what lies on GPUs"
    if params["distribution"] not in DISTRIBUTIONS:
        return f"makes no keys of the distribution {params['distribution']}"
    return None


def bytes_min(params: Json) -> int:
    """Each key and value read and written once, as the harness's rows have it."""
    element = (8 if params["type"] == "uint64" else 4) + 4 * (params["operation"] == "pairs")
    return 2 * params["n"] * element


def command_of(params: Json, program: Path, repeats: int, answer: Path) -> list[str]:
    """The call that sorts so."""
    command = ["mpirun", "-n", str(params["devices"]), "--bind-to", "none", str(program)]
    command += ["--n", str(params["n"]), "--type", TYPES[params["type"]]]
    command += ["--distribution", params["distribution"], "--seed", str(params["seed"])]
    command += ["--repeats", str(repeats), "--json", str(answer)]
    return [*command, "--pairs"] if params["operation"] == "pairs" else command


def measured(params: Json, program: Path, repeats: int) -> Outcome:
    """What the ranks say of one sort."""
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "ranks.json"
        try:
            done = subprocess.run(
                command_of(params, program, repeats, answer),
                env=os.environ | root,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=MOST_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Outcome(error=f"mpirun has not ended after {MOST_SECONDS} s")
        if done.returncode != 0:
            said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()
            wrong = [line for line in said if "WRONG RESULT" in line]
            verified = "failed" if wrong else "not_verified"
            why = (wrong or said)[0]
            return Outcome(verified, error=f"mpirun ended with {done.returncode}: {why}")
        told = json.loads(answer.read_text(encoding="utf-8"))
    times = told["time_ms"]
    counters = {
        f"{step}_ms": times[step]["median"] for step in ("sort", "split", "exchange", "merge")
    }
    counters["moved_share"] = told["moved_share"]
    counters["workspace_of_a_device_bytes"] = told["workspace_of_a_rank_bytes"]
    return Outcome(
        told["verified"],
        counters,
        {"timed_by": "wall clock of the slowest rank"},
        times["total"]["samples_ms"],
        "max_samples",
        host_is_in_the_time=True,
    )


def fill_rows(path: Path, program: Path) -> list[Outcome]:
    """Measures an archive's rows of ranks; each is written as soon as it is known.

    Where nothing can be measured, rows that have a time keep it. Raises InputError.
    """
    archive = read_archive(path, TECHNIQUE)
    rows = [row for row in archive["rows"] if row["variant"] == VARIANT]
    if not rows:
        return []
    try:
        reason = why_not(archive, program)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    measure = measure_of(archive)
    outcomes: list[Outcome] = []
    for row in rows:
        if reason and has_time(row):
            continue
        params = row["params"]
        why = reason or cannot(params)
        repeats = measure.max_samples
        outcome = Outcome(skipped=why) if why else measured(params, program, repeats)
        text = outcome_text(outcome)
        print(f"{path.name}: {VARIANT}/n:{params['n']}/devices:{params['devices']}: {text}")
        filled = filled_row(row, "gpu", measure, outcome, params["n"], bytes_min(params))
        facts: Json = {"warpath_ranks": "measured by mpirun"} if outcome.samples_ms else {}
        # What was written meanwhile by another program stays.
        with folder_lock(path.parent):
            write_archive(path, merge(read_archive(path, TECHNIQUE), [filled], facts))
        outcomes.append(outcome)
    return outcomes


def main(arguments: list[str]) -> int:
    """0 good, 1 a wrong answer or an error, 2 bad input."""
    parser = argparse.ArgumentParser(description="Ranks over NCCL in archives of multi_gpu_sort")
    parser.add_argument("places", nargs="+", type=Path, metavar="ARCHIVE.json", help="or a folder")
    parser.add_argument("--program", type=Path, default=PROGRAM, help="warpath_ranks")
    options = parser.parse_args(arguments)
    outcomes: list[Outcome] = []
    refused = False
    for path in archives_of(options.places, TECHNIQUE):
        try:
            outcomes += fill_rows(path, options.program)
        except InputError as error:  # the other archives go on
            print(error, file=sys.stderr)
            refused = True
    if refused:
        return 2
    return 0 if all(outcome.is_good for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
