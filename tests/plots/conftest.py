"""Makes the plot scripts importable, and gives every test fresh synthetic results."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "plots"), str(Path(__file__).resolve().parent)]

import figure  # noqa: E402
import style  # noqa: E402
import synthetic  # noqa: E402

figure.FOLDERS.append(ROOT / "tests" / "plots" / "samples")


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    """Figures that a test drew are closed after it."""
    yield
    style.plt.close("all")


@pytest.fixture
def gpu_folder(tmp_path: Path) -> Path:
    """Archived results of a (synthetic) GPU: results/synthetic-gpu."""
    folder = tmp_path / "results" / "synthetic-gpu"
    synthetic.write_all(folder)
    return folder


@pytest.fixture
def passes_folder(tmp_path: Path) -> Path:
    """Results of one experiment only, for tests that need no more."""
    folder = tmp_path / "results" / "synthetic-gpu"
    synthetic.write(folder, synthetic.passes())
    return folder


@pytest.fixture
def emulated_folder(tmp_path: Path) -> Path:
    """This machine's results where there is no GPU: results/runs/emulated."""
    folder = tmp_path / "results" / "runs" / "emulated"
    synthetic.write_all(folder, "emulated")
    return folder
