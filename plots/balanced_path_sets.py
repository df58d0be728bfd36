"""The figures of balanced_path_sets, one function each."""

from __future__ import annotations

import archive as archives
import modern_gpu
import style
from archive import Archive, NothingToDraw, Row
from figure import FigureSpec
from matplotlib.figure import Figure

LOOKS = {
    "single_pass": style.Look("single_pass", style.STRONG, "o", "-", 2.2, 6),
    # Waits for the count on the host, as Thrust's calls do.
    "single_pass_get": style.Look("single_pass, with its count", style.SOURCE, ">", "-.", 1.6, 5),
    "compact": style.Look("compact (source)", style.MIDDLE, "s", "--"),
    "count_scan_stream": style.Look("count_scan_stream (source)", style.LIGHT, "v", ":"),
    "thrust": style.Look("Thrust", style.PEER, "D", "-", hatch="////"),
}
OPERATIONS = ("intersection", "union", "difference", "symmetric_difference")
# The kinds of input, by the harness's parameters `key` and `values`.
INPUTS = {
    ("i32", "off"): "4-byte keys",
    ("i64", "off"): "8-byte keys",
    ("i32", "on"): "4-byte keys and values",
    ("i64", "on"): "8-byte keys and values",
}
# The distributions, named by their number of different keys; the last one is `doc` with 99 % of the
# keys in A.
DISTRIBUTIONS = {
    "doc": style.Look("n/2 different keys", style.STRONG, "o", "-", 2.2, 6),
    "few": style.Look("n/20", style.MIDDLE, "s", "--"),
    "heavy1000": style.Look("n/2000", style.LIGHT, "v", ":"),
    "huge16": style.Look("16", style.NAIVE, "^", "-."),
    "unique": style.Look("no key twice", style.PEER, "D"),
    "99 to 1": style.Look("n/2, A and B as 99 to 1", style.CLAIM, "P"),
}


def _name(operation: str) -> str:
    return operation.replace("_", " ")


def throughput(archive: Archive) -> Figure:
    """GB/s at the largest n, by operation and type; the time in ms on each bar."""
    rows = archive.timed_rows(LOOKS)
    rows = archives.where(rows, n=max(archives.values_of(rows, "n")))
    figure, panels = style.new_figure(2, 2, width=6.8, height=2.9, sharey=True)
    for axes, ((key, values), title) in zip(panels, INPUTS.items(), strict=True):
        here = archives.where(rows, key=key, values=values)
        variants = [name for name in LOOKS if archives.where(here, variant=name)]
        width = 0.88 / max(1, len(variants))
        for group, operation in enumerate(OPERATIONS):
            for place, variant in enumerate(variants):
                x = group + (place - (len(variants) - 1) / 2) * width
                for row in archives.where(here, operation=operation, variant=variant):
                    point = style.timed(x, row, Row.gb_per_s_at)
                    top = style.bar(axes, width, point, LOOKS[variant])
                    style.note_above(axes, x, top, f"{row.timing.median:.3g}")
        style.ceiling(axes, archive.ceilings.get("copy_gb_per_s"), "measured copy")
        axes.set_title(title)
        names = [_name(operation).replace(" ", "\n") for operation in OPERATIONS]
        axes.set_xticks(range(len(OPERATIONS)), names)
        axes.set_xlabel("set operation")
        axes.tick_params(labelleft=True)
    style.from_zero(panels[0])
    for axes in panels[::2]:
        axes.set_ylabel(style.USEFUL_GB_PER_S)
    keys = rows[0].params["n"]
    return style.finish(
        figure, archive, rows, f"Set operations, {keys:,} keys in all (on the bars: ms)"
    )


def sizes(archive: Archive) -> Figure:
    """GB/s over n, 4-byte keys, a panel an operation."""
    rows = archives.where(archive.timed_rows(LOOKS), key="i32", values="off")
    if len(archives.values_of(rows, "n")) < 2:
        raise NothingToDraw(f"{archive.name} was run at one n only")
    figure, panels = style.new_figure(4, width=2.9, height=2.9, sharey=True)
    for axes, operation in zip(panels, OPERATIONS, strict=True):
        style.throughput_lines(axes, archives.where(rows, operation=operation), "n", LOOKS)
        style.ceiling(axes, archive.ceilings.get("copy_gb_per_s"), "measured copy")
        axes.set_xscale("log")
        axes.set_title(_name(operation))
        axes.set_xlabel("number of keys in both inputs")
        axes.tick_params(labelleft=True)
    style.from_zero(panels[0])
    panels[0].set_ylabel(style.USEFUL_GB_PER_S)
    return style.finish(figure, archive, rows, "Set operations over n, 4-byte keys")


def _distribution(row: Row) -> str:
    return "99 to 1" if row.params["a_percent"] == 99 else row.params["distribution"]


def distributions(archive: Archive) -> Figure:
    """Speed-up of single_pass over Thrust, over n, a line for each distribution of the keys.

    Draws single_pass_get if it was run, since Thrust's calls return the count to the host, too.
    """
    timed = archive.timed_rows(LOOKS)
    with_count = archives.where(timed, variant="single_pass_get")
    rows = with_count or archives.where(timed, variant="single_pass")
    rows = [row for row in rows if archive.speedup_over_peer(row)]
    if not rows:
        raise NothingToDraw(f"{archive.name} has no point of single_pass with Thrust beside it")
    figure, panels = style.new_figure(4, width=2.9, height=3.8, sharey=True)
    for axes, operation in zip(panels, OPERATIONS, strict=True):
        for kind, look in DISTRIBUTIONS.items():
            series = archives.along(
                [
                    row
                    for row in archives.where(rows, operation=operation)
                    if _distribution(row) == kind
                ],
                "n",
            )
            points = [
                style.time_ratio(row.params["n"], archive.peer_of(row), row) for row in series
            ]
            if points:
                style.line(axes, points, look, ("n",))
        style.ceiling(axes, 1.0, "as fast as Thrust")
        axes.set_xscale("log")
        axes.set_title(_name(operation))
        axes.set_xlabel("number of keys in both inputs")
        axes.tick_params(labelleft=True)
    style.from_zero(panels[0])
    panels[0].set_ylabel("time of Thrust / ours (ratio)")
    return style.finish(figure, archive, rows, "Set operations by distribution, against Thrust")


def published(archive: Archive) -> Figure:
    """The published tables: million keys a second, on GPUs in 2013 and on this one."""
    rows = archive.timed_rows(LOOKS)
    figure, panels = style.new_figure(4, 4, width=2.7, height=2.2, sharey=True, sharex=True)
    cells = [(types, operation) for types in INPUTS.items() for operation in OPERATIONS]
    for axes, (((key, values), title), operation) in zip(panels, cells, strict=True):
        here = archives.where(rows, key=key, values=values, operation=operation)
        style.lines(
            axes, style.by_variant(here, LOOKS), "n", lambda row, ms: row.params["n"] / ms / 1e3
        )
        table = "multisets_pairs" if values == "on" else "multisets_keys"
        for gpu, look in modern_gpu.LOOKS.items():
            x, rate = modern_gpu.rates(table, gpu, key=key, op=operation)
            style.line(axes, style.published_points(x, rate), look)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(f"{_name(operation)}\n{title}", fontsize=8)
    for axes in panels[::4]:
        axes.set_ylabel("rate (million keys/s)")
    for axes in panels[-4:]:
        axes.set_xlabel("number of keys in both inputs")
    return style.finish(figure, archive, rows, "Set operations: the published tables")


FIGURES = [
    FigureSpec("balanced_path_sets_throughput", "throughput", throughput),
    FigureSpec("balanced_path_sets_sizes", "throughput", sizes),
    FigureSpec("balanced_path_sets_distributions", "distributions", distributions),
    FigureSpec("balanced_path_sets_published", "published", published),
]
