"""run_all.sh: what it refuses, and that this helps; where it can be run. Nothing is built."""

import contextlib
import os
import pty
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import ROOT

import configs

EXPERIMENT = configs.NAMES[0].removesuffix(".json")
TECHNIQUE = EXPERIMENT.split("/")[0]


def run_all(
    *arguments, script: Path = ROOT / "run_all.sh", **options
) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["bash", str(script), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
        check=False,
        **options,
    )


def test_help_names_every_option():
    done = run_all("--help")
    assert done.returncode == 0
    for option in ("test", "--backend", "--profile", "--resume", "--jobs", "--help"):
        assert option in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bakend", "cuda"], "unknown option '--bakend': did you mean '--backend'?"),
        (["--resme"], "did you mean '--resume'?"),
        (["--backend", "emulate"], "unknown backend 'emulate': did you mean 'emulated'?"),
        (["--profile", "papr"], "unknown profile 'papr': did you mean 'paper'?"),
        ([TECHNIQUE + "s"], f"unknown experiment '{TECHNIQUE}s': did you mean '{TECHNIQUE}'?"),
        ([EXPERIMENT + "s"], f"did you mean '{EXPERIMENT}'?"),
        (["tests"], "did you mean 'test'?"),
        (["--profile"], "--profile needs a value"),
        (["--profile="], "unknown profile ''"),
        (["--backend=emulate"], "unknown backend 'emulate': did you mean 'emulated'?"),
        (["--bakend=cuda"], "unknown option '--bakend': did you mean '--backend'?"),
        (["--resume=yes"], "--resume takes no value"),
        (["--jobs=0"], "--jobs is '0'"),
        (["--jobs", "0"], "--jobs is '0': expected a number of processes, at least 1"),
        (["--jobs", "many"], "--jobs is 'many'"),
        (["test", TECHNIQUE], "'test' takes no experiment"),
        (["--backend", "emulated-asan"], "emulated-asan is for the tests"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "says",
)
def test_refuses_with_what_was_meant(arguments, message):
    done = run_all(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""


def test_works_from_any_folder(tmp_path):
    done = run_all("--profile", "tiny", cwd=tmp_path)
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == []


# ---- a made-up clone: its CMake "builds" a program that writes down how it was called

CMAKE = """#!/bin/bash
home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' build/emulated/CMakeCache.txt 2>/dev/null)
if [[ -n $home && $home != "$PWD" ]]; then
  echo "The source $PWD does not match the source $home used to generate the cache." >&2
  exit 1
fi
mkdir -p build/emulated/bin
echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" >build/emulated/CMakeCache.txt
cp program build/emulated/bin/warpath
"""
PROGRAM = """#!/bin/bash
printf '%s|' "$@" >>calls.txt
echo >>calls.txt
mkdir -p results/runs/emulated
echo '{}' >results/runs/emulated/info.json
"""


@pytest.fixture
def clone(tmp_path) -> Path:
    """A clone whose path has an apostrophe and blanks."""
    folder = tmp_path / "it's a clone"
    for name in ("configs/sample", "plots", "experiments/peers", "tools"):
        (folder / name).mkdir(parents=True)
    shutil.copy(ROOT / "run_all.sh", folder)
    (folder / "configs/sample/passes.json").write_text("{}")
    peers = [path.relative_to(ROOT) for path in (ROOT / "experiments/peers").glob("*.py")]
    for script in (*peers, "plots/report.py"):
        (folder / script).write_text("import sys; print(sys.argv[1:])")
    tools = {"cmake": CMAKE, "dpkg-query": "#!/bin/bash\nprintf installed"}
    (folder / "program").write_text(PROGRAM)
    for name, text in tools.items():
        (folder / "tools" / name).write_text(text)
    for path in (folder / "program", *(folder / "tools").iterdir()):
        path.chmod(0o755)
    return folder


def run_clone(folder: Path, *arguments, script: Path | None = None, **options):
    """Runs all of the clone, on the emulated backend; the run ends well."""
    path = f"{folder / 'tools'}:{os.environ['PATH']}"
    done = run_all(
        *arguments,
        script=script or folder / "run_all.sh",
        env=os.environ | {"PATH": path},
        **options,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def runs(folder: Path) -> list[str]:
    lines = (folder / "calls.txt").read_text().splitlines()
    return [line for line in lines if line.startswith("run|")]


RUN = "run|configs/sample/passes.json|--profile|smoke|--out|results/runs|"


def test_runs_where_the_path_has_an_apostrophe_and_blanks(clone):
    done = run_clone(clone, "--backend", "emulated")
    assert runs(clone) == [RUN]
    assert "['--results', 'results/runs/emulated', '--archived', 'results']" in done.stdout
    assert "configured in" not in done.stdout


def test_archives_are_judged_when_the_peers_rows_are_in(clone):
    done = run_clone(clone, "--backend", "emulated")
    assert (clone / "calls.txt").read_text().splitlines()[-1] == "judge|results/runs/emulated|"
    stages = [line for line in done.stdout.splitlines() if line.startswith("==> ")]
    names = ("keops", "triton_gaussian", "torch_gaussian", "numpy_gaussian", "nccl_ranks")
    peers = [f"==> peer {name}" for name in names]
    assert stages[-7:] == [*peers, "==> judge again", "==> figures and report"]


def test_takes_values_after_an_equals_sign(clone):
    run_clone(clone, "sample", "--backend=emulated", "--profile=full", "--jobs=1", "--resume")
    assert runs(clone) == [RUN.replace("smoke", "full") + "--resume|"]


def test_runs_through_a_symbolic_link(clone, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    link = elsewhere / "reproduce"
    link.symlink_to("../it's a clone/run_all.sh")
    run_clone(clone, "--backend=emulated", script=link, cwd=elsewhere)
    assert runs(clone) == [RUN]
    assert list(elsewhere.iterdir()) == [link]


@pytest.mark.parametrize("move", [shutil.move, shutil.copytree])
def test_a_clone_that_was_moved_or_copied_is_configured_anew(clone, move):
    run_clone(clone, "--backend=emulated")
    (clone / "build/emulated/of_the_old_place").write_text("")
    new = clone.with_name("another place")
    move(clone, new)
    done = run_clone(new, "--backend=emulated")
    assert f"build/emulated was configured in {clone}, and this is {new}" in done.stdout
    assert not (new / "build/emulated/of_the_old_place").exists()
    assert "configured in" not in run_clone(new, "--backend=emulated").stdout


def all_that_was_said(terminal):
    """What was written to the other end of a terminal, which is closed there."""
    said = b""
    with contextlib.suppress(OSError):  # at its end
        while part := os.read(terminal, 1 << 16):
            said += part
    return said.decode()


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGHUP, 129), (signal.SIGINT, 130), (signal.SIGTERM, 143)],
    ids=["HUP", "INT", "TERM"],
)
def test_a_signal_ends_the_run_with_its_status(clone, number, status):
    wait = "[[ $1 != run ]] || { touch begun; until [[ -e go ]]; do sleep 0.02; done; }\n"
    (clone / "program").write_text(PROGRAM + wait)
    terminal, output = pty.openpty()
    done = subprocess.Popen(
        ["bash", str(clone / "run_all.sh"), "--backend", "emulated"],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        env=os.environ | {"PATH": f"{clone / 'tools'}:{os.environ['PATH']}"},
        # A background job, as these tests may be, ignores SIGINT, and bash traps no such signal.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    try:
        os.close(output)
        until = time.monotonic() + 60
        while not (clone / "begun").exists():
            assert done.poll() is None and time.monotonic() < until
            time.sleep(0.02)
        if number == signal.SIGHUP:
            os.close(terminal)  # it is gone: nothing can be said
        done.send_signal(number)
        (clone / "go").touch()
        assert done.wait(60) == status
    finally:
        (clone / "go").touch()
        done.kill()
        done.wait()
    if number != signal.SIGHUP:
        assert "Interrupted." in all_that_was_said(terminal)
        os.close(terminal)
