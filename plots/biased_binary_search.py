"""The figures of biased_binary_search, one function each."""

from __future__ import annotations

import archive as archives
import style
from archive import Archive, NothingToDraw, Row
from figure import FigureSpec
from matplotlib.figure import Figure

LOOKS = {
    "plain": style.Look("halves alone", style.NAIVE, "v", ":"),
    "thrust": style.Look("Thrust: lower bound", style.PEER, "D", "-"),
}


def _lines(rows: list[Row]) -> list[tuple[style.Look, list[Row]]]:
    """The rows of each variant, of `biased` those of each number of levels."""
    biased = archives.where(rows, variant="biased")
    return [
        (
            style.graded(f"{levels} levels (source)", levels / 4),
            archives.where(biased, levels=levels),
        )
        for levels in archives.values_of(biased, "levels")
    ] + style.by_variant(rows, LOOKS)


def _probes(row: Row, _: float = 0) -> float | None:
    return row.counters.get("probes_per_search")


def _over(archive: Archive, rows: list[Row], x: str, label: str, title: str) -> Figure:
    """Probes a search, and nanoseconds a search, over `x`."""
    figure, panels = style.new_figure(2, width=4.6, height=3.4)
    style.lines(panels[0], _lines(rows), x, _probes)
    style.lines(panels[1], _lines(rows), x, lambda row, ms: 1e6 * ms / row.params["searches"])
    for axes, unit in zip(
        panels, ("probes a search", "ns a search, over all threads"), strict=True
    ):
        axes.set_xscale("log")
        style.from_zero(axes, label, unit)
    return style.finish(figure, archive, rows, title)


def run_length(archive: Archive) -> Figure:
    """Probes and time over the length of the runs."""
    rows = archive.timed_rows()
    title = f"Biased binary search in {rows[0].params['n']:,} keys"
    return _over(archive, rows, "run_length", "equal keys in each run", title)


def array_size(archive: Archive) -> Figure:
    """Probes and time over the size of the array."""
    rows = archive.timed_rows()
    title = f"Biased binary search, runs of {rows[0].params['run_length']} keys"
    return _over(archive, rows, "n", "n, keys", title)


def worked_example(archive: Archive) -> Figure:
    """The probes of the source's example, with each number of levels."""
    counted = [row for row in archive.timed_rows() if _probes(row) is not None]
    if not counted:
        raise NothingToDraw(f"{archive.name} has no row with counted probes")
    figure, (axes,) = style.new_figure(1, width=5.2, height=3)
    for place, (look, rows) in enumerate(line for line in _lines(counted) if line[1]):
        probes = _probes(rows[0])
        style.note_above(
            axes, place, style.bar(axes, place, 0.7, probes, probes, probes, look), f"{probes:g}"
        )
    axes.set_xticks([])
    style.from_zero(axes, y="probes a search")
    keys = counted[0].params["n"] - 1
    return style.finish(figure, archive, counted, f"The start of the last run of {keys:,} keys")


FIGURES = FigureSpec.named("biased_binary_search", run_length, array_size, worked_example)
