"""The figures of multi_gpu_sort, one function each."""

from __future__ import annotations

import archive as archives
import style
from archive import Archive, NothingToDraw, Row
from figure import FigureSpec
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

# By variant and exchange; peers have the second of these.
COPY, DIRECT = "copy", "direct"
LOOKS = {
    ("radix_exchange", DIRECT): style.Look("radix_exchange", style.STRONG, "o", "-", 2.2, 6),
    ("splitter_merge", DIRECT): style.Look("splitter_merge", style.NAIVE, "X", "-", 1.8, 5),
    ("splitter_merge", COPY): style.Look("splitter_merge by copies", style.LIGHT, "^", ":"),
    ("swap_merge", DIRECT): style.Look("swap_merge in place (source)", style.MIDDLE, "s", "--"),
    ("swap_merge", COPY): style.Look("swap_merge by copies (source)", style.CLAIM, "P", "-."),
    ("cub_radix", DIRECT): style.Look("CUB radix sort, one GPU", style.OTHER_PEER, "v", "-", 1.6, 4),
    ("cub_merge", DIRECT): style.Look("CUB merge sort, one GPU", style.PEER, "D", "-", 1.6, 4),
}
HOST_LOOKS = {
    "host_sort": style.Look("host_sort", style.STRONG, "o", "-", 2.2, 6),
    "copy_only": style.Look("copy to the GPUs and back at once", style.CLAIM, "D", ":"),
}
RANK_LOOKS = {
    ("splitter_merge", "direct"): LOOKS["splitter_merge", "direct"],
    ("splitter_merge", "copy"): LOOKS["splitter_merge", "copy"],
    ("nccl_ranks", "copy"): style.Look("nccl_ranks", style.STRONG, "P", "-", 2.2, 6),
}
PUBLISHED = style.Look("Tanasic et al., 2013 (source)", style.SOURCE, "*", ":")
STEPS = {"sort": "sort", "split": "split", "exchange": "exchange", "merge": "merge"}
DISTRIBUTIONS = {
    "uniform": "uniform",
    "sorted": "sorted",
    "reversed": "reversed",
    "all_equal": "all equal",
    "half_equal": "half equal",
    "zipf": "Zipf",
}
KEYS = "number of keys of all devices, n"
RATE = "rate (million keys/s)"


def _timed(archive: Archive) -> list[Row]:
    """The rows that have a look."""
    variants = {variant for variant, _ in LOOKS}
    return [row for row in archive.timed_rows(variants) if _key(row) in LOOKS]


def _key(row: Row) -> tuple[str, str]:
    return row.variant, row.params["exchange"]


def _series(rows: list[Row], looks: dict = LOOKS) -> list[tuple[style.Look, list[Row]]]:
    """The rows of each look."""
    return [(look, [row for row in rows if _key(row) == key]) for key, look in looks.items()]


def _gpus(count: int) -> str:
    return f"{count} GPU" + ("s" if count != 1 else "")


def speedup(archive: Archive) -> Figure:
    """Million keys a second over n, a panel for each number of GPUs."""
    rows = _timed(archive)
    counts = archives.values_of(rows, "devices")
    columns = min(len(counts), 2)
    figure, panels = style.new_figure(
        columns, -(-len(counts) // columns), width=4.4, height=3.2, sharey=True
    )
    for axes, count in zip(panels, counts, strict=False):
        here = archives.where(rows, devices=count)
        style.lines(axes, _series(here), "n", lambda row, ms: row.params["n"] / ms / 1e3)
        style.log2_axis(axes.xaxis, archives.values_of(here, "n"))
        axes.set_title(_gpus(count))
        axes.set_xlabel(KEYS)
        axes.set_ylabel(RATE)
        axes.tick_params(labelleft=True)
    style.from_zero(panels[0])  # of all panels, once all lines are there
    for axes in panels[len(counts) :]:
        axes.set_visible(False)
    return style.finish(figure, archive, rows, f"Sorting {_keys(rows)} on several GPUs")


def scaling(archive: Archive) -> Figure:
    """How many times as fast as on one GPU a sort is, over the number of GPUs."""
    rows = [row for row in _timed(archive) if row.role != "peer"]
    of_one = {_sort(row): row for row in archives.where(rows, devices=1)}
    rows = [row for row in rows if _sort(row) in of_one]
    several = [row for row in rows if row.params["devices"] > 1]
    if not several:
        raise NothingToDraw(f"{archive.name} has no sort of one GPU to compare with")
    sizes = archives.values_of(several, "n")[-6:]
    columns = min(len(sizes), 3)
    figure, panels = style.new_figure(
        columns, -(-len(sizes) // columns), width=3.6, height=2.9, sharex=True, sharey=True
    )
    for axes, n in zip(panels, sizes, strict=False):
        here = archives.where(rows, n=n)
        for look, series in _series(here):
            points = [
                style.time_ratio(row.params["devices"], of_one[_sort(row)], row)
                for row in archives.along(series, "devices")
            ]
            if points:
                style.line(axes, points, look, ("devices",))
        _claims(axes, archive, n)
        counts = archives.values_of(rows, "devices")
        style.over_gpus(axes, counts, f"{style.power_of_two(n)} keys")
    style.from_zero(panels[0])  # of all panels, once all lines are there
    for axes in panels[len(sizes) :]:
        axes.set_visible(False)
    return style.finish(figure, archive, rows, f"Speed-up of sorting {_keys(rows)} by more GPUs")


def _sort(row: Row) -> tuple:
    """What is the same on one GPU as on several."""
    params = {name: value for name, value in row.params.items() if name != "devices"}
    return row.variant, *sorted(params.items())


def _claims(axes: Axes, archive: Archive, n: int) -> None:
    """The source's speed-ups over one GPU."""
    claims = [v for v in archive.verdicts if v.kind == "claim" and v.where.get("n") == n]
    of = sorted((v.where["devices"], v.published) for v in claims if v.baseline == {"devices": 1})
    if of:
        devices, published = zip(*of, strict=True)
        style.line(axes, style.published_points(list(devices), list(published)), PUBLISHED)


def _keys(rows: list[Row]) -> str:
    types = {"uint32": "32-bit integers", "uint64": "64-bit integers", "float": "floats"}
    return types.get(rows[0].params["type"], rows[0].params["type"])


def steps(archive: Archive) -> Figure:
    """How long each step takes at the largest n on two GPUs, all devices waiting after each."""
    counted = [row for row in _timed(archive) if row.counters.get("sort_ms") is not None]
    counted = [row for row in counted if row.params["devices"] > 1]
    if not counted:
        raise NothingToDraw(f"{archive.name} has no steps of several GPUs")
    devices = min(row.params["devices"] for row in counted)
    counted = archives.where(counted, devices=devices)
    n = max(row.params["n"] for row in counted)
    rows = archives.where(counted, n=n)
    of = [
        [
            (look, style.Point(row.counters[f"{step}_ms"], row.counters[f"{step}_ms"], rows=(row,)))
            for look, series in _series(rows)
            for row in series
            if row.counters[f"{step}_ms"] > 0
        ]
        for step in STEPS
    ]
    title = f"Steps of a sort of {style.power_of_two(n)} keys on {_gpus(devices)}"
    return _categories(archive, rows, ("step", list(STEPS.values())), of, "time (ms)", title)


def links(archive: Archive) -> Figure:
    """The share of the measured all-to-all rate that leaves each GPU while elements are exchanged.

    Of exchanges in which all GPUs take part at once: those of swap_merge on more than two GPUs are
    timed one pair of halves after the other. What a merge reads from others is no exchange.
    """
    rows = [row for row in _timed(archive) if _exchanged_gb_per_s(row) is not None]
    rows = [row for row in rows if row.variant != "swap_merge" or row.params["devices"] == 2]
    most = archive.links.all_to_all if archive.links else {}
    rows = [row for row in rows if row.params["devices"] in most]
    if not rows:
        raise NothingToDraw(f"{archive.name} has no exchange and measured link to compare with")
    counts = archives.values_of(rows, "devices")
    columns = min(len(counts), 3)
    width = 3.9 if columns > 1 else 5.4
    figure, panels = style.new_figure(
        columns, -(-len(counts) // columns), width=width, height=3.6, sharey=True
    )
    for axes, count in zip(panels, counts, strict=False):
        here = archives.where(rows, devices=count)
        limit = most[count].fastest
        for look, series in _series(here):
            points = [
                style.Point(row.params["n"], 100 * _exchanged_gb_per_s(row) / limit, rows=(row,))
                for row in archives.along(series, "n")
            ]
            if points:
                style.line(axes, points, look, ("n",))
        style.ceiling(axes, 100, f"measured all to all: {limit:,.0f} GB/s out of each")
        style.log2_axis(axes.xaxis, archives.values_of(here, "n"))
        axes.set_title(_gpus(count))
        axes.set_xlabel(KEYS)
        axes.set_ylabel("share of that rate (%)")
        axes.tick_params(labelleft=True)
    style.from_zero(panels[0])  # of all panels, once all lines are there
    for axes in panels[len(counts) :]:
        axes.set_visible(False)
    return style.finish(figure, archive, rows, f"Exchange of {_keys(rows)} between GPUs")


def _exchanged_gb_per_s(row: Row) -> float | None:
    """What leaves each GPU on average, over the time of the exchange."""
    milliseconds, share = row.counters.get("exchange_ms"), row.counters.get("moved_share")
    if not milliseconds or not share or row.params["devices"] == 1:
        return None
    size = (8 if row.params["type"] == "uint64" else 4) + 4 * (row.params["operation"] == "pairs")
    return share * row.params["n"] * size / row.params["devices"] / milliseconds / 1e6


def distributions(archive: Archive) -> Figure:
    """Time of a sort for each distribution of the keys."""
    rows = _timed(archive)
    names = [name for name in DISTRIBUTIONS if name in archives.values_of(rows, "distribution")]
    return _of_counts(
        archive,
        rows,
        ("distribution", names, [DISTRIBUTIONS[name] for name in names]),
        f"Distributions, {style.power_of_two(rows[0].params['n'])} keys",
    )


def types(archive: Archive) -> Figure:
    """Time of a sort for each type of keys, and of keys with values."""
    rows = _timed(archive)
    return _types(archive, rows, min(row.params["n"] for row in rows))


def large_types(archive: Archive) -> Figure:
    """Time of a sort for each type of keys, at the largest n."""
    rows = _timed(archive)
    sizes = archives.values_of(rows, "n")
    if len(sizes) < 2:
        raise NothingToDraw(f"{archive.name} was run at one n only")
    return _types(archive, rows, sizes[-1])


def _types(archive: Archive, rows: list[Row], n: int) -> Figure:
    rows = archives.where(rows, n=n)
    found = dict.fromkeys((row.params["operation"], row.params["type"]) for row in rows)
    groups = [(archives.where(rows, operation=o, type=t), o, t) for o, t in found]
    named = [(f"{t}\nand value" if o == "pairs" else t, of) for of, o, t in groups]
    return _panels(archive, rows, "type", named, f"Types, {style.power_of_two(n)} keys")


def _of_counts(
    archive: Archive, rows: list[Row], by: tuple[str, list[str], list[str]], title: str
) -> Figure:
    parameter, names, labels = by
    named = [
        (label, archives.where(rows, **{parameter: name}))
        for name, label in zip(names, labels, strict=True)
    ]
    return _panels(archive, rows, parameter, named, title)


def _panels(
    archive: Archive,
    rows: list[Row],
    what: str,
    named: list[tuple[str, list[Row]]],
    title: str,
    looks: dict = LOOKS,
) -> Figure:
    """A panel for each number of GPUs, in it a line of dots for each category: times of sorts."""
    counts = archives.values_of(rows, "devices")
    height = 1.6 + 0.55 * len(named)
    figure, panels = style.new_figure(len(counts), width=4.4, height=height, sharex=True, sharey=True)
    for axes, count in zip(panels, counts, strict=True):
        for y, (_, of) in enumerate(named):
            points = [
                (look, style.timed(row.timing.median, row))
                for look, series in _series(archives.where(of, devices=count), looks)
                for row in series
            ]
            _dots(axes, y, points, looks)
        axes.set_title(_gpus(count))
        _name_categories(axes, what, [name for name, _ in named])
        axes.set_xlabel(style.CALL_MS)
    return style.finish(figure, archive, rows, title)


def _categories(archive, rows, by, of, label: str, title: str) -> Figure:
    """A line of dots for each category."""
    what, names = by
    figure, (axes,) = style.new_figure(1, width=7.0, height=1.6 + 0.6 * len(names))
    for y, points in enumerate(of):
        _dots(axes, y, points)
    _name_categories(axes, what, names)
    axes.set_xlabel(label)
    return style.finish(figure, archive, rows, title)


def _dots(
    axes: Axes, y: int, points: list[tuple[style.Look, style.Point]], looks: dict = LOOKS
) -> None:
    axes.axhspan(y - 0.5, y + 0.5, color="#F4F4F4" if y % 2 else "white", zorder=0)
    places = {look.label: place for place, look in enumerate(looks.values())}
    for look, point in points:
        here = y + (places[look.label] - (len(looks) - 1) / 2) * 0.8 / len(looks)
        style.dot_across(axes, here, point, look)


def _name_categories(axes: Axes, what: str, names: list[str]) -> None:
    axes.set_ylabel(what)
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    subs = (1, 2, 5) if high / low > 10 else range(1, 10)
    axes.xaxis.set_major_locator(LogLocator(10, subs=subs, numticks=20))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter("{:g}".format))
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(names) - 0.5, -0.5)


def host_input(archive: Archive) -> Figure:
    """Time of a sort of host memory beside that of its copies, for each n and limit of memory."""
    rows = archive.timed_rows(set(HOST_LOOKS))
    counts = archives.values_of(rows, "devices")
    sizes, limits = archives.values_of(rows, "n"), archives.values_of(rows, "device_bytes")
    named = [
        (f"{_limit(limit)},\n{style.power_of_two(n)} keys", n, limit)
        for n in sizes
        for limit in limits
    ]
    height = 1.6 + 0.55 * len(named)
    shared = {"sharex": True, "sharey": True}
    figure, panels = style.new_figure(len(counts), width=4.4, height=height, **shared)
    for axes, count in zip(panels, counts, strict=True):
        for y, (_, n, limit) in enumerate(named):
            points = [
                (HOST_LOOKS[row.variant], style.timed(row.timing.median, row))
                for row in archives.where(rows, devices=count, n=n)
                if row.variant == "copy_only" or row.params["device_bytes"] == limit
            ]
            _dots(axes, y, points, HOST_LOOKS)
        axes.set_title(_gpus(count))
        _name_categories(axes, "memory and input", [name for name, _, _ in named])
        axes.set_xlabel(style.CALL_MS)
    return style.finish(figure, archive, rows, f"Sorting {_keys(rows)} in host memory")


def _limit(device_bytes: int) -> str:
    return f"in {device_bytes / 2**30:g} GiB a GPU" if device_bytes else "in all memory"


def ranks(archive: Archive) -> Figure:
    """Time of a sort by one process, and by a rank for each GPU."""
    rows = [row for row in archive.timed_rows({v for v, _ in RANK_LOOKS})]
    named = [
        (f"{style.power_of_two(n)} keys", archives.where(rows, n=n))
        for n in archives.values_of(rows, "n")
    ]
    return _panels(archive, rows, "number of keys", named, "Ranks over NCCL beside one process", RANK_LOOKS)


def virtual_devices(archive: Archive) -> Figure:
    """Time of a sort over the number of virtual devices of one GPU."""
    rows = _timed(archive)
    sizes = archives.values_of(rows, "n")
    figure, panels = style.new_figure(len(sizes), width=5.6 if len(sizes) == 1 else 4.0, height=3.4)
    for axes, n in zip(panels, sizes, strict=True):
        style.lines(axes, _series(archives.where(rows, n=n)), "devices", lambda _, ms: ms)
        style.from_zero(axes, "number of virtual devices (count)", style.CALL_MS)
        axes.set_title(f"{style.power_of_two(n)} keys")
    return style.finish(figure, archive, rows, "Virtual devices of one GPU")


FIGURES = [
    *FigureSpec.named(
        "multi_gpu_sort", speedup, distributions, types, virtual_devices, host_input, ranks
    ),
    FigureSpec("multi_gpu_sort_scaling", "speedup", scaling),
    FigureSpec("multi_gpu_sort_steps", "speedup", steps),
    FigureSpec("multi_gpu_sort_links", "speedup", links),
    FigureSpec("multi_gpu_sort_large_types", "types", large_types),
]
