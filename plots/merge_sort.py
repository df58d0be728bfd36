"""The figures of merge_sort, one function each."""

from __future__ import annotations

import archive as archives
import style
from archive import Archive, NothingToDraw, Row
from figure import FigureSpec
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# By variant and low-level merge; peers have the first of these.
MERGE_PATH, RANK_SEARCH = "merge_path", "rank_search"
LOOKS = {
    ("multiway_merge", MERGE_PATH): style.Look("multiway_merge", style.STRONG, "o", "-", 2.2, 6),
    ("key_then_ties", MERGE_PATH): style.Look("key_then_ties", style.NAIVE, "X", "-", 1.8, 5),
    ("binary_merge", MERGE_PATH): style.Look("binary_merge (source)", style.MIDDLE, "s", "--"),
    ("binary_merge", RANK_SEARCH): style.Look(
        "binary_merge by rank search (source)", style.LIGHT, "^", ":"
    ),
    ("cub_merge", MERGE_PATH): style.Look(
        "CUB merge sort", style.PEER, "D", "-", 1.6, 5, hatch="////"
    ),
    ("cub_radix", MERGE_PATH): style.Look(
        "CUB radix sort (numbers only)", style.OTHER_PEER, "v", "-", 1.6, 4, hatch="...."
    ),
    ("thrust", MERGE_PATH): style.Look(
        "Thrust stable_sort", style.SOURCE, "P", "-.", 1.6, 4, hatch="\\\\\\\\"
    ),
}
OPERATIONS = {
    "superkeys": "references by superkey",
    "pairs": "float keys, 4-byte values",
    "keys": "4-byte keys",
}
DISTRIBUTIONS = {
    "few": "any 32\nbits",
    "uniform24": "uniform\n24 bits",
    "many": "one of\n1000",
    "equal": "all\nequal",
    "sorted": "sorted",
    "reversed": "reversed",
    "organ_pipe": "organ\npipe",
}
TYPES = ("float", "int32", "double", "int64")
# Bars of several n, by colour and hatch.
SIZES = ((style.NAIVE, ""), (style.LIGHT, ""), (style.NAIVE, "xxxx"), (style.LIGHT, "xxxx"))
ITEMS = "number of items, n"
RATE = "rate (million items/s)"


def _timed(archive: Archive) -> list[Row]:
    """The rows that have a look."""
    variants = {variant for variant, _ in LOOKS}
    return [row for row in archive.timed_rows(variants) if _key(row) in LOOKS]


def _key(row: Row) -> tuple[str, str]:
    return row.variant, row.params["low_level"]


def _series(rows: list[Row]) -> list[tuple[style.Look, list[Row]]]:
    """The rows of each look."""
    return [(look, [row for row in rows if _key(row) == key]) for key, look in LOOKS.items()]


def _named(rows: list[Row], parameter: str, names) -> list[str]:
    """The values of a parameter among the rows, in the order of `names`."""
    found = archives.values_of(rows, parameter)
    return [name for name in names if name in found]


def _of_superkeys(rows: list[Row]) -> str:
    """How many coordinates the tuples have, of what type."""
    row = archives.where(rows, operation="superkeys")[0]
    return f"tuples of {row.params['d']} × {row.params['type']}"


def _operation_panels(archive: Archive, rows: list[Row], draw, y: str, title: str) -> Figure:
    """A panel an operation, over n; draw(axes, rows of the operation)."""
    operations = _named(rows, "operation", OPERATIONS)
    figure, panels = style.new_figure(len(operations), width=3.9, height=3.4, sharey=True)
    for axes, operation in zip(panels, operations, strict=True):
        here = archives.where(rows, operation=operation)
        draw(axes, here)
        style.log2_axis(axes.xaxis, archives.values_of(here, "n"))
        axes.set_title(OPERATIONS[operation])
        axes.set_xlabel(ITEMS)
        axes.tick_params(labelleft=True)
    style.from_zero(panels[0], ITEMS, y)
    return style.finish(figure, archive, rows, title)


def _rate_at(row: Row, milliseconds: float) -> float:
    return row.params["n"] / milliseconds / 1e3


def throughput(archive: Archive) -> Figure:
    """Million items a second over n, a panel for each thing that is sorted."""
    rows = _timed(archive)

    def draw(axes: Axes, here: list[Row]) -> None:
        style.lines(axes, _series(here), "n", _rate_at)
        _aims(axes, archive, here)

    title = f"Stable sorts: {_of_superkeys(rows)}, pairs and keys, few ties"
    return _operation_panels(archive, rows, draw, RATE, title)


def _aims(axes: Axes, archive: Archive, rows: list[Row]) -> None:
    """The times that this project aims at, as rates."""
    ours = archives.where(rows, variant="multiway_merge")
    for verdict in archive.verdicts:
        if verdict.kind != "aim" or verdict.metric != "time_ms" or not verdict.at_most:
            continue
        aimed = archives.where(ours, **{k: v for k, v in verdict.where.items() if k != "variant"})
        if aimed:
            axes.plot(
                [row.params["n"] for row in aimed],
                [_rate_at(row, verdict.at_most) for row in aimed],
                linestyle="none",
                color=style.CLAIM,
                marker="_",
                markersize=13,
                markeredgewidth=2,
                label="aim, its time as a rate",
                zorder=7,
            )


def speedup(archive: Archive) -> Figure:
    """The time of CUB's merge sort over the time of each, at every point that both have."""
    rows = _timed(archive)
    base = {row.problem: row for row in archives.where(rows, variant="cub_merge")}
    if not base:
        raise NothingToDraw(f"{archive.name} has no point of CUB's merge sort to compare with")

    def draw(axes: Axes, here: list[Row]) -> None:
        for look, series in _series(here):
            points = [
                style.time_ratio(row.params["n"], base[problem], row)
                for row in archives.along(series, "n")
                if (problem := _with_merge_path(row)) in base and row.variant != "cub_merge"
            ]
            if points:
                style.line(axes, points, look, ("n",))
        axes.axhline(1, color=style.PEER, linewidth=1.6, zorder=1)

    title = "Against CUB's merge sort (above 1: faster than it)"
    y = "time of CUB / time (ratio)"
    return _operation_panels(archive, rows, draw, y, title)


def _with_merge_path(row: Row) -> tuple:
    """The row's problem as a peer has it: the low-level merge is ours alone."""
    params = dict(row.problem) | {"low_level": MERGE_PATH}
    return tuple(sorted(params.items()))


def passes(archive: Archive) -> Figure:
    """Passes over memory, and how near to the copy bandwidth they run, over n: by superkey."""
    rows = archives.where(_timed(archive), operation="superkeys")
    rows = [row for row in rows if "passes_count" in row.counters]
    copy = archive.ceilings.get("copy_gb_per_s")
    if not rows or not copy:
        raise NothingToDraw(f"{archive.name} has no counted passes beside a measured copy")
    figure, panels = style.new_figure(2, width=4.6, height=3.4)
    counted = [(look, of) for look, of in _series(rows) if "rank" not in look.label]
    style.lines(
        panels[0], counted, "n", lambda row, _: row.counters["passes_count"], is_counted=True
    )
    style.lines(
        panels[1],
        _series(rows),
        "n",
        lambda row, ms: 100 * row.counters["moved_bytes"] / ms / 1e6 / copy,
    )
    for axes, name in zip(
        panels, ("passes over memory (count)", "throughput of the passes / copy (%)"), strict=True
    ):
        style.log2_axis(axes.xaxis, archives.values_of(rows, "n"))
        style.from_zero(axes, ITEMS, name)
    return style.finish(figure, archive, rows, "Passes over memory of our sorts by superkey")


def _bars(axes: Axes, rows: list[Row], group: str, names: list[str]) -> None:
    """Milliseconds in bars, a group for each value of the parameter, the time on each bar."""
    series = [(look, of) for look, of in _series(rows) if of]
    width = 0.86 / max(1, len(series))
    for place, name in enumerate(names):
        for rank, (look, of) in enumerate(series):
            x = place + (rank - (len(series) - 1) / 2) * width
            for row in archives.where(of, **{group: name}):
                top = style.bar(axes, width, style.timed(x, row), look)
                style.note_above(axes, x, top, f"{row.timing.median:.3g}")
    axes.set_xticks(range(len(names)), [DISTRIBUTIONS[name] for name in names])


def ties(archive: Archive) -> Figure:
    """Time by how often values tie, at each n; and how many tuples tie."""
    rows = _timed(archive)
    names, sizes = _named(rows, "distribution", DISTRIBUTIONS), archives.values_of(rows, "n")
    figure, panels = style.new_figure(len(sizes) + 1, width=5.8, height=3.6)
    for axes, n in zip(panels, sizes, strict=False):
        _bars(axes, archives.where(rows, n=n), "distribution", names)
        axes.set_title(f"n = {style.power_of_two(n)}")
        style.from_zero(axes, "coordinates", style.CALL_MS)
    width = 0.86 / len(sizes)
    axes = panels[-1]
    for rank, n in enumerate(sizes):
        color, hatch = SIZES[rank % len(SIZES)]
        look = style.Look(f"n = {style.power_of_two(n)}", color, hatch=hatch)
        for place, name in enumerate(names):
            found = archives.where(rows, n=n, distribution=name, variant="binary_merge")
            for row in found[:1]:
                share = row.counters["tied_items_percent"]
                x = place + (rank - (len(sizes) - 1) / 2) * width
                top = style.bar(axes, width, style.Point(x, share, rows=(row,)), look)
                style.note_above(axes, x, top, f"{share:.3g}")
    axes.set_xticks(range(len(names)), [DISTRIBUTIONS[name] for name in names])
    axes.set_title("tuples whose coordinate another one has")
    style.from_zero(axes, "coordinates", "share of all tuples (%)")
    return style.finish(
        figure, archive, rows, f"Ties, {_of_superkeys(rows)} (on the bars: ms, and %)"
    )


def types(archive: Archive) -> Figure:
    """Time over the number of coordinates, a panel a type."""
    rows = _timed(archive)
    rows = archives.where(rows, n=max(archives.values_of(rows, "n")))
    names = _named(rows, "type", TYPES)
    figure, panels = style.new_figure(len(names), width=3.2, height=3.2, sharey=True)
    for axes, name in zip(panels, names, strict=True):
        here = archives.where(rows, type=name)
        style.lines(axes, _series(here), "d", lambda _, ms: ms)
        axes.set_title(name)
        axes.set_xticks(archives.values_of(here, "d"))
        axes.set_xlabel("number of coordinates")
        axes.tick_params(labelleft=True)
    style.from_zero(panels[0], "", style.CALL_MS)
    n = rows[0].params["n"]
    return style.finish(figure, archive, rows, f"References by superkey, {n:,} tuples")


def orders(archive: Archive) -> Figure:
    """Time of what is sorted, reversed, or rises and falls, a panel for each thing sorted."""
    rows = _timed(archive)
    rows = archives.where(rows, n=max(archives.values_of(rows, "n")))
    operations = _named(rows, "operation", OPERATIONS)
    names = _named(rows, "distribution", DISTRIBUTIONS)
    figure, panels = style.new_figure(len(operations), width=5.2, height=3.6)
    for axes, operation in zip(panels, operations, strict=True):
        _bars(axes, archives.where(rows, operation=operation), "distribution", names)
        axes.set_title(OPERATIONS[operation])
        style.from_zero(axes, "order before the sort", style.CALL_MS)
    n = style.power_of_two(rows[0].params["n"])
    return style.finish(figure, archive, rows, f"Orders before the sort, n = {n} (on the bars: ms)")


FIGURES = [
    FigureSpec("merge_sort_throughput", "throughput", throughput),
    FigureSpec("merge_sort_speedup", "throughput", speedup),
    FigureSpec("merge_sort_passes", "throughput", passes),
    FigureSpec("merge_sort_ties", "ties", ties),
    FigureSpec("merge_sort_types", "types", types),
    FigureSpec("merge_sort_orders", "orders", orders),
]
