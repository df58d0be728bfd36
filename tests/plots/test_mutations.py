"""The planted bugs of tests/mutations/mutate.py stand in the code that they are to be planted in."""

import subprocess
import sys

from conftest import ROOT


def test_each_fits_one_place():
    run = subprocess.run(
        [sys.executable, ROOT / "tests/mutations/mutate.py", "--plant-only"],
        capture_output=True,
        text=True,
        check=False,
    )
    lines = run.stdout.splitlines()
    assert [line for line in lines if not line.startswith("fits ")] == [], run.stderr
    assert run.returncode == 0, run.stderr
    assert len(lines) > 100
