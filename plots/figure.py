"""Finds and draws the figures of a technique: `plots/<slug>.py` lists its own in `FIGURES`."""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import style
from archive import Archive, ArchiveError, NothingToDraw
from matplotlib.figure import Figure

FOLDERS = [Path(__file__).resolve().parent]
"""Where scripts of techniques are looked for."""


@dataclass(frozen=True)
class FigureSpec:
    """A figure's file name, the experiment that feeds it, and the function that draws it."""

    name: str
    experiment: str
    draw: Callable[[Archive], Figure]

    @classmethod
    def named(cls, technique: str, *draw: Callable[[Archive], Figure]) -> list[FigureSpec]:
        """A figure `<technique>_<name>` for each function, fed by the experiment of that name."""
        return [cls(f"{technique}_{each.__name__}", each.__name__, each) for each in draw]

    @property
    def caption(self) -> str:
        """The first sentence of the drawing function's docstring."""
        return (self.draw.__doc__ or self.name).strip().splitlines()[0]


@dataclass(frozen=True)
class Drawn:
    """A figure that was written, or why there is none."""

    spec: FigureSpec
    svg: Path | None
    png: Path | None
    why_not: str | None = None


@functools.cache
def figures_of(technique: str) -> list[FigureSpec]:
    """The figures that `plots/<technique>.py` offers; none where there is no such file."""
    path = next((p for folder in FOLDERS if (p := folder / f"{technique}.py").exists()), None)
    if path is None:
        return []
    spec = importlib.util.spec_from_file_location(f"figures_of_{technique}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.FIGURES


def draw_all(archive: Archive, folder: Path) -> list[Drawn]:
    """Draws every figure that this archive feeds into `folder` as SVG and PNG."""
    drawn = []
    for spec in figures_of(archive.technique):
        if spec.experiment != archive.experiment:
            continue
        try:
            svg, png = style.save(spec.draw(archive), folder / spec.name)
        except (NothingToDraw, ArchiveError) as reason:
            drawn.append(Drawn(spec, None, None, str(reason)))
        else:
            drawn.append(Drawn(spec, svg, png))
    return drawn
