"""run_all.sh's command line: what it refuses, and that the refusal helps. Nothing is built."""

import subprocess

import pytest
from conftest import ROOT

import configs

EXPERIMENT = configs.NAMES[0].removesuffix(".json")
TECHNIQUE = EXPERIMENT.split("/")[0]


def run_all(*arguments, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["bash", str(ROOT / "run_all.sh"), *arguments],
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
