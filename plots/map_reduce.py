"""The figures of map_reduce, one function each."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import cycle, pairwise
from pathlib import Path

import archive as archives
import style
from archive import Archive, NothingToDraw, Row
from figure import FigureSpec
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

LOOKS = {
    "automatic": style.Look("automatic", style.STRONG, "o", "-", 2.2, 8),
    "tensor": style.Look("tensor", style.MIDDLE, "D", "-", 1.6, 6),
    "tuned_1d": style.Look("tuned_1d", style.LIGHT, "v", ":", 1.6, 5),
    "tuned_2d": style.Look("tuned_2d", style.LIGHT, "^", "-", 1.6, 5),
    "gpu_1d": style.Look("gpu_1d (source)", style.SOURCE, "s", "-", 1.6, 4),
    "gpu_2d": style.Look("gpu_2d (source)", style.SOURCE, "<", "--", 1.6, 4),
    "naive": style.Look("naive, tensorized", style.NAIVE, ">", ":", 1.4, 3),
    "keops_1d": style.Look("KeOps GPU_1D", style.PEER, "X", "-", 1.4, 3),
    "keops_2d": style.Look("KeOps GPU_2D", style.PEER, "P", "--", 1.4, 3),
    "keops": style.Look("KeOps, the faster scheme", style.PEER, "X", "-", 1.4, 3),
    "triton": style.Look("Triton", style.OTHER_PEER, "p", "-.", 1.4, 3),
    "torch_topk": style.Look("PyTorch, topk", style.PEER, "h", "-.", 1.4, 3),
}
ROWS = "number of rows, m"
SQUARE = "number of rows and of columns, m = n"
# The baselines of the claims: tensorized code on the GPU, and on its host.
CLAIM_LOOKS = (
    {
        "naive": style.Look("over naive, tensorized", style.NAIVE, ">", ":"),
        "torch_tensorized": style.Look("over PyTorch, tensorized", style.PEER, "s", "-"),
        "torch_cdist": style.Look("over PyTorch, cdist", style.OTHER_PEER, "p", "-."),
        "torch_gram": style.Look("over PyTorch, Gram form", style.MIDDLE, "X", "--"),
    },
    {
        "cpu": style.Look("over cpu, one core", style.SOURCE, "D", "-"),
        "cpu_openmp": style.Look("over cpu_openmp", style.LIGHT, "v", "--"),
        "numpy_tensorized": style.Look("over NumPy, tensorized", style.STRONG, "^", ":"),
        "numpy_gram": style.Look("over NumPy, Gram form", style.CLAIM, "P", "-."),
    },
)
PEERS = ("keops_1d", "keops_2d", "triton")
VARIANTS = ("automatic", "tensor", "tuned_1d", "tuned_2d", "gpu_1d", "gpu_2d")

PUBLISHED = Path(__file__).resolve().parent / "published" / "keops_2020.tsv"
# The systems of KeOps's table of March 2020, which ran on another GPU: all dash-dotted.
PUBLISHED_LOOKS = {
    "PyTorch": style.Look("PyTorch, 2020", style.NAIVE, ">", "-.", 1.2, 2),
    "TF-XLA": style.Look("TF-XLA, 2020", style.CLAIM, "v", "-.", 1.2, 2),
    "Halide": style.Look("Halide, 2020", style.LIGHT, "^", "-.", 1.2, 2),
    "TVM": style.Look("TVM, 2020", style.MIDDLE, "<", "-.", 1.2, 2),
    "PyKeOps": style.Look("PyKeOps, 2020", style.OTHER_PEER, "h", "-.", 1.2, 2),
    "KeOps++": style.Look("KeOps++, 2020", style.SOURCE, "D", "-.", 1.2, 2),
}

# The formula that each reduction has by default.
USUAL_FORMULAS = {"sum": "gaussian", "log_sum_exp": "log_gaussian"}
LEAST_COUNTS = {"argkmin": 10, "argkmin_100": 100}
REDUCTION_NAMES = {"log_sum_exp": "LogSumExp"}
FORMULA_NAMES = {"log_gaussian": "log-Gaussian", "gaussian": "Gaussian", "laplacian": "Laplacian"}

# Dashes by the way that sums are added; markers for variants that were run in several ways.
ACCURACY_DASHES = {"plain": ":", "block": "--", "kahan": "-"}
ACCURACY_MARKERS = "s^v<>*h"
TESTS_ALLOW = 2e-6
GOOD_CHOICE = 1.1
CLOSE_CHOICE = 1.05
FASTER_THAN_TENSORIZED_GPU = 30
FASTER_THAN_TENSORIZED_CPU = 10_000


# ---------------------------------------------------------------- rows


def _square(rows: list[Row]) -> list[Row]:
    """The rows with as many rows as columns."""
    return [row for row in rows if row.params["m"] == row.params["n"]]


def _timed_squares(archive: Archive, variants: Iterable[str] = LOOKS) -> list[Row]:
    """The rows of these variants that may be drawn over n = m."""
    rows = _square(archive.timed_rows(variants))
    if not rows:
        raise NothingToDraw(f"{archive.name} has no point with m = n that was timed on a GPU")
    return rows


def _problem(row: Row) -> tuple:
    """What is computed, without how: the parameters that shape the problem."""
    names = ("formula", "reduction", "m", "n", "d", "e", "number", "extent", "averaged")
    return tuple(row.params.get(name) for name in names)


def _at(rows: list[Row], variant: str, problem: tuple) -> Row | None:
    """The variant's fastest row at the problem."""
    found = [row for row in rows if row.variant == variant and _problem(row) == problem]
    timed = [row for row in found if row.timing]
    return min(timed, key=lambda row: row.timing.median) if timed else next(iter(found), None)


def _does_not_fit(row: Row | None) -> bool:
    return row is not None and row.skipped is not None and "not fit" in row.skipped


# ---------------------------------------------------------------- names


def _si(value: float) -> str:
    """A size in three digits: 10k, 1.05M."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def _size(row: Row) -> str:
    m, n = row.params["m"], row.params["n"]
    return _si(n) if m == n else f"{_si(m)} x {_si(n)}"


def _formula(row: Row) -> str:
    """The formula of a sum; else the reduction, with its formula if that is not the usual one."""
    formula, reduction = row.params["formula"], row.params["reduction"]
    name = FORMULA_NAMES.get(formula, formula.replace("_", " "))
    if reduction == "sum":
        return name
    how = REDUCTION_NAMES.get(reduction, reduction)
    usual = USUAL_FORMULAS.get(reduction, "squared_distance")
    return how if formula == usual else f"{how} of {name}"


def _case(row: Row) -> str:
    """A short name of what is computed, without D = 3 and float32."""
    parts = [_formula(row)]
    if row.params["d"] != 3:
        parts.append(f"D = {row.params['d']}")
    if row.params["number"] != "float32":
        parts.append(row.params["number"])
    return " ".join([*parts, _size(row)])


def _titled(rows: list[Row], title: str) -> str:
    """The title, followed by what was computed."""
    params = rows[0].params
    how = " sum" if params["reduction"] == "sum" else ""
    return f"{title}: {_formula(rows[0])}{how}, D = {params['d']}, {params['number']}"


def _plain(value: float) -> str:
    """Three digits, or all of those before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _times(value: float) -> str:
    return f"{value:,.0f}x" if value >= 100 else f"{value:.2g}x"


# ---------------------------------------------------------------- drawing


def _log_axis(axis, name: Callable[[float], str]) -> None:
    """A logarithmic axis with plain numbers; to be set when everything is drawn."""
    axes, letter = axis.axes, axis.axis_name
    getattr(axes, f"set_{letter}scale")("log")
    low, high = getattr(axes, f"get_{letter}lim")()
    subs = (1, 2, 5) if high / low < 100 else (1,)
    axis.set_major_locator(LogLocator(10, subs=subs, numticks=20))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: name(value)))


def _size_axis(axes: Axes, label: str) -> None:
    _log_axis(axes.xaxis, _si)
    axes.set_xlabel(label)


def _ms_axis(axis) -> None:
    _log_axis(axis, "{:g}".format)
    axis.set_label_text(style.CALL_MS)


def _time_lines(
    axes: Axes,
    rows: list[Row],
    x: str,
    variants: Iterable[str] = LOOKS,
    together: tuple[str, ...] = (),
) -> None:
    """The times of each variant over a parameter, and over those that go with it."""
    of = style.by_variant(rows, {variant: LOOKS[variant] for variant in variants})
    style.lines(axes, of, x, lambda _, ms: ms, together=together)


# ---------------------------------------------------------------- the published table


def published_times() -> dict[str, tuple[list[int], list[float]]]:
    """Each system's n, ascending, and its milliseconds there: Gaussian sums, D = 3, float32.

    A system has no time where it ran out of memory.
    """
    found: dict[str, list[tuple[int, float]]] = {}
    with PUBLISHED.open() as file:
        for row in csv.DictReader(file, delimiter="\t"):
            found.setdefault(row["system"], []).append((int(row["n"]), float(row["ms"])))
    return {
        system: ([n for n, _ in sorted(points)], [ms for _, ms in sorted(points)])
        for system, points in found.items()
    }


def published(archive: Archive) -> Figure:
    """The published table of KeOps: time over n, on this GPU and on an RTX 2080 Ti in 2020."""
    variants = ("automatic", "gpu_1d", "gpu_2d", "naive", *PEERS)
    rows = _timed_squares(archive, variants)
    figure, panels = style.new_figure(2, width=4.6, height=5, sharex=True, sharey=True)
    _time_lines(panels[0], rows, "n", variants, together=("m",))
    panels[0].set_title("this GPU", fontsize=8.5)
    _time_lines(panels[1], rows, "n", ("automatic", "keops_1d"), together=("m",))
    for system, (n, ms) in published_times().items():
        style.line(panels[1], style.published_points(n, ms), PUBLISHED_LOOKS[system])
    panels[1].set_title("dash-dotted: RTX 2080 Ti, March 2020", fontsize=8.5)
    for axes in panels:
        _size_axis(axes, SQUARE)
        axes.tick_params(labelleft=True)
    _ms_axis(panels[0].yaxis)
    style.finish(figure, archive, rows, _titled(rows, "Map-reduce"))
    return figure


# ---------------------------------------------------------------- the variants over m


def crossover(rows: list[Row]) -> float | None:
    """The m at which gpu_2d stops being faster than gpu_1d; None where there is no such m.

    Between the two measured points it is taken from the line through them in logarithms.
    """
    times = {
        variant: {
            row.params["m"]: row.timing.median
            for row in archives.along(archives.where(rows, variant=variant), "m")
        }
        for variant in ("gpu_1d", "gpu_2d")
    }
    gains = [
        (math.log(m), math.log(times["gpu_2d"][m] / times["gpu_1d"][m]))
        for m in times["gpu_1d"]
        if m in times["gpu_2d"]
    ]
    for (left, faster), (right, slower) in reversed(list(pairwise(gains))):
        if faster < 0 <= slower:
            return math.exp(left + (right - left) * -faster / (slower - faster))
    return None


def _never_crosses(rows: list[Row]) -> bool:
    """Whether gpu_2d is faster than gpu_1d wherever both were measured."""
    pairs = [
        (archives.where(rows, variant=variant, m=m) for variant in ("gpu_1d", "gpu_2d"))
        for m in archives.values_of(rows, "m")
    ]
    both = [(one[0], two[0]) for one, two in pairs if one and two]
    return bool(both) and all(two.timing.median < one.timing.median for one, two in both)


def _mark_crossover(axes: Axes, m: float | None) -> None:
    if m is None:
        return
    axes.axvline(m, color=style.SOURCE, linewidth=0.9, linestyle=(0, (4, 2)), zorder=1)
    axes.annotate(
        f"gpu_2d faster\nup to m = {_si(m)}",
        (m, 0.015),
        xycoords=("data", "axes fraction"),
        xytext=(4, 0),
        textcoords="offset points",
        fontsize=7.5,
        va="bottom",
    )


def _over_m(archive: Archive) -> list[Row]:
    """The timed rows at the largest n."""
    rows = archive.timed_rows((*VARIANTS, *PEERS))
    return archives.where(rows, n=max(archives.values_of(rows, "n")))


def variants(archive: Archive) -> Figure:
    """Time of every variant over m, and where the source's two schemes cross, if they do."""
    rows = _over_m(archive)
    figure, (axes,) = style.new_figure(1, width=7.2, height=5)
    _time_lines(axes, rows, "m")
    _mark_crossover(axes, crossover(rows))
    _size_axis(axes, ROWS)
    _ms_axis(axes.yaxis)
    if _never_crosses(rows):
        note = "gpu_2d is faster than gpu_1d\nat every m"
        axes.text(0.98, 0.03, note, transform=axes.transAxes, fontsize=7.5, ha="right")
    title = _titled(rows, f"Variants over m, n = {_si(rows[0].params['n'])}")
    style.finish(figure, archive, rows, title)
    return figure


def _against_best(rows: list[Row], automatic_rows: list[Row]) -> list[tuple[Row, Row]]:
    """Each row of automatic with the fastest other variant of ours at its problem."""
    others = [row for row in rows if row.role == "technique" and row.variant != "automatic"]
    pairs = []
    for ours in automatic_rows:
        here = [row for row in others if _problem(row) == _problem(ours)]
        if here:
            pairs.append((ours, min(here, key=lambda row: row.timing.median)))
    return pairs


def _name_choice(axes: Axes, row: Row) -> None:
    """The variant that was chosen, at the top of the panel."""
    axes.annotate(
        row.choices.get("variant", "?"),
        (row.params["m"], 0.985),
        xycoords=("data", "axes fraction"),
        fontsize=7.5,
        rotation=90,
        ha="center",
        va="top",
    )


def automatic(archive: Archive) -> Figure:
    """The time of what the cost model chose over the time of the best variant, over m."""
    rows = _over_m(archive)
    pairs = _against_best(rows, archives.along(archives.where(rows, variant="automatic"), "m"))
    if not pairs:
        raise NothingToDraw(
            f"{archive.name} has no point of automatic with another variant beside it"
        )
    figure, (axes,) = style.new_figure(1, width=7.2, height=4.2)
    points = [
        replace(style.time_ratio(ours.params["m"], ours, best), rows=(ours,))
        for ours, best in pairs
    ]
    style.line(axes, points, LOOKS["automatic"], ("m",))
    axes.axhline(1, color=style.INK, linewidth=0.8, zorder=1)
    style.ceiling(axes, GOOD_CHOICE, f"{GOOD_CHOICE:g}")
    low, high = axes.get_ylim()
    low, high = min(low, 0.95), max(high, 1.15)
    axes.set_ylim(low, high + 0.4 * (high - low))
    for ours, _ in pairs:
        _name_choice(axes, ours)
    _size_axis(axes, ROWS)
    axes.set_ylabel("time of automatic / best other variant (ratio)")
    n = _si(pairs[0][0].params["n"])
    drawn = [row for pair in pairs for row in pair]
    style.finish(figure, archive, drawn, f"What the cost model chose (named), n = {n}")
    return figure


# ---------------------------------------------------------------- K


def block_size(archive: Archive) -> Figure:
    """Time of the source's two schemes over K, the threads of a block."""
    variants = ("gpu_1d", "gpu_2d")
    rows = archive.timed_rows(variants)
    sizes = sorted({(row.params["m"], row.params["n"]) for row in rows})
    figure, panels = style.new_figure(len(sizes), width=max(4.0, 6.4 / len(sizes)), height=3.4)
    for axes, (m, n) in zip(panels, sizes, strict=True):
        here = archives.where(rows, m=m, n=n)
        _time_lines(axes, here, "block_threads", variants)
        threads = archives.values_of(here, "block_threads")
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_locator(FixedLocator(threads))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.tick_params(axis="x", labelsize=7)
        axes.set_title(f"m = {_si(m)}, n = {_si(n)}")
        axes.set_xlabel("number of threads in a block, K")
        style.from_zero(axes)
    panels[0].set_ylabel(style.CALL_MS)
    style.finish(figure, archive, rows, _titled(rows, "Block size"))
    return figure


# ---------------------------------------------------------------- memory


def _bytes_needed(row: Row) -> int:
    """The bytes of all values of the formula, one for each pair."""
    number = 8 if row.params["number"] == "float64" else 4
    return number * row.params["m"] * row.params["n"]


def _draw_what_does_not_fit(axes: Axes, archive: Archive) -> None:
    """Hollow markers at the bytes that the tensorized variant would need."""
    found = _square([row for row in archives.where(archive.rows, variant="naive")])
    refused = archives.along([row for row in found if _does_not_fit(row)], "n")
    if refused:
        axes.plot(
            [row.params["n"] for row in refused],
            [_bytes_needed(row) for row in refused],
            LOOKS["naive"].marker,
            color=style.NAIVE,
            markerfacecolor="white",
            markersize=6.5,
            label="naive: does not fit",
            zorder=LOOKS["naive"].order,
        )


def _bytes_name(value: float) -> str:
    if value <= 1:
        return "none"
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g} B"


def _name_those_without(axes: Axes, variants: list[str]) -> None:
    """Names the variants without a workspace above their lines, which coincide at the bottom."""
    if variants:
        axes.annotate(
            ", ".join(variants),
            (0.012, 1),
            xycoords=("axes fraction", "data"),
            xytext=(0, 5),
            textcoords="offset points",
            fontsize=7.5,
        )


def memory(archive: Archive) -> Figure:
    """Bytes of memory beside inputs and result, over n = m."""
    variants = ("naive", "gpu_1d", "gpu_2d", "tuned_2d", "tensor", "automatic")
    timed = _timed_squares(archive, variants)
    rows = [row for row in timed if "workspace_bytes" in row.counters]
    if not rows:
        raise NothingToDraw(f"{archive.name} does not say what workspace its points took")
    figure, (axes,) = style.new_figure(1, width=6.4, height=4.4)
    without = []
    for variant in variants:
        series = archives.along(archives.where(rows, variant=variant), "n")
        if series:
            points = [
                style.Point(row.params["n"], max(row.counters["workspace_bytes"], 1), rows=(row,))
                for row in series
            ]
            style.line(axes, points, LOOKS[variant], ("n", "m"))
            without += [variant] if all(point.middle == 1 for point in points) else []
    _draw_what_does_not_fit(axes, archive)
    _size_axis(axes, SQUARE)
    axes.set_yscale("log")
    axes.set_ylim(0.4, 3 * axes.get_ylim()[1])
    axes.yaxis.set_major_locator(LogLocator(1000, numticks=8))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _bytes_name(value)))
    axes.set_ylabel("workspace beside inputs and result (bytes)")
    _name_those_without(axes, without)
    style.finish(figure, archive, rows, _titled(rows, "Memory of the variants"))
    return figure


# ---------------------------------------------------------------- the claims


def _speed_up_line(
    axes: Axes, ours: list[Row], theirs: list[Row], baseline: str, look: style.Look
) -> list[style.Point]:
    """Draws the speed-up over a baseline, over n = m; returns its last point."""
    points = []
    for row in archives.along(ours, "n"):
        other = _at(theirs, baseline, _problem(row))
        if other and other.timing:
            points.append(style.time_ratio(row.params["n"], other, row))
    if points:
        style.line(axes, points, look, ("n", "m"))
    return points[-1:]


def _label_ends(axes: Axes, ends: list[style.Point]) -> None:
    """The values of the lines' last points, beside them and apart from each other."""
    points_a_pixel = 72 / axes.figure.dpi
    free = -math.inf
    for end in sorted(ends, key=lambda end: end.middle):
        y = axes.transData.transform((end.x, end.middle))[1] * points_a_pixel
        free = max(y, free)
        style.note_beside(axes, end.x, end.middle, _times(end.middle), free - y)
        free += 8


def _say_what_is_missing(axes: Axes, rows: list[Row], n: int, baseline: str) -> None:
    """Why there is no speed-up over the baseline at n."""
    here = archives.where(_square(rows), variant=baseline, n=n)
    if any(row.timing for row in here):
        return
    why = "does\nnot fit" if any(map(_does_not_fit, here)) else "not\ntimed"
    place = {"transform": axes.get_xaxis_transform(), "ha": "center", "fontsize": 6.5}
    axes.text(n, 0.3, f"{baseline}\n{why}", color=style.FAINT, **place)


def claims(archive: Archive) -> Figure:
    """Speed-up over tensorized code, on this GPU and on its host."""
    every = [baseline for looks in CLAIM_LOOKS for baseline in looks]
    ours = archives.along(_timed_squares(archive, ("automatic",)), "n")
    theirs = [row for row in archive.rows if row.variant in every]
    if not any(row.timing for row in theirs):
        raise NothingToDraw(f"{archive.name} has no time of tensorized code to compare with")
    source = archives.where(_square(archive.gpu_rows()), variant="gpu_1d")
    facts = archive.provenance
    cores = f", {facts.host_cores} cores" if facts.host_cores else ""
    devices = facts.device, f"{facts.host or 'unknown CPU'}{cores}"
    published = FASTER_THAN_TENSORIZED_GPU, FASTER_THAN_TENSORIZED_CPU
    variants = [("automatic", ours)] + [("gpu_1d (source)", source)] * bool(source)
    figure, panels = style.new_figure(len(variants), 2, width=4.9, height=3.7, sharey="row")
    ends: list[list[style.Point]] = [[] for _ in panels]
    for place, axes in enumerate(panels):
        where, (name, rows) = place // len(variants), variants[place % len(variants)]
        for baseline, look in CLAIM_LOOKS[where].items():
            ends[place] += _speed_up_line(axes, rows, theirs, baseline, look)
        axes.set_title(f"{name}\nover code on {devices[where]}", fontsize=8)
        axes.set_yscale("log")
        style.claim(axes, published[where], f"source: {_times(published[where])}")
        axes.axhline(1, color=style.INK, linewidth=0.8, zorder=1)
        for row in rows:
            _say_what_is_missing(axes, theirs, row.params["n"], ("naive", "cpu")[where])
        axes.set_xlim(ours[0].params["n"] / 1.6, ours[-1].params["n"] * 2.5)
        _size_axis(axes, SQUARE)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}x"))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.tick_params(labelleft=True)
        axes.set_ylabel("time of the other / ours (ratio)")
    for axes, claimed in zip(panels[:: len(variants)], published, strict=True):
        low, high = axes.get_ylim()
        axes.set_ylim(min(0.5, low / 2), 3 * max(high, claimed))
    for axes, here in zip(panels, ends, strict=True):
        _label_ends(axes, here)
    drawn = ours + source + [row for row in theirs if row.timing]
    style.finish(figure, archive, drawn, _titled(ours, "Speed-up over tensorized code"))
    return figure


def _kind(row: Row) -> str:
    """What is computed, whatever the size."""
    parts = [f"{_formula(row)}, D = {row.params['d']}"]
    if row.params.get("e", 1) != 1:
        parts.append(f"E = {row.params['e']}")
    if row.params["number"] != "float32":
        parts.append(row.params["number"])
    return ", ".join(parts)


def choice(archive: Archive) -> Figure:
    """The time of what the cost model chose over that of the best variant, by what is computed."""
    rows = archive.timed_rows(("automatic", "tuned_1d", "tuned_2d", "tensor"))
    pairs = _against_best(rows, archives.where(rows, variant="automatic"))
    if not pairs:
        raise NothingToDraw(
            f"{archive.name} has no point of automatic with another variant beside it"
        )
    kinds = list(dict.fromkeys(_kind(ours) for ours, _ in pairs))
    sizes = list(dict.fromkeys(_size(ours) for ours, _ in pairs))
    figure, (axes,) = style.new_figure(1, width=7.6, height=1.6 + 0.36 * len(kinds))
    for ours, best in pairs:
        size = _size(ours)
        y = kinds.index(_kind(ours)) + (sizes.index(size) + 0.5) / len(sizes) * 0.8 - 0.4
        ratio = style.time_ratio(0, ours, best)
        ratio = replace(ratio, x=ratio.middle, rows=(ours,))
        style.dot_across(axes, y, ratio, LOOKS["automatic"])
        if ratio.middle > CLOSE_CHOICE:
            axes.annotate(
                size,
                (ratio.high, y),
                xytext=(4, 0),
                textcoords="offset points",
                fontsize=6.5,
                va="center",
            )
    for y in range(len(kinds)):
        axes.axhspan(y - 0.5, y + 0.5, color="#F4F4F4" if y % 2 else "white", zorder=0)
    axes.axvline(1, color=style.INK, linewidth=0.8, zorder=1)
    axes.axvline(CLOSE_CHOICE, color=style.INK, linewidth=0.8, linestyle=(0, (5, 2)), zorder=1)
    axes.set_ylim(len(kinds) - 0.5, -0.5)
    axes.set_yticks(range(len(kinds)), kinds)
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    axes.grid(True, axis="x")
    low, high = axes.get_xlim()
    axes.set_xlim(low, high + 0.12 * (high - low))  # room for the sizes
    axes.set_xlabel(f"time of automatic / best other variant (ratio); dashed: {CLOSE_CHOICE}")
    axes.set_ylabel("formula or reduction")
    drawn = [row for pair in pairs for row in pair]
    return style.finish(figure, archive, drawn, "The cost model's choice at sizes not fitted to")


# ---------------------------------------------------------------- the cases


def _case_dots(axes: Axes, y: float, rows: list[Row], variants: list[str]) -> None:
    """The times of one case, from the top; those that are missing leave no gap."""
    height = 0.84 / len(variants)
    present = [variant for variant in variants if archives.where(rows, variant=variant)]
    for place, variant in enumerate(present):
        (row,) = archives.along(archives.where(rows, variant=variant), "m")
        here = y + (place - (len(present) - 1) / 2) * height
        style.dot_across(axes, here, style.timed(row.timing.median, row), LOOKS[variant])
        axes.annotate(
            _plain(row.timing.median),
            (row.timing.p90, here),
            xytext=(6, 0),
            textcoords="offset points",
            fontsize=6.5,
            va="center",
        )


def _with_the_faster_keops(rows: list[Row]) -> list[Row]:
    """The rows, with the faster of KeOps's two schemes at each problem as "keops"."""
    fastest: dict[tuple, Row] = {}
    for row in rows:
        before = fastest.get(_problem(row))
        is_keops = row.variant.startswith("keops")
        if is_keops and (before is None or row.timing.median < before.timing.median):
            fastest[_problem(row)] = row
    others = [row for row in rows if not row.variant.startswith("keops")]
    return others + [replace(row, variant="keops") for row in fastest.values()]


def _cases_figure(
    archive: Archive,
    rows: list[Row],
    every: tuple[str, ...],
    name: Callable[[Row], str],
    what: str,
    title: str,
) -> Figure:
    """A line of dots for each variant of each problem, on one axis of times."""
    problems = list(dict.fromkeys(_problem(row) for row in rows))
    variants = [variant for variant in every if archives.where(rows, variant=variant)]
    height = 1.5 + len(problems) * (0.12 + 0.13 * len(variants))
    figure, (axes,) = style.new_figure(1, width=7.6, height=height)
    axes.set_xscale("log")
    names = []
    for y, problem in enumerate(problems):
        here = [row for row in rows if _problem(row) == problem]
        names.append(name(here[0]))
        _case_dots(axes, y, here, variants)
        axes.axhspan(y - 0.5, y + 0.5, color="#F4F4F4" if y % 2 else "white", zorder=0)
    times = [row.timing for row in rows]
    axes.set_xlim(min(time.p10 for time in times) / 2, 2.5 * max(time.p90 for time in times))
    axes.set_ylim(len(problems) - 0.5, -0.5)
    axes.set_yticks(range(len(problems)), names)
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    axes.grid(True, axis="x")
    _ms_axis(axes.xaxis)
    axes.set_ylabel(what)
    return style.finish(figure, archive, rows, title)


def cases(archive: Archive) -> Figure:
    """Time by formula, reduction, dimension and number; of KeOps's two, the faster one."""
    rows = archive.timed_rows(("automatic", "gpu_1d", "keops_1d", "keops_2d", "triton"))
    rows = _with_the_faster_keops(rows)
    every = ("automatic", "gpu_1d", "keops", "triton")
    what = "formula or reduction; number of rows and of columns"
    title = "Formulas and reductions (D = 3, float32 where not said)"
    return _cases_figure(archive, rows, every, _case, what, title)


def _size_and_dimension(row: Row) -> str:
    """The size, and the dimension if it is not 3."""
    d = row.params["d"]
    return _size(row) if d == 3 else f"D = {d}, {_size(row)}"


def few_rows(archive: Archive) -> Figure:
    """Time where there are few rows, or few rows and columns; of KeOps's two, the faster one."""
    every = ("automatic", "tensor", "tuned_2d", "gpu_2d", "keops", "triton")
    rows = _with_the_faster_keops(archive.timed_rows((*every, *PEERS)))
    return _cases_figure(
        archive,
        rows,
        every,
        _size_and_dimension,
        "number of rows x columns",
        "Few rows: Gaussian sum (D = 3 where not said), float32",
    )


def signals(archive: Archive) -> Figure:
    """Time by the numbers of a signal; of KeOps's two, the faster one."""
    every = ("automatic", "tensor", "tuned_2d", "keops", "triton")
    rows = _with_the_faster_keops(archive.timed_rows((*every, *PEERS)))
    return _cases_figure(
        archive,
        rows,
        every,
        lambda row: f"E = {row.params['e']}, {_size(row)}",
        "numbers of a signal; rows x columns",
        "Signals of several numbers: Gaussian sum, D = 3, float32",
    )


def _choice_and_threads(
    archive: Archive, peer: str, name: Callable[[Row], str], what: str, title: str
) -> Figure:
    """Our choice beside threads over rows or columns, and the peer."""
    every = ("automatic", "tuned_2d", peer)
    return _cases_figure(archive, archive.timed_rows(every), every, name, what, title)


def extents(archive: Archive) -> Figure:
    """Time by how far apart points are."""
    return _choice_and_threads(
        archive,
        "triton",
        lambda row: f"edge {row.params['extent']}, {_size(row)}",
        "edge in widths; rows x columns",
        "Points in a cube of an edge of many widths: Gaussian sum, D = 3, float32",
    )


def clouds(archive: Archive) -> Figure:
    """Time by how wide a normal cloud of points is."""

    def name(row: Row) -> str:
        deviation = row.params["extent"] / row.params["averaged"]
        return f"deviation {deviation:.2f}, {_size(row)}"

    return _choice_and_threads(
        archive,
        "triton",
        name,
        "deviation in widths; rows x columns",
        "Points of a normal cloud: Gaussian sum, D = 3, float32",
    )


def many_dimensions(archive: Archive) -> Figure:
    """Time of sums in many dimensions, of one number a column and of several."""
    return _choice_and_threads(
        archive,
        "triton",
        lambda row: f"D = {row.params['d']}, E = {row.params.get('e', 1)}, {_size(row)}",
        "dimensions; numbers of a signal; rows x columns",
        "Many dimensions: Gaussian sum, float32",
    )


def nearest(archive: Archive) -> Figure:
    """Time of the nearest column in many dimensions."""
    return _choice_and_threads(
        archive,
        "triton",
        _size_and_dimension,
        "dimensions; rows x columns",
        "The nearest column in many dimensions, float32",
    )


def k_nearest(archive: Archive) -> Figure:
    """Time of several nearest columns in many dimensions."""
    return _choice_and_threads(
        archive,
        "torch_topk",
        lambda row: f"K = {LEAST_COUNTS[row.params['reduction']]}, {_size_and_dimension(row)}",
        "K; dimensions; rows x columns",
        "Several nearest columns in many dimensions, float32",
    )


# ---------------------------------------------------------------- accuracy


def _accuracy_lines(rows: list[Row]) -> list[tuple[style.Look, list[Row]]]:
    """The rows of each variant; if it was run with several ways to add, those of each way."""
    lines, markers = [], cycle(ACCURACY_MARKERS)
    for variant, look in LOOKS.items():
        here = archives.where(rows, variant=variant)
        ways = archives.values_of(here, "accuracy")
        if variant in PEERS or len(ways) < 2:
            lines.append((look, here))
            continue
        for way in ways:
            dashes = ACCURACY_DASHES.get(way, "-.")
            of_way = replace(
                look, label=f"{look.label}, {way}", marker=next(markers), dashes=dashes
            )
            lines.append((of_way, archives.where(here, accuracy=way)))
    return [(look, line) for look, line in lines if line]


def _accuracy_panels(rows: list[Row]) -> list[tuple[str, tuple[str, ...], list[Row]]]:
    """The name of x, parameters that go with it, and rows: for m = n, and each m with several n."""
    panels = [(SQUARE, ("m",), _square(rows))]
    for m in archives.values_of(rows, "m"):
        panels.append((f"number of columns, n (of {_si(m)} rows)", (), archives.where(rows, m=m)))
    return [panel for panel in panels if len(archives.values_of(panel[2], "n")) > 1]


def accuracy(archive: Archive) -> Figure:
    """Relative error against float64 over n, by variant and way to add."""
    timed = archive.timed_rows(LOOKS)
    rows = [row for row in timed if row.counters.get("relative_error", 0) > 0]
    if not rows:
        raise NothingToDraw(f"{archive.name} has no relative error")
    of_panels = _accuracy_panels(rows)
    if not of_panels:
        raise NothingToDraw(f"{archive.name} has one n only of each m")
    figure, panels = style.new_figure(
        len(of_panels), width=max(4.6, 7.2 / len(of_panels)), height=4.6, sharey=True
    )
    looks = _accuracy_lines(rows)
    for axes, (name, together, here) in zip(panels, of_panels, strict=True):
        shown = {id(row) for row in here}
        of = [(look, [row for row in line if id(row) in shown]) for look, line in looks]
        style.lines(axes, of, "n", _relative_error, is_counted=True, together=together)
        axes.set_yscale("log")
        style.ceiling(axes, TESTS_ALLOW, "2e-6, what the tests allow, but for plain sums")
        _size_axis(axes, name)
        axes.tick_params(labelleft=True)
    _log_axis(panels[0].yaxis, "{:.0e}".format)
    panels[0].set_ylabel("error against float64, relative (ratio)")
    style.finish(figure, archive, rows, _titled(rows, "Accuracy"))
    return figure


def _relative_error(row: Row, _: float) -> float:
    return row.counters["relative_error"]


FIGURES = [
    FigureSpec("map_reduce_published", "published", published),
    FigureSpec("map_reduce_variants", "variants", variants),
    FigureSpec("map_reduce_automatic", "variants", automatic),
    FigureSpec("map_reduce_block_size", "block_size", block_size),
    FigureSpec("map_reduce_memory", "memory", memory),
    FigureSpec("map_reduce_claims", "claims", claims),
    FigureSpec("map_reduce_cases", "cases", cases),
    FigureSpec("map_reduce_few_rows", "few_rows", few_rows),
    FigureSpec("map_reduce_extents", "extents", extents),
    FigureSpec("map_reduce_clouds", "clouds", clouds),
    FigureSpec("map_reduce_signals", "signals", signals),
    FigureSpec("map_reduce_many_dimensions", "many_dimensions", many_dimensions),
    FigureSpec("map_reduce_nearest", "nearest", nearest),
    FigureSpec("map_reduce_k_nearest", "k_nearest", k_nearest),
    FigureSpec("map_reduce_choice", "choice", choice),
    FigureSpec("map_reduce_accuracy", "accuracy", accuracy),
]
