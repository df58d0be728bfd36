"""The figures of kd_tree, one function each."""

from __future__ import annotations

from dataclasses import replace

import archive as archives
import style
from archive import Archive, Row
from figure import FigureSpec
from matplotlib.axes import Axes
from matplotlib.figure import Figure

BUILDS = {
    "fast": style.Look("fast", style.STRONG, "o", "-", 2.2, 6),
    "four_partitioners": style.Look("four_partitioners (source)", style.SOURCE, "^", "-."),
    "half_sorts": style.Look("half_sorts (source)", style.NAIVE, "s", "--"),
    "cpu": style.Look("CPU, Brown's build", style.PEER, "D", ":"),
}
FORMS = ("ask_stores", "ask_nodes", "ask_in_order", "ask_sorted")
LOOKS_OF_QUERIES = {
    ("ask_nodes", "random"): style.Look("nodes, at random", style.NAIVE, "s", "--"),
    ("ask_stores", "random"): style.Look("median stores, at random", style.SOURCE, "^", "-."),
    ("ask_stores", "curve"): style.Look("median stores, along a curve", style.PEER, "D", ":"),
    ("ask_in_order", "random"): style.Look("put in order, at random", style.MIDDLE, "v", "-"),
    ("ask_sorted", "random"): style.Look("and queries sorted", style.STRONG, "o", "-", 2.2, 6),
}
VERIFIED = {
    "verify_stores": style.Look("median stores", style.STRONG, "o", "-"),
    "verify_nodes": style.Look("nodes", style.SOURCE, "^", "-."),
}
OPERATIONS = {"nearest": "nearest", "k_nearest": "{k} nearest"}
TUPLES = "number of tuples, n"


def _over_n(panels: list[Axes], rows: list[Row], y: str) -> None:
    """Both axes in powers; as both are, the times of one curve stay comparable."""
    for axes in panels:
        axes.set_yscale("log")
        axes.set_xlabel(TUPLES)
        axes.tick_params(labelleft=True)
        style.log2_axis(axes.xaxis, archives.values_of(rows, "n"))
    panels[0].set_ylabel(y)


def _builds(rows: list[Row]) -> list[tuple[style.Look, list[Row]]]:
    """The rows of each variant; of `cpu` those of each number of threads."""
    found = []
    for variant, look in BUILDS.items():
        of = archives.where(rows, variant=variant)
        if variant != "cpu":
            found.append((look, of))
            continue
        kinds = [(style.PEER, "D", ":"), (style.MIDDLE, "v", "-")]
        for threads, (color, marker, dashes) in zip(
            archives.values_of(of, "threads"), kinds, strict=False
        ):
            label = f"{look.label}, {threads} threads"
            named = replace(look, label=label, color=color, marker=marker, dashes=dashes)
            found.append((named, archives.where(of, threads=threads)))
    return found


def build(archive: Archive) -> Figure:
    """Time of a build over n, a panel for each number of coordinates."""
    rows = archives.where(archive.timed_rows(BUILDS), duplicates=0)
    several = [
        d
        for d in archives.values_of(rows, "d")
        if len(archives.values_of(archives.where(rows, d=d), "n")) > 1
    ]
    dimensions = several or archives.values_of(rows, "d")
    figure, panels = style.new_figure(len(dimensions), width=4.6, height=3.6, sharey=True)
    drawn = []
    for axes, d in zip(panels, dimensions, strict=True):
        here = archives.where(rows, d=d)
        drawn += here
        style.lines(axes, _builds(here), "n", lambda _, ms: ms)
        axes.set_title(f"{d} coordinates")
    _over_n(panels, drawn, style.CALL_MS)
    return style.finish(figure, archive, drawn, "Building a balanced k-d tree")


def duplicates(archive: Archive) -> Figure:
    """Time of a build that removes duplicates, over their share."""
    rows = archives.where(archive.timed_rows(BUILDS), removes_duplicates="on")
    if not rows:
        raise archives.NothingToDraw(f"{archive.name} has no point that removes duplicates")
    figure, panels = style.new_figure(1, width=5.4, height=3.4)
    style.lines(panels[0], _builds(rows), "duplicates", lambda _, ms: ms)
    style.from_zero(panels[0], "share of tuples that are copies (ratio)", style.CALL_MS)
    size = style.power_of_two(rows[0].params["n"])
    title = f"Builds without duplicates, n = {size}, {rows[0].params['d']} coordinates"
    return style.finish(figure, archive, rows, title)


def queries(archive: Archive) -> Figure:
    """Time of a query over n, uniform tuples: a panel an operation and number of coordinates."""
    rows = archives.where(archive.timed_rows(FORMS), distribution="uniform")
    kinds = [
        (operation, d)
        for operation in OPERATIONS
        for d in archives.values_of(rows, "d")
        if archives.where(rows, operation=operation, d=d)
    ]
    figure, panels = style.new_figure(len(kinds), width=3.4, height=3.6, sharey=True)

    def nanoseconds(row: Row, ms: float) -> float:
        return 1e6 * ms / row.params["queries"]

    for axes, (operation, d) in zip(panels, kinds, strict=True):
        here = archives.where(rows, operation=operation, d=d)
        for (variant, order), look in LOOKS_OF_QUERIES.items():
            of = archives.where(here, variant=variant, query_order=order)
            style.lines(axes, [(look, of)], "n", nanoseconds)
        axes.set_title(f"{OPERATIONS[operation].format(k=here[0].params['k'])}, {d} coordinates")
    _over_n(panels, rows, "time of a query (ns)")
    return style.finish(figure, archive, rows, "Queries over a balanced k-d tree")


def verify(archive: Archive) -> Figure:
    """Time of a verification over n, of either form of the tree."""
    rows = archive.timed_rows(VERIFIED)
    figure, panels = style.new_figure(1, width=5.4, height=3.6)
    style.lines(panels[0], style.by_variant(rows, VERIFIED), "n", lambda _, ms: ms)
    _over_n(panels, rows, style.CALL_MS)
    title = f"Verifying a tree, {rows[0].params['d']} coordinates"
    return style.finish(figure, archive, rows, title)


FIGURES = [
    FigureSpec("kd_tree_build", "build", build),
    FigureSpec("kd_tree_duplicates", "build", duplicates),
    FigureSpec("kd_tree_queries", "queries", queries),
    FigureSpec("kd_tree_verify", "verify", verify),
]
