"""What every technique's figures must do, and how their tests come to an archive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import archive as archives
import figure
import pytest
import synthetic


def read(folder: Path, technique: str, experiment: str, rows: list[dict[str, Any]], backend: str):
    """A made-up archive of those rows, written and read again."""
    content = synthetic.archive(experiment, rows, backend, technique=technique)
    return archives.load(synthetic.write(folder / "in", content))


def is_drawn(spec: figure.FigureSpec, archive: archives.Archive, folder: Path) -> None:
    drawn = [each for each in figure.draw_all(archive, folder / "out") if each.spec == spec]
    assert [each.why_not for each in drawn] == [None]
    assert drawn[0].png.stat().st_size > 10_000


def is_refused_without_a_gpu(spec: figure.FigureSpec, archive: archives.Archive) -> None:
    with pytest.raises(archives.NothingToDraw, match="timed on a GPU"):
        spec.draw(archive)
