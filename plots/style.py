"""One look for every figure.

The technique's leading variant is strong blue, peers are grey, the measured ceiling is a black
line, uncertainty is a band. The colours are steps of lightness, so that a figure survives grey
print and colour blindness, and no two lines differ by colour alone: a marker or dashes differ, too.
Bars of peers are hatched.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import archive as archives
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

# From dark to light, as far apart in grey as eight colours can be that stand out from white.
OTHER_PEER, SOURCE, STRONG, NAIVE = "#1F1F1F", "#611C45", "#005089", "#825A38"
PEER, CLAIM, MIDDLE, LIGHT = "#767676", "#E46300", "#45AAE4", "#68CDB8"
PALETTE = (OTHER_PEER, SOURCE, STRONG, NAIVE, PEER, CLAIM, MIDDLE, LIGHT)
INK, FAINT = "#222222", "#6B6B6B"

# Names of axes that several figures have.
USEFUL_GB_PER_S = "useful throughput (GB/s)"
CALL_MS = "time of one call (ms)"

matplotlib.rcParams.update(
    {
        "font.family": "DejaVu Sans",
        "font.size": 9,
        "text.color": INK,
        "axes.edgecolor": FAINT,
        "axes.labelcolor": INK,
        "axes.titlesize": 10,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.linewidth": 0.8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "axes.grid": True,
        "axes.grid.axis": "y",
        "grid.color": "#E4E4E4",
        "grid.linewidth": 0.7,
        "xtick.color": FAINT,
        "ytick.color": FAINT,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "legend.frameon": False,
        "legend.fontsize": 9,
        "hatch.linewidth": 0.8,
        "figure.facecolor": "white",
        "savefig.facecolor": "white",
        # The same archive gives the same bytes: an unchanged figure shows no difference.
        "svg.hashsalt": "warpath",
        "svg.fonttype": "path",
    }
)


@dataclass(frozen=True)
class Look:
    """How one variant is drawn everywhere."""

    label: str
    color: str
    marker: str = "o"
    dashes: str = "-"
    width: float = 1.6
    order: int = 3
    band: float = 0.22  # the uncertainty's opacity
    hatch: str = ""  # of a bar: peers have one, variants of the technique have none


@dataclass(frozen=True)
class Point:
    """One value that is drawn, and the rows that it comes from.

    `low` and `high` are its spread where it was timed; what was counted has none.
    """

    x: float
    middle: float
    low: float | None = None
    high: float | None = None
    rows: tuple[archives.Row, ...] = ()


Value = Callable[[archives.Row, float], float | None]
"""The value to draw, from a row and one of its times in milliseconds."""


def timed(x: float, row: archives.Row, value: Value = lambda _, ms: ms) -> Point:
    """The value at the row's median time, with those at p10 and p90."""
    time = row.timing
    low, high = sorted((value(row, time.p10), value(row, time.p90)))
    return Point(x, value(row, time.median), low, high, (row,))


def time_ratio(x: float, above: archives.Row, below: archives.Row) -> Point:
    """Time over time; the spread pairs the slow end of the one with the fast end of the other."""
    one, two = above.timing, below.timing
    spread = one.p10 / two.p90, one.p90 / two.p10
    return Point(x, one.median / two.median, *spread, (above, below))


def published_points(x: list[float], values: list[float]) -> list[Point]:
    """Values of a source, which have neither rows nor a spread."""
    return [Point(*pair) for pair in zip(x, values, strict=True)]


def new_figure(columns: int, rows: int = 1, width: float = 3.3, height: float = 2.7, **kwargs):
    """A grid of panels; returns (figure, list of axes)."""
    figure, grid = plt.subplots(
        rows,
        columns,
        figsize=(width * columns, height * rows),
        squeeze=False,
        layout="constrained",
        **kwargs,
    )
    return figure, list(grid.flat)


def _one_line(points: list[Point], along: tuple[str, ...]) -> None:
    """Raises ArchiveError if points of one line differ in more than the parameters `along` it."""
    for left, right in pairwise(points):
        for one, two in zip(left.rows, right.rows, strict=True):
            names = [name for name in one.params | two.params if name not in along]
            differ = [name for name in names if one.params.get(name) != two.params.get(name)]
            differ += ["variant"] * (one.variant != two.variant)
            if differ:
                raise archives.ArchiveError(
                    f"a line of {one.variant} over {' and '.join(along) or 'nothing'} joins points "
                    f"that differ in {', '.join(differ)}: choose one value before drawing a line"
                )


def line(axes: Axes, points: list[Point], look: Look, along: tuple[str, ...] = ()) -> None:
    """A variant's values as a line with markers, and their spread as a band.

    `along`: the parameters that x stands for. Raises ArchiveError where another one differs.
    """
    _one_line(points, along)
    x = [point.x for point in points]
    if points and all(point.low is not None for point in points):
        low, high = [point.low for point in points], [point.high for point in points]
        axes.fill_between(
            x, low, high, color=look.color, alpha=look.band, linewidth=0, zorder=look.order - 1
        )
    (drawn,) = axes.plot(
        x,
        [point.middle for point in points],
        linestyle=look.dashes,
        color=look.color,
        marker=look.marker,
        markersize=5,
        markeredgecolor="white",
        markeredgewidth=0.4,
        linewidth=look.width,
        label=look.label,
        zorder=look.order,
    )
    drawn.points, drawn.look = points, look


def lines(
    axes: Axes,
    of: Iterable[tuple[Look, list[archives.Row]]],
    x: str,
    value: Value,
    is_counted: bool = False,
    together: tuple[str, ...] = (),
) -> None:
    """A line for each look and its rows, over the parameter `x`.

    Rows for which `value` is None are left out. What `is_counted` is drawn without a spread.
    `together`: parameters that go with x, so that x stands for all of them.
    """
    for look, rows in of:
        series = archives.along(rows, x)
        series = [row for row in series if value(row, row.timing.median) is not None]
        points = [timed(row.params[x], row, value) for row in series]
        if is_counted:
            points = [replace(point, low=None, high=None) for point in points]
        if points:
            line(axes, points, look, (x, *together))


def by_variant(
    rows: list[archives.Row], looks: dict[str, Look]
) -> list[tuple[Look, list[archives.Row]]]:
    """The rows of each variant that has a look, for `lines`."""
    return [(look, archives.where(rows, variant=variant)) for variant, look in looks.items()]


def throughput_lines(axes: Axes, rows: list[archives.Row], x: str, looks: dict[str, Look]) -> None:
    """GB/s of each variant that has a look, over the parameter `x`."""
    lines(axes, by_variant(rows, looks), x, archives.Row.gb_per_s_at)


def bar(axes: Axes, width: float, point: Point, look: Look) -> float:
    """A value as a bar, its spread as a whisker; returns the height to label above.

    A bar needs a linear axis: on a logarithmic one its length would mean nothing.
    """
    (drawn,) = axes.bar(
        point.x,
        point.middle,
        width * 0.92,
        color=look.color,
        edgecolor="white",
        linewidth=0,
        hatch=look.hatch,
        label=look.label,
        zorder=2,
    )
    drawn.points, drawn.look = [point], look
    if point.low is None:
        return point.middle
    whisker = [[point.middle - point.low], [point.high - point.middle]]
    axes.errorbar(point.x, point.middle, whisker, color=INK, linewidth=0.9, capsize=2, zorder=4)
    return point.high


def dot_across(axes: Axes, y: float, point: Point, look: Look) -> None:
    """A value as a marker at the height y, its spread as a line across it."""
    if point.low is not None:
        axes.plot([point.low, point.high], [y, y], color=look.color, linewidth=1.4, zorder=2)
    marks = {"marker": look.marker, "markersize": 6, "markeredgecolor": "white"}
    marks["markeredgewidth"] = 0.4
    (drawn,) = axes.plot(
        point.x, y, linestyle="none", color=look.color, label=look.label, zorder=3, **marks
    )
    drawn.points, drawn.look = [point], look


def has_spread(axes: Axes) -> bool:
    """Whether a panel shows how far times spread."""
    points = [point for artist in axes.get_children() for point in getattr(artist, "points", [])]
    return any(point.low is not None for point in points)


def ceiling(axes: Axes, value: float | None, text: str, side: str = "left") -> None:
    """The measured ceiling as a line, named on the line itself, at its left or right end."""
    if value is None:
        return
    axes.axhline(value, color="black", linewidth=0.9, linestyle=(0, (5, 2)), zorder=1)
    axes.annotate(
        text,
        (0.012 if side == "left" else 0.988, value),
        xycoords=("axes fraction", "data"),
        xytext=(0, 2.5),
        textcoords="offset points",
        fontsize=7.5,
        ha=side,
        va="bottom",
    )


def claim(axes: Axes, value: float, text: str) -> None:
    """A published figure as a line, named on the line itself."""
    axes.axhline(value, color=CLAIM, linewidth=1.1, linestyle=(0, (2, 1.5)), zorder=2)
    axes.annotate(
        text,
        (0.012, value),
        xycoords=("axes fraction", "data"),
        xytext=(0, 2.5),
        textcoords="offset points",
        fontsize=7.5,
        va="bottom",
    )


def note_beside(axes: Axes, x: float, y: float, text: str, above: float) -> None:
    """A small value label right of a point, moved up by `above` typographic points."""
    axes.annotate(
        text, (x, y), xytext=(6, above), textcoords="offset points", fontsize=6.5, va="center"
    )


def note_above(axes: Axes, x: float, y: float, text: str, rotation: float = 0) -> None:
    """A small value label above a bar; turned by 90 degrees where bars are narrow."""
    axes.annotate(
        text,
        (x, y),
        xytext=(0, 4 if rotation else 2),
        textcoords="offset points",
        fontsize=6.5,
        rotation=rotation,
        ha="center",
        va="bottom",
        bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"},
        zorder=5,
    )


def power_of_two(value: float) -> str:
    """A power of two as such, other numbers as they are."""
    exponent = math.log2(value)
    return f"$2^{{{round(exponent)}}}$" if abs(exponent - round(exponent)) < 1e-9 else f"{value:g}"


def log2_axis(axis, values: Iterable[float]) -> None:
    """A logarithmic axis with at most eight powers of two as labels, one at each end.

    Where only a prime number of steps leads from end to end, there may be none at the lower one.
    """
    values = list(values)
    low, high = math.floor(math.log2(min(values))), math.ceil(math.log2(max(values)))
    span = max(1, high - low)
    step = next(step for step in range(1, span + 1) if span % step == 0 and span // step < 8)
    if step == span:
        step = math.ceil(span / 7)
    axis.axes.set_xscale("log", base=2) if axis.axis_name == "x" else axis.axes.set_yscale(
        "log", base=2
    )
    axis.set_major_locator(FixedLocator([2.0**e for e in sorted(range(high, low - 1, -step))]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: power_of_two(value)))


def from_zero(axes: Axes, x: str = "", y: str = "") -> None:
    """A y axis that starts at zero, with room above the highest line for its name.

    `x` and `y` name the axes, where they are given.
    """
    axes.set_ylim(0, axes.get_ylim()[1] * 1.06)
    axes.set_xlabel(x or axes.get_xlabel())
    axes.set_ylabel(y or axes.get_ylabel())


def around_one(axes: Axes) -> None:
    """A y axis for ratios that shows on which side of 1 they lie."""
    low, high = axes.get_ylim()
    axes.set_ylim(min(0.9, low), max(1.1, high))


def over_gpus(axes: Axes, counts: list[int], title: str) -> None:
    """A panel of times on one GPU over times on several, with a line at 1."""
    axes.axhline(1, color=FAINT, linewidth=0.8, zorder=1)
    axes.set_title(title)
    axes.set_xticks(counts)
    axes.set_xlabel("number of GPUs")
    axes.set_ylabel("time on one GPU over time (ratio)")
    axes.tick_params(labelleft=True, labelbottom=True)


def headroom(axes: Axes) -> None:
    """Room above the highest line for its name."""
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.08 * (high - low))


def percent_axis(axis) -> None:
    """The x axis for shares 0..1, all of it, in percent."""
    axis.axes.set_xlim(-0.04, 1.04)
    axis.set_major_locator(FixedLocator([0, 0.25, 0.5, 0.75, 1]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g}"))


def _legend_entries(figure: Figure) -> dict[str, object]:
    """Each label once, with its handle, over all panels."""
    found = {}
    for panel in figure.axes:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return found


def outer_labels(panels: list[Axes], columns: int, x: str, y: str) -> None:
    """Axis names under the last row of panels and beside the first column."""
    for axes in panels[-columns:]:
        axes.set_xlabel(x)
    for axes in panels[::columns]:
        axes.set_ylabel(y)


def label_of(axes: Axes, letter: str) -> str:
    """The name of a panel's x or y axis: its own, or that of its column's last or row's first."""
    own = getattr(axes, f"get_{letter}label")()
    place = axes.get_subplotspec()
    if own or place is None:
        return own
    for other in axes.figure.axes:
        there = other.get_subplotspec()
        same_row = letter == "y" and there.rowspan == place.rowspan and there.is_first_col()
        same_column = letter == "x" and there.colspan == place.colspan and there.is_last_row()
        if same_row or same_column:
            return getattr(other, f"get_{letter}label")()
    return ""


def graded(label: str, place: int, count: int) -> Look:
    """One of a family of `count` lines: from light to dark, each with its marker and dashes."""
    share = place / max(1, count - 1)
    color = to_hex(matplotlib.colormaps["Blues"](0.35 + 0.65 * share))
    dashes = ("-", "--", ":")[place % 3]
    return Look(label, color, "ovsD^PX*"[place % 8], dashes, 1.4, band=0.1)


def legend_panel(axes: Axes) -> None:
    """Turns an empty panel into the figure's legend."""
    found = _legend_entries(axes.figure)
    axes.axis("off")
    axes.legend(found.values(), found.keys(), loc="center left")


def finish(
    figure: Figure, archive: archives.Archive, rows: list[archives.Row], title: str
) -> Figure:
    """Title, legend (unless a panel is one) and small print; the last step of drawing a figure."""
    figure.suptitle(title, x=0.008, ha="left", fontsize=11.5, fontweight="bold")
    inch = 1 / figure.get_figheight()
    parts = _small_print(archive, rows)
    samples = [row.timing.samples for row in rows if row.timing]
    if samples and any(map(has_spread, figure.axes)):
        parts.append(f"median of {_range(samples)} samples, p10 to p90 shown")
    if any("GB/s" in panel.get_ylabel() for panel in figure.axes):
        parts.append("useful GB/s: bytes that any solution must read and write, over time")
    footing = _wrap(parts, figure.get_figwidth())
    figure.text(0.008, 0.03 * inch, footing, fontsize=6.5, color=FAINT, va="bottom")
    bottom = (0.08 + 0.115 * len(footing.splitlines())) * inch
    if not any(panel.get_legend() for panel in figure.axes):
        found = _legend_entries(figure)
        place = {"loc": "lower center", "bbox_to_anchor": (0.5, bottom)}
        # As many entries side by side as fit: a character takes about 0.07 inches, its line 0.7.
        widest = max(map(len, found), default=0) * 0.07 + 0.7
        lines = -(-len(found) // max(1, int(figure.get_figwidth() / widest)))
        columns = max(1, -(-len(found) // max(1, lines)))
        figure.legend(found.values(), found.keys(), ncol=columns, borderaxespad=0.2, **place)
        bottom += (0.06 + 0.19 * lines) * inch
    figure.get_layout_engine().set(rect=(0, bottom, 0.995, 1 - bottom))
    return figure


def _small_print(archive: archives.Archive, rows: list[archives.Row]) -> list[str]:
    """Device, commit, date, cache state and what was drawn."""
    facts = archive.provenance
    caches = " and ".join(sorted({row.cache for row in rows if row.cache}))
    launches = [row.launches for row in rows if row.launches]
    parts = [facts.device]
    if facts.cuda_version:
        parts.append(f"CUDA {facts.cuda_version}")
    if facts.driver:
        parts.append(f"driver {facts.driver}")
    parts += [f"commit {facts.short_commit}", facts.date]
    if caches:
        parts.append(f"{caches} L2")
    if max(launches, default=1) > 1:
        parts.append(f"{_range(launches)} launches a sample")
    return parts


def _range(counts: list[int]) -> str:
    """The least and the greatest of some counts, as words."""
    least, most = min(counts), max(counts)
    return f"{least}" if least == most else f"{least} to {most}"


def _wrap(parts: list[str], inches: float) -> str:
    """The parts, joined into lines that fit the figure's width."""
    lines = [parts[0]]
    for part in parts[1:]:
        joined = f"{lines[-1]}  ·  {part}"
        if len(joined) * 0.054 < inches:
            lines[-1] = joined
        else:
            lines.append(part)
    return "\n".join(lines)


def save(figure: Figure, stem: Path) -> list[Path]:
    """Writes `stem`.svg and `stem`.png (150 dpi) and closes the figure; returns the two paths."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [stem.with_suffix(".svg"), stem.with_suffix(".png")]
    figure.savefig(paths[0], metadata={"Date": None})
    figure.savefig(paths[1], dpi=150, metadata={"Software": None})
    plt.close(figure)
    return paths
