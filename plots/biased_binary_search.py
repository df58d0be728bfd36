"""The figures of biased_binary_search, one function each."""

from __future__ import annotations

from dataclasses import replace

import archive as archives
import style
from archive import Archive, NothingToDraw, Row
from figure import FigureSpec
from matplotlib.figure import Figure

LOOKS = {
    "plain": style.Look("halves alone", style.NAIVE, "v", ":"),
    "thrust": style.Look("Thrust: lower bound", style.PEER, "D", "-", hatch="////"),
}
# By the number of levels, modulo their count; the source has four levels.
LEVELS = (
    style.Look("", style.STRONG, "o", "-", 2.2, 6),
    style.Look("", style.LIGHT, "^", "-."),
    style.Look("", style.MIDDLE, "s", "--"),
    style.Look("", style.SOURCE, "P", "-"),
)


PROBES = "probes of one search (count)"


def _lines(rows: list[Row]) -> list[tuple[style.Look, list[Row]]]:
    """The rows of each line: a variant, and of `biased` a number of levels."""
    biased = archives.where(rows, variant="biased")
    found = []
    for levels in archives.values_of(biased, "levels"):
        name = f"{levels} level{'s' if levels != 1 else ''} (source)"
        look = replace(LEVELS[levels % len(LEVELS)], label=name)
        found.append((look, archives.where(biased, levels=levels)))
    return found + style.by_variant(rows, LOOKS)


def _probes(row: Row, _: float = 0) -> float | None:
    return row.counters.get("probes_per_search")


def _over(archive: Archive, rows: list[Row], x: str, label: str, title: str) -> Figure:
    """Probes a search, and nanoseconds a search, over `x`."""
    figure, panels = style.new_figure(2, width=4.6, height=3.4)
    style.lines(panels[0], _lines(rows), x, _probes, is_counted=True)
    style.lines(panels[1], _lines(rows), x, lambda row, ms: 1e6 * ms / row.params["searches"])
    units = (PROBES, "time of one call / its searches (ns)")
    for axes, unit in zip(panels, units, strict=True):
        axes.set_xscale("log")
        style.from_zero(axes, label, unit)
    return style.finish(figure, archive, rows, title)


def run_length(archive: Archive) -> Figure:
    """Probes and time over the length of the runs."""
    rows = archive.timed_rows()
    title = f"Biased binary search in {rows[0].params['n']:,} keys"
    return _over(archive, rows, "run_length", "number of equal keys in each run", title)


def array_size(archive: Archive) -> Figure:
    """Probes and time over the size of the array."""
    rows = archive.timed_rows()
    title = f"Biased binary search, runs of {rows[0].params['run_length']} keys"
    return _over(archive, rows, "n", "number of keys", title)


def worked_example(archive: Archive) -> Figure:
    """The probes of the source's example, with each number of levels."""
    counted = [row for row in archive.timed_rows() if _probes(row) is not None]
    if not counted:
        raise NothingToDraw(f"{archive.name} has no row with counted probes")
    figure, (axes,) = style.new_figure(1, width=5.2, height=3)
    drawn = [line for line in _lines(counted) if line[1]]
    for place, (look, rows) in enumerate(drawn):
        point = style.Point(place, _probes(rows[0]), rows=(rows[0],))
        top = style.bar(axes, 0.7, point, replace(look, label=""))
        style.note_above(axes, place, top, f"{top:g}")
    axes.set_xticks(range(len(drawn)), [look.label.removesuffix(" (source)") for look, _ in drawn])
    style.from_zero(axes, "way to search (levels: those of the source)", PROBES)
    keys = counted[0].params["n"] - 1
    return style.finish(figure, archive, counted, f"The start of the last run of {keys:,} keys")


FIGURES = FigureSpec.named("biased_binary_search", run_length, array_size, worked_example)
