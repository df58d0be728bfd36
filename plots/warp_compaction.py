"""The figures of warp_compaction, one function each."""

from __future__ import annotations

import archive as archives
import style
from archive import Archive, NothingToDraw, Row
from figure import FigureSpec
from matplotlib.axes import Axes
from matplotlib.figure import Figure

LOOKS = {
    "single_pass": style.Look("single_pass", style.STRONG, "o", "-", 2.2, 6),
    "two_pass_recount": style.Look("two_pass_recount (Billeter)", style.MIDDLE, "s", "--"),
    "two_pass_copy": style.Look("two_pass_copy (source)", style.LIGHT, "^", ":"),
    "cub": style.Look("CUB", style.PEER, "D", "-", 1.6, 5, hatch="////"),
}
ELEMENTS = "number of elements, n"
OPERATIONS = ("select_if", "select_flagged", "unique", "unique_by_key", "remove_duplicates")


def _operations(rows: list[Row]) -> list[str]:
    found = archives.values_of(rows, "operation")
    return sorted(found, key=lambda name: OPERATIONS.index(name) if name in OPERATIONS else 99)


def _half_kept(rows: list[Row]) -> list[Row]:
    """The rows of the selectivity that comes nearest to one half."""
    return archives.where(rows, selectivity=archives.nearest(rows, "selectivity", 0.5))


def _four_bytes(rows: list[Row]) -> list[Row]:
    """The rows of the element size that comes nearest to 4 bytes."""
    return archives.where(rows, element_bytes=archives.nearest(rows, "element_bytes", 4))


def _at_largest_n(rows: list[Row], sweeping: str) -> list[Row]:
    """The rows at that n which has the most values of the swept parameter; the largest such n."""
    sizes = archives.values_of(rows, "n")
    swept = {n: len(archives.values_of(archives.where(rows, n=n), sweeping)) for n in sizes}
    return archives.where(rows, n=max(sizes, key=lambda n: (swept[n], n)))


def _only_coalesced(rows: list[Row]) -> list[Row]:
    """Where the write buffer was swept, the rows that have it on."""
    values = archives.values_of(rows, "coalescing")
    return archives.where(rows, coalescing="on") if len(values) > 1 else rows


def _aims(axes: Axes, archive: Archive, rows: list[Row], x: str) -> None:
    """The times that this project aims at, as the GB/s that they mean at each point."""
    ours = archives.where(rows, variant="single_pass")
    for verdict in archive.verdicts:
        if verdict.kind != "aim" or verdict.metric != "time_ms" or not verdict.at_most:
            continue
        aimed = archives.along(archives.where(ours, **verdict.where), x)
        if aimed:
            axes.plot(
                [row.params[x] for row in aimed],
                [row.gb_per_s_at(verdict.at_most) for row in aimed],
                linestyle=(0, (2, 1.5)),
                color=style.CLAIM,
                linewidth=1.1,
                marker="_",
                markersize=11,
                markeredgewidth=1.6,
                label="aim of single_pass, its time as GB/s",
                zorder=7,
            )


def _own_scale(axes: Axes, ceiling: float | None) -> bool:
    """Gives a panel far below the ceiling its own scale, and notes it; returns whether it did."""
    top = max((max(line.get_ydata()) for line in axes.get_lines()), default=0)
    if not ceiling or not top or top > ceiling / 4:
        return False
    axes.set_ylim(0, 1.25 * top)
    text = f"own scale: measured copy is {ceiling:,.0f} GB/s"
    axes.text(0.012, 0.99, text, transform=axes.transAxes, fontsize=7.5, va="top")
    return True


def _on_one_scale(panels: list[Axes]) -> None:
    """Gives panels one y axis from zero."""
    top = max((axes.get_ylim()[1] for axes in panels), default=0)
    for axes in panels:
        axes.set_ylim(0, 1.06 * top)


def _scale(panels: list[Axes], ceiling: float | None) -> None:
    """The ceiling and one scale for all panels but those far below it."""
    near = [axes for axes in panels if not _own_scale(axes, ceiling)]
    for axes in near:
        style.ceiling(axes, ceiling, "measured copy")
    _on_one_scale(near)


def _operation_panels(archive: Archive, rows: list[Row], x: str, x_label: str) -> Figure:
    """One panel an operation, GB/s over `x`; the last panel is the legend."""
    operations = _operations(rows)
    columns = min(3, len(operations) + 1)
    lines = -(-(len(operations) + 1) // columns)
    figure, panels = style.new_figure(columns, lines)
    for axes, operation in zip(panels, operations, strict=False):
        of_operation = archives.where(rows, operation=operation)
        style.throughput_lines(axes, of_operation, x, LOOKS)
        _aims(axes, archive, of_operation, x)
        axes.set_title(operation)
        axes.set_xlabel(x_label)
        if x == "n":
            style.log2_axis(axes.xaxis, archives.values_of(of_operation, "n"))
        else:
            style.percent_axis(axes.xaxis)
            axes.set_title(f"{operation}, n = {style.power_of_two(of_operation[0].params['n'])}")
    _scale(panels[: len(operations)], archive.ceilings.get("copy_gb_per_s"))
    for axes in panels[::columns]:
        axes.set_ylabel(style.USEFUL_GB_PER_S)
    style.legend_panel(panels[len(operations)])
    for axes in panels[len(operations) + 1 :]:
        axes.axis("off")
    return figure


def throughput(archive: Archive) -> Figure:
    """GB/s over n, half of the elements kept, a panel an operation."""
    rows = _four_bytes(_half_kept(_only_coalesced(archive.timed_rows(LOOKS))))
    kept = rows[0].params["selectivity"]
    figure = _operation_panels(archive, rows, "n", ELEMENTS)
    return _finish(figure, archive, rows, f"Compaction throughput, {100 * kept:g} % kept")


def selectivity(archive: Archive) -> Figure:
    """GB/s over the share that is kept, of each operation at its largest n."""
    rows = _four_bytes(_only_coalesced(archive.timed_rows(LOOKS)))
    at_largest = [
        row
        for operation in _operations(rows)
        for row in _at_largest_n(archives.where(rows, operation=operation), "selectivity")
    ]
    if len(archives.values_of(at_largest, "selectivity")) < 2:
        raise NothingToDraw(f"{archive.name} was run at one selectivity only")
    figure = _operation_panels(archive, at_largest, "selectivity", "share of elements kept (%)")
    return _finish(figure, archive, at_largest, "Compaction throughput over selectivity")


def element_sizes(archive: Archive) -> Figure:
    """GB/s for each element size at the largest n, half kept; the time in ms on each bar."""
    rows = _at_largest_n(_half_kept(_only_coalesced(archive.timed_rows(LOOKS))), "element_bytes")
    sizes = archives.values_of(rows, "element_bytes")
    variants = [variant for variant in LOOKS if archives.where(rows, variant=variant)]
    operations = _operations(rows)
    figure, panels = style.new_figure(len(operations), width=5.6, height=3.3, sharey=True)
    width = 0.8 / len(variants)
    for axes, operation in zip(panels, operations, strict=True):
        for group, size in enumerate(sizes):
            for place, variant in enumerate(variants):
                points = archives.where(
                    rows, operation=operation, element_bytes=size, variant=variant
                )
                for row in archives.along(points, "n"):
                    x = group + (place - (len(variants) - 1) / 2) * width
                    point = style.timed(x, row, Row.gb_per_s_at)
                    top = style.bar(axes, width, point, LOOKS[variant])
                    style.note_above(axes, x, top, f"{row.timing.median:.3g}")
        # The first bar, the fastest variant's, reaches up to it.
        style.ceiling(axes, archive.ceilings.get("copy_gb_per_s"), "measured copy", "right")
        axes.set_xticks(range(len(sizes)), [f"{size}" for size in sizes])
        axes.set_xlabel("size of an element (bytes)")
        axes.set_title(operation)
    style.from_zero(panels[0])
    panels[0].set_ylabel(style.USEFUL_GB_PER_S)
    kept, n = rows[0].params["selectivity"], rows[0].params["n"]
    title = f"Element sizes, n = {style.power_of_two(n)}, {100 * kept:g} % kept (on the bars: ms)"
    return _finish(figure, archive, rows, title)


def coalescing(archive: Archive) -> Figure:
    """What the shared write buffer changes: throughput with it over throughput without, over n."""
    rows = _four_bytes(archive.timed_rows(LOOKS))
    variants = [
        variant
        for variant in LOOKS
        if len(archives.values_of(archives.where(rows, variant=variant), "coalescing")) == 2
    ]
    rows = [row for row in rows if row.variant in variants]
    if not rows:
        raise NothingToDraw(f"{archive.name} has no variant timed with the buffer both on and off")
    operations, shares = _operations(rows), archives.values_of(rows, "selectivity")
    figure, panels = style.new_figure(
        len(shares), len(operations), height=2.5, width=3.3 if shares[1:] else 5.6, sharey=True
    )
    places = [(operation, share) for operation in operations for share in shares]
    for axes, (operation, share) in zip(panels, places, strict=True):
        here = archives.where(rows, operation=operation, selectivity=share)
        for variant in variants:
            _gain_line(axes, archives.where(here, variant=variant), LOOKS[variant])
        axes.axhline(1, color=style.INK, linewidth=0.8, zorder=1)
        style.claim(axes, 1.05, "source: about 5 % faster")
        style.log2_axis(axes.xaxis, archives.values_of(here or rows, "n"))
        axes.set_title(f"{operation}, {100 * share:g} % kept")
        axes.tick_params(labelleft=True)
    style.headroom(panels[0])
    style.outer_labels(panels, len(shares), ELEMENTS, "throughput, on / off (ratio)")
    return _finish(figure, archive, rows, "The coalescing write buffer, on against off")


def _gain_line(axes: Axes, rows: list[Row], look: style.Look) -> None:
    """Off time over on time, over n."""
    off = archives.along(archives.where(rows, coalescing="off"), "n")
    on = archives.along(archives.where(rows, coalescing="on"), "n")
    _ratio_line(axes, off, on, look)


def _ratio_line(axes: Axes, above: list[Row], below: list[Row], look: style.Look) -> None:
    """Time over time at each n that both have."""
    divisors = {row.params["n"]: row for row in below}
    points = [
        style.time_ratio(row.params["n"], row, divisors[row.params["n"]])
        for row in above
        if row.params["n"] in divisors
    ]
    if points:
        style.line(axes, points, look, ("n",))


def passes(archive: Archive) -> Figure:
    """Two passes against one, half kept: GB/s over n, and time in units of single_pass's time."""
    rows = _four_bytes(_half_kept(_only_coalesced(archive.timed_rows(LOOKS))))
    operations = _operations(rows)
    width = 3.3 if operations[1:] else 5.6
    figure, panels = style.new_figure(len(operations), 2, width, height=2.5)
    for place, operation in enumerate(operations):
        here = archives.where(rows, operation=operation)
        top, bottom = panels[place], panels[len(operations) + place]
        style.throughput_lines(top, here, "n", LOOKS)
        top.set_title(operation)
        one = archives.along(archives.where(here, variant="single_pass"), "n")
        for variant, look in LOOKS.items():
            if variant != "single_pass":
                line = archives.along(archives.where(here, variant=variant), "n")
                _ratio_line(bottom, line, one, look)
        bottom.axhline(1, color=style.STRONG, linewidth=2.2)
        for axes in (top, bottom):
            style.log2_axis(axes.xaxis, archives.values_of(here, "n"))
    _scale(panels[: len(operations)], archive.ceilings.get("copy_gb_per_s"))
    _on_one_scale(panels[len(operations) :])
    style.outer_labels(panels, len(operations), ELEMENTS, style.USEFUL_GB_PER_S)
    panels[len(operations)].set_ylabel("time / single_pass (ratio)")
    kept = rows[0].params["selectivity"]
    return _finish(figure, archive, rows, f"Two passes against one, {100 * kept:g} % kept")


def speedup(archive: Archive) -> Figure:
    """The time of CUB over the time of single_pass, at every point that both have."""
    return _speedup_panels(archive, _four_bytes(archive.timed_rows(LOOKS)), "operation", str)


def element_speedup(archive: Archive) -> Figure:
    """The time of CUB over the time of single_pass, by element size."""
    rows = archive.timed_rows(LOOKS)
    rows = archives.where(rows, operation=_operations(rows)[0])
    return _speedup_panels(archive, rows, "element_bytes", "{} bytes".format)


def _speedup_panels(archive: Archive, rows: list[Row], panel: str, title) -> Figure:
    """A panel for each value of `panel` with several n, a line for each selectivity."""
    rows = [row for row in rows if row.variant in ("single_pass", "cub")]
    values = [
        value
        for value in archives.values_of(archives.where(rows, variant="cub"), panel)
        if len(archives.values_of(archives.where(rows, **{panel: value, "variant": "cub"}), "n"))
        > 1
    ]
    if not values:
        raise NothingToDraw(f"{archive.name} has no curve of CUB to compare with")
    shares = archives.values_of(rows, "selectivity")
    columns = 2 if len(values) in (2, 4) else min(3, len(values))
    lines = -(-len(values) // columns)
    figure, panels = style.new_figure(
        columns, lines, width=4.2, height=3.1, sharey=True
    )
    for axes in panels[len(values) :]:
        axes.axis("off")
    for axes, value in zip(panels, values, strict=False):
        here = archives.where(rows, **{panel: value})
        for place, share in enumerate(shares):
            of_share = archives.where(here, selectivity=share)
            _ratio_line(
                axes,
                archives.along(archives.where(of_share, variant="cub"), "n"),
                archives.along(archives.where(of_share, variant="single_pass"), "n"),
                style.graded(f"{100 * share:g} % kept", place, len(shares)),
            )
        axes.axhline(1, color=style.PEER, linewidth=1.6, zorder=1)
        style.log2_axis(axes.xaxis, archives.values_of(here, "n"))
        axes.set_title(title(value))
        axes.tick_params(labelleft=True)
    style.around_one(panels[0])
    style.outer_labels(panels, columns, ELEMENTS, "time of CUB / single_pass (ratio)")
    return _finish(figure, archive, rows, "single_pass against CUB (above 1: faster than CUB)")


def records(archive: Archive) -> Figure:
    """The time of CUB over the time of single_pass, for records of each size and alignment."""
    rows = [row for row in archive.timed_rows(LOOKS) if row.variant in ("single_pass", "cub")]
    ours = {row.problem: row for row in archives.where(rows, variant="single_pass")}
    pairs = [
        (row, ours[row.problem])
        for row in archives.where(rows, variant="cub")
        if row.problem in ours
    ]
    if not pairs:
        raise NothingToDraw(f"{archive.name} has no point of CUB to compare with")
    places = {_place_of(one) for _, one in pairs}
    panels_of = sorted(places, key=lambda place: (place[1], -place[0]))
    shares = archives.values_of([one for _, one in pairs], "selectivity")
    width = 0.84 / len(shares)
    figure, panels = style.new_figure(1, len(panels_of), width=9, height=2.6)
    for axes, place in zip(panels, panels_of, strict=True):
        here = [pair for pair in pairs if _place_of(pair[1]) == place]
        kinds = sorted({_kind_of(one) for _, one in here})
        for cub, one in here:
            share = shares.index(one.params["selectivity"])
            x = kinds.index(_kind_of(one)) + (share - (len(shares) - 1) / 2) * width
            look = style.graded(f"{100 * shares[share]:g} % kept", share, len(shares))
            ratio = style.time_ratio(x, cub, one)
            top = style.bar(axes, width, ratio, look)
            style.note_above(axes, x, top, f"{ratio.middle:.2f}", 90 if len(kinds) > 6 else 0)
        axes.axhline(1, color=style.PEER, linewidth=1.6, zorder=3)
        axes.set_xticks(range(len(kinds)), [_kind_label(*kind) for kind in kinds])
        megabytes, offset = place
        begin = f", offset of the arrays: {offset} (elements)" if offset else ""
        axes.set_title(f"{megabytes} MB{begin}")
        style.from_zero(axes)
    x_label = "size of a record / its alignment (bytes)"
    style.outer_labels(panels, 1, x_label, "time of CUB / single_pass (ratio)")
    return _finish(figure, archive, [row for pair in pairs for row in pair], "Records against CUB")


def _place_of(row: Row) -> tuple[int, int]:
    """The size of the input in MB, and how many elements it begins after aligned memory."""
    return round(row.params["n"] * row.params["element_bytes"] / 1e6), row.params["offset"]


def _kind_of(row: Row) -> tuple[int, int]:
    """Bytes and alignment of an element; that of a number is its size."""
    size = row.params["element_bytes"]
    return size, row.params["element_alignment"] or size


def _kind_label(size: int, alignment: int) -> str:
    return f"{size} / {alignment}"


def _finish(figure: Figure, archive: Archive, rows: list[Row], title: str) -> Figure:
    return style.finish(figure, archive, rows, title)


FIGURES = [
    FigureSpec("warp_compaction_throughput", "throughput", throughput),
    FigureSpec("warp_compaction_selectivity", "throughput", selectivity),
    FigureSpec("warp_compaction_speedup", "throughput", speedup),
    FigureSpec("warp_compaction_element_sizes", "element_sizes", element_sizes),
    FigureSpec("warp_compaction_element_speedup", "element_sizes", element_speedup),
    FigureSpec("warp_compaction_records", "records", records),
    FigureSpec("warp_compaction_coalescing", "coalescing", coalescing),
    FigureSpec("warp_compaction_passes", "passes", passes),
]
