"""The figures of load_balancing_search, one function each."""

from __future__ import annotations

import archive as archives
import modern_gpu
import style
from archive import Archive, NothingToDraw, Row
from figure import FigureSpec
from matplotlib.figure import Figure

AN_OBJECT = "work items of an object, mean (count)"
LOOKS = {
    "output_aligned": style.Look("output_aligned", style.STRONG, "o", "-", 2.2, 6),
    "merge_path": style.Look("merge_path (source)", style.MIDDLE, "s", "--"),
    "upper_bound": style.Look("upper_bound (naive)", style.NAIVE, "v", ":"),
    "thrust_scatter_scan": style.Look(
        "Thrust: scatter, maximum scan", style.PEER, "D", "-", hatch="////"
    ),
    "thrust_upper_bound": style.Look(
        "Thrust: upper bound", style.OTHER_PEER, "^", "-.", hatch="xxxx"
    ),
}


def throughput(archive: Archive) -> Figure:
    """GB/s at the largest n, by items per object; the time in ms on each bar."""
    rows = archive.timed_rows(LOOKS)
    rows = archives.where(rows, n=max(archives.values_of(rows, "n")))
    cases = sorted(
        {(row.params["distribution"], row.params["average"]) for row in rows},
        key=lambda case: (case[0] != "random", case),
    )
    variants = [name for name in LOOKS if archives.where(rows, variant=name)]
    figure, panels = style.new_figure(1, width=2 + 1.7 * len(cases), height=3.6)
    width = 0.8 / len(variants)
    for group, (distribution, average) in enumerate(cases):
        for place, variant in enumerate(variants):
            found = archives.where(
                rows, distribution=distribution, average=average, variant=variant
            )
            for row in found:
                x = group + (place - (len(variants) - 1) / 2) * width
                point = style.timed(x, row, Row.gb_per_s_at)
                top = style.bar(panels[0], width, point, LOOKS[variant])
                style.note_above(panels[0], x, top, f"{row.timing.median:.3g}")
    style.ceiling(panels[0], archive.ceilings.get("copy_gb_per_s"), "measured copy")
    names = [
        f"{average:g}" + ("" if kind == "random" else f",\n{kind.replace('_', ' ')}")
        for kind, average in cases
    ]
    panels[0].set_xticks(range(len(cases)), names)
    panels[0].set_xlabel(AN_OBJECT)
    style.from_zero(panels[0])
    panels[0].set_ylabel(style.USEFUL_GB_PER_S)
    items = rows[0].params["n"]
    return style.finish(
        figure, archive, rows, f"Load-balancing search, {items:,} work items (on the bars: ms)"
    )


def sizes(archive: Archive) -> Figure:
    """GB/s over n, four items an object."""
    rows = archives.where(archive.timed_rows(LOOKS), distribution="random")
    rows = archives.where(rows, average=archives.nearest(rows, "average", 4))
    if len(archives.values_of(rows, "n")) < 2:
        raise NothingToDraw(f"{archive.name} was run at one n only")
    figure, panels = style.new_figure(1, width=6.2, height=3.4)
    style.throughput_lines(panels[0], rows, "n", LOOKS)
    style.ceiling(panels[0], archive.ceilings.get("copy_gb_per_s"), "measured copy")
    panels[0].set_xscale("log")
    panels[0].set_xlabel("number of work items")
    panels[0].set_ylabel(style.USEFUL_GB_PER_S)
    style.from_zero(panels[0])
    average = rows[0].params["average"]
    return style.finish(
        figure, archive, rows, f"Load-balancing search over n, {average:g} items an object"
    )


def distributions(archive: Archive) -> Figure:
    """GB/s over the average of items an object, a panel a distribution of the counts."""
    rows = archive.timed_rows(LOOKS)
    kinds = archives.values_of(rows, "distribution")
    columns = min(3, len(kinds) + 1)
    lines = -(-(len(kinds) + 1) // columns)
    figure, panels = style.new_figure(columns, lines, sharey=True)
    for axes, kind in zip(panels, kinds, strict=False):
        here = archives.where(rows, distribution=kind)
        style.throughput_lines(axes, here, "average", LOOKS)
        style.ceiling(axes, archive.ceilings.get("copy_gb_per_s"), "measured copy")
        axes.set_xscale("log", base=4)
        axes.set_title(kind.replace("_", " "))
        axes.set_xlabel(AN_OBJECT)
        averages = archives.values_of(here, "average")
        axes.set_xticks(averages, [f"{average:g}" for average in averages])
        axes.minorticks_off()
        axes.tick_params(labelleft=True)
    style.from_zero(panels[0])
    for axes in panels[::columns]:
        axes.set_ylabel(style.USEFUL_GB_PER_S)
    style.legend_panel(panels[len(kinds)])
    for axes in panels[len(kinds) + 1 :]:
        axes.axis("off")
    items = rows[0].params["n"]
    return style.finish(
        figure, archive, rows, f"Load-balancing search by distribution, {items:,} items"
    )


def published(archive: Archive) -> Figure:
    """The published tables: million items and objects a second, on GPUs in 2013 and on this one."""
    rows = archive.timed_rows(LOOKS)
    total = {id(row): row.params["n"] + row.params["objects"] for row in rows}
    figure, panels = style.new_figure(2, width=4.6, height=3.9)
    # Over the total, of which a quarter are objects; over the objects, of a total of 10 million.
    halves = (
        ("lbs_quarter_objects_total_elements", "number of items and objects, a quarter objects"),
        ("lbs_10M_total_by_objects", "objects (million) of 10 million items and objects"),
    )
    for axes, (table, label) in zip(panels, halves, strict=True):
        by_objects = table.endswith("by_objects")
        for variant, look in LOOKS.items():
            line = sorted(
                (row.params["objects"] / 1e6 if by_objects else total[id(row)], row)
                for row in archives.where(rows, variant=variant)
                if (total[id(row)] == 10_000_000 if by_objects else _is_quarter(row))
            )
            if line:
                points = [
                    style.timed(x, row, lambda row, ms: total[id(row)] / ms / 1e3)
                    for x, row in line
                ]
                style.line(axes, points, look, ("n", "objects"))
        for gpu, look in modern_gpu.LOOKS.items():
            x, rate = modern_gpu.rates(table, gpu)
            x = [objects / 1e6 for objects in x] if by_objects else x
            style.line(axes, style.published_points(x, rate), look)
        axes.set_xscale("linear" if by_objects else "log")
        axes.set_yscale("log")
        axes.set_xlabel(label)
        axes.set_ylabel("rate (million items and objects/s)")
    return style.finish(figure, archive, rows, "Load-balancing search: the published tables")


def _is_quarter(row: Row) -> bool:
    return row.params["n"] == 3 * row.params["objects"]


def tile_size(archive: Archive) -> Figure:
    """GB/s of the source's form over the steps that each thread takes, by items an object."""
    rows = archives.where(archive.timed_rows(LOOKS), variant="merge_path")
    if not rows:
        raise NothingToDraw(f"{archive.name} has no point of merge_path timed on a GPU")
    averages = archives.values_of(rows, "average")
    figure, panels = style.new_figure(1, width=6.8, height=3.4)
    lines = [
        (
            style.graded(f"mean of {average:g} items an object", place, len(averages)),
            archives.where(rows, average=average),
        )
        for place, average in enumerate(averages)
    ]
    style.lines(panels[0], lines, "items_per_thread", Row.gb_per_s_at)
    style.ceiling(panels[0], archive.ceilings.get("copy_gb_per_s"), "measured copy")
    panels[0].set_xticks(archives.values_of(rows, "items_per_thread"))
    panels[0].set_xlabel("steps of the merge path in each of a block's 128 threads (count)")
    panels[0].set_ylabel(style.USEFUL_GB_PER_S)
    style.from_zero(panels[0])
    items = rows[0].params["n"]
    return style.finish(
        figure, archive, rows, f"Tile size of merge_path, {items:,} work items"
    )


INTERVAL_LOOKS = {
    "interval_expand": style.Look("interval_expand, interval_move", style.STRONG, "o"),
    "interval_move": style.Look("interval_expand, interval_move", style.STRONG, "o"),
    "search_alone": style.Look("search alone: stores no value", style.LIGHT, "s", hatch="...."),
    "for_each_work_item": style.Look(
        "for_each_work_item (source's tiles)", style.MIDDLE, "v", hatch="\\\\\\\\"
    ),
    "search_then_gather": style.Look(
        "search, then thrust::gather", style.PEER, "D", hatch="////"
    ),
    "cub_batched_copy": style.Look("CUB DeviceCopy::Batched", style.PEER, "D", hatch="////"),
    "cub_batched_memcpy": style.Look(
        "CUB DeviceMemcpy::Batched", style.OTHER_PEER, "^", hatch="xxxx"
    ),
}


def intervals(archive: Archive) -> Figure:
    """ms by items an object, elements of 4 bytes, and by bytes of an element; two operations."""
    rows = archive.timed_rows(INTERVAL_LOOKS)
    figure, panels = style.new_figure(2, 2, width=6.2, height=2.9)
    for column, operation in enumerate(("interval_expand", "interval_move")):
        here = archives.where(rows, operation=operation)
        if not here:
            raise NothingToDraw(f"{archive.name} has no {operation} timed on a GPU")
        lengths = archives.where(here, element_bytes=4)
        sizes = [row for row in here if row.params["element_bytes"] != 4]
        _bars(
            panels[column],
            lengths,
            ("order", "average"),
            lambda order, average, operation=operation: f"{average:g}"
            + (f"\n{order}" if operation == "interval_move" else ""),
        )
        panels[column].set_title(f"{operation}, elements of 4 bytes")
        panels[column].set_xlabel(AN_OBJECT)
        items = {row.params["n"] for row in sizes}
        averages = {row.params["average"] for row in sizes}
        _bars(panels[2 + column], sizes, ("element_bytes",), lambda size: f"{size}")
        panels[2 + column].set_title(
            f"{operation}, {max(items, default=0):,} items, {max(averages, default=0):g} an object"
        )
        panels[2 + column].set_xlabel("size of an element (bytes)")
    return style.finish(
        figure, archive, rows, "Interval expand and move: time (random lengths, whole calls)"
    )


def _packed_first(values: tuple) -> tuple:
    return tuple(value != "packed" if isinstance(value, str) else value for value in values)


def _bars(axes, rows: list[Row], names: tuple[str, ...], label) -> None:
    """A group of bars for each value of the parameters `names`, the variants side by side."""
    groups = sorted({tuple(row.params[name] for name in names) for row in rows}, key=_packed_first)
    variants = [name for name in INTERVAL_LOOKS if archives.where(rows, variant=name)]
    width = 0.84 / max(1, len(variants))
    for group, values in enumerate(groups):
        found = archives.where(rows, **dict(zip(names, values, strict=True)))
        for place, variant in enumerate(variants):
            for row in archives.where(found, variant=variant):
                x = group + (place - (len(variants) - 1) / 2) * width
                point = style.timed(x, row)
                top = style.bar(axes, width, point, INTERVAL_LOOKS[variant])
                style.note_above(axes, x, top, f"{row.timing.median:.3g}")
    axes.set_xticks(range(len(groups)), [label(*values) for values in groups])
    style.from_zero(axes)
    axes.set_ylabel("time (ms)")


FIGURES = [
    FigureSpec("load_balancing_search_throughput", "throughput", throughput),
    FigureSpec("load_balancing_search_sizes", "throughput", sizes),
    FigureSpec("load_balancing_search_distributions", "distributions", distributions),
    FigureSpec("load_balancing_search_published", "published", published),
    FigureSpec("load_balancing_search_tile_size", "tile_size", tile_size),
    FigureSpec("load_balancing_search_intervals", "intervals", intervals),
]
