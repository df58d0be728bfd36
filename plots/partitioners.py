"""The figures of partitioners, one function each."""

from __future__ import annotations

from dataclasses import replace

import archive as archives
import style
from archive import Archive, NothingToDraw, Row
from figure import FigureSpec
from matplotlib.axes import Axes
from matplotlib.figure import Figure

LOOKS = {
    "side_bits": style.Look("side_bits", style.STRONG, "o", "-", 2.2, 6),
    "look_back": style.Look("look_back", style.MIDDLE, "s", "--"),
    "source": style.Look("source", style.SOURCE, "^", "-."),
    "cub": style.Look("CUB DevicePartition::If", style.PEER, "D", "-", 1.6, 5, hatch="////"),
}
# The source's four.
PARTITIONERS = {
    "multi_warp": style.Look("multi_warp", style.STRONG, "o", "-"),
    "warp_per_array": style.Look("warp_per_array", style.NAIVE, "s", "--"),
    "sub_warp": style.Look("sub_warp", style.MIDDLE, "^", "-."),
    "leaf": style.Look("leaf", style.LIGHT, "D", ":"),
}
OPERATIONS = {
    "partition": "two outputs",
    "partition_one_output": "two classes, one output",
    "three_way": "three outputs",
}
LEVEL = "number of levels above this one"


def _aims(axes: Axes, archive: Archive, n: int) -> None:
    """The times of a level that this project aims at."""
    for verdict in archive.verdicts:
        is_time = verdict.kind == "aim" and verdict.metric == "time_ms" and verdict.at_most
        if is_time and verdict.where.get("n") == n:
            of = verdict.where.get("variant", "the best")
            style.claim(axes, verdict.at_most, f"aim of {of}")


def _by_options(rows: list[Row]) -> list[tuple[style.Look, list[Row]]]:
    """The rows of each variant, of `source` those of each number of warps and way to find sides."""
    found = []
    for variant, look in LOOKS.items():
        of = archives.where(rows, variant=variant)
        colors = (style.SOURCE, style.NAIVE, style.LIGHT)
        options = {(row.params["warps"], row.params.get("sides", "compared")) for row in of}
        for place, (warps, sides) in enumerate(sorted(options)):
            named = look
            if variant == "source":
                label = f"source, {warps} warps" + (", sides noted" if sides == "noted" else "")
                color, marker = colors[place % 3], "^vD"[place % 3]
                named = replace(look, label=label, color=color, marker=marker)
            chosen = [
                row
                for row in archives.where(of, warps=warps)
                if row.params.get("sides", "compared") == sides
            ]
            found.append((named, chosen))
    return found


def levels(archive: Archive) -> Figure:
    """Time of each level of a tree, a panel for each number of tuples."""
    rows = archive.timed_rows(LOOKS)
    sizes = archives.values_of(rows, "n")
    figure, panels = style.new_figure(len(sizes), width=5.4, height=3.6, sharey=True)
    for axes, n in zip(panels, sizes, strict=True):
        style.lines(axes, _by_options(archives.where(rows, n=n)), "level", lambda _, ms: ms)
        _aims(axes, archive, n)
        axes.set_title(f"n = {n:,}")
        axes.set_xlabel(LEVEL)
        axes.tick_params(labelleft=True)
    style.from_zero(panels[0], "", style.CALL_MS)
    title = f"Levels of a k-d tree, {rows[0].params['d']} coordinates"
    return style.finish(figure, archive, rows, title)


def ranges(archive: Archive) -> Figure:
    """Time of each of the source's partitioners, over the levels that it can take."""
    rows = archive.timed_rows(["source"])
    warps = archives.values_of(rows, "warps")
    figure, panels = style.new_figure(len(warps), width=5.4, height=3.6, sharey=True)
    for axes, count in zip(panels, warps, strict=True):
        here = archives.where(rows, warps=count)
        series = [
            (look, archives.where(here, partitioner=name)) for name, look in PARTITIONERS.items()
        ]
        style.lines(axes, series, "level", lambda _, ms: ms)
        axes.set_yscale("log")
        axes.set_title(f"{count} warps")
        axes.set_xlabel(LEVEL)
        axes.tick_params(labelleft=True)
    panels[0].set_ylabel(style.CALL_MS)
    n = style.power_of_two(rows[0].params["n"])
    return style.finish(figure, archive, rows, f"The source's four partitioners, n = {n}")


def _panels(archive: Archive, rows: list[Row], draw, x: str, y: str, title: str) -> Figure:
    """A panel an operation: draw(axes, its rows)."""
    operations = [name for name in OPERATIONS if archives.where(rows, operation=name)]
    figure, panels = style.new_figure(len(operations), width=3.9, height=3.4, sharey=True)
    for axes, operation in zip(panels, operations, strict=True):
        draw(axes, archives.where(rows, operation=operation))
        axes.set_title(OPERATIONS[operation])
        axes.set_xlabel(x)
        axes.tick_params(labelleft=True)
    style.from_zero(panels[0], x, y)
    return style.finish(figure, archive, rows, title)


def partition(archive: Archive) -> Figure:
    """GB/s of partitions of plain elements over n, about half of them selected."""
    rows = archive.timed_rows(LOOKS)
    rows = archives.where(rows, share=archives.nearest(rows, "share", 0.5))

    def draw(axes: Axes, here: list[Row]) -> None:
        style.throughput_lines(axes, here, "n", LOOKS)
        style.ceiling(axes, archive.ceilings.get("copy_gb_per_s"), "measured copy")
        style.log2_axis(axes.xaxis, archives.values_of(here, "n"))

    title = f"Partitions of 4-byte elements, {100 * rows[0].params['share']:g} % selected"
    return _panels(archive, rows, draw, "number of elements, n", style.USEFUL_GB_PER_S, title)


def partition_speedup(archive: Archive) -> Figure:
    """The time of CUB over ours, over n, a line for each share."""
    rows = archive.timed_rows(LOOKS)
    ours = [row for row in archives.where(rows, variant="look_back") if archive.peer_of(row)]
    if not ours:
        raise NothingToDraw(f"{archive.name} has no point of CUB to compare with")
    shares = archives.values_of(ours, "share")

    def draw(axes: Axes, here: list[Row]) -> None:
        for place, share in enumerate(shares):
            points = [
                style.time_ratio(row.params["n"], archive.peer_of(row), row)
                for row in archives.along(archives.where(here, share=share), "n")
            ]
            if points:
                look = style.graded(f"{100 * share:g} % selected", place, len(shares))
                style.line(axes, points, look, ("n",))
        axes.axhline(1, color=style.PEER, linewidth=1.6, zorder=1)
        style.log2_axis(axes.xaxis, archives.values_of(here, "n"))

    title = "Partitions against CUB (above 1: faster than CUB)"
    y = "time of CUB / look_back (ratio)"
    return _panels(archive, ours, draw, "number of elements, n", y, title)


FIGURES = [
    FigureSpec("partitioners_levels", "levels", levels),
    FigureSpec("partitioners_ranges", "ranges", ranges),
    FigureSpec("partitioners_partition", "partition", partition),
    FigureSpec("partitioners_partition_speedup", "partition", partition_speedup),
]
