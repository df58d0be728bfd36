"""The figures of biased_binary_search, one function each."""

from __future__ import annotations

import archive as archives
import style
from archive import Archive, NothingToDraw, Row
from figure import FigureSpec
from matplotlib.figure import Figure

PLAIN = style.Look("halves alone", style.NAIVE, "v", ":")
THRUST = style.Look("Thrust: lower bound", style.PEER, "D", "-")


def _look(levels: int) -> style.Look:
    return style.graded(f"{levels} level{'s' if levels > 1 else ''} (source)", levels / 4)


def _lines(rows: list[Row]) -> list[tuple[style.Look, list[Row]]]:
    """The rows of each variant, of `biased` those of each number of levels."""
    biased = archives.where(rows, variant="biased")
    lines = [
        (_look(levels), archives.where(biased, levels=levels))
        for levels in archives.values_of(biased, "levels")
    ]
    lines.append((PLAIN, archives.where(rows, variant="plain")))
    lines.append((THRUST, archives.where(rows, variant="thrust")))
    return [(look, line) for look, line in lines if line]


def _timed(archive: Archive) -> list[Row]:
    rows = archive.gpu_rows()
    if not rows:
        raise NothingToDraw(f"{archive.name} has no point that was timed on a GPU")
    return rows


def _probes_and_time(archive: Archive, x: str, label: str, title: str) -> Figure:
    """Probes a search, and nanoseconds a search, over `x`."""
    rows = _timed(archive)
    figure, panels = style.new_figure(2, width=4.6, height=3.4)
    for look, line in _lines(rows):
        line = archives.along(line, x)
        places = [row.params[x] for row in line]
        probes = [row.counters.get("probes_per_search") for row in line]
        if None not in probes:
            style.line(panels[0], places, probes, probes, probes, look)
        each = [1e6 / row.params["searches"] for row in line]
        style.line(
            panels[1],
            places,
            [row.timing.median * ns for row, ns in zip(line, each, strict=True)],
            [row.timing.p10 * ns for row, ns in zip(line, each, strict=True)],
            [row.timing.p90 * ns for row, ns in zip(line, each, strict=True)],
            look,
        )
    for axes in panels:
        axes.set_xscale("log")
        axes.set_xlabel(label)
        style.from_zero(axes)
    panels[0].set_ylabel("probes a search")
    panels[1].set_ylabel("ns a search, over all threads")
    style.finish(figure, archive, rows, title)
    return figure


def run_length(archive: Archive) -> Figure:
    """Probes and time over the length of the runs."""
    keys = _timed(archive)[0].params["n"]
    return _probes_and_time(
        archive, "run_length", "equal keys a run", f"Biased binary search in {keys:,} keys"
    )


def array_size(archive: Archive) -> Figure:
    """Probes and time over the size of the array."""
    run = _timed(archive)[0].params["run_length"]
    return _probes_and_time(archive, "n", "n, keys", f"Biased binary search, runs of {run} keys")


def worked_example(archive: Archive) -> Figure:
    """The probes of the source's example, with each number of levels."""
    rows = [row for row in _timed(archive) if "probes_per_search" in row.counters]
    if not rows:
        raise NothingToDraw(f"{archive.name} has no point of ours")
    figure, panels = style.new_figure(1, width=5.2, height=3)
    lines = _lines(rows)
    for place, (look, line) in enumerate(lines):
        probes = line[0].counters["probes_per_search"]
        top = style.bar(panels[0], place, 0.7, probes, probes, probes, look)
        style.note_above(panels[0], place, top, f"{probes:g}")
    panels[0].set_xticks([])
    panels[0].set_ylabel("probes a search")
    style.from_zero(panels[0])
    keys = rows[0].params["n"] - 1
    style.finish(figure, archive, rows, f"The start of the last run of {keys:,} keys")
    return figure


FIGURES = [
    FigureSpec("biased_binary_search_run_length", "run_length", run_length),
    FigureSpec("biased_binary_search_array_size", "array_size", array_size),
    FigureSpec("biased_binary_search_worked_example", "worked_example", worked_example),
]
