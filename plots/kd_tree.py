"""The figures of kd_tree, one function each."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import archive as archives
import style
from archive import Archive, NothingToDraw, Row
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
# By variant and how tuples are sorted over devices.
ON_DEVICES = {
    ("fast", "splitter_merge"): BUILDS["fast"],
    ("four_partitioners", "splitter_merge"): style.Look(
        "four_partitioners, splitter_merge", style.MIDDLE, "v", "-"
    ),
    ("four_partitioners", "swap_merge"): style.Look(
        "four_partitioners, swap_merge (source)", style.SOURCE, "^", "-."
    ),
}
OPERATIONS = {"nearest": "nearest", "k_nearest": "{k} nearest"}
RANGES = {"within_radius": "within a radius", "in_box": "in a box"}
TYPES = {"float": "floats", "int32": "32-bit integers"}
TUPLES = "number of tuples, n"
PUBLISHED = Path(__file__).resolve().parent / "published" / "kd_tree_2014.tsv"
PUBLISHED_LOOKS = {
    "GTX Titan Black": style.Look("GTX Titan Black (source)", style.CLAIM, "P"),
    "AWS G2, GRID K520": style.Look("GRID K520 (source)", style.LIGHT, "X"),
}
PUBLISHED_CPUS = style.Look("three CPUs, 8 threads each (source)", style.OTHER_PEER, "*")
COLUMNS = {
    "init": "init",
    "sort_and_remove": "sort, remove duplicates",
    "kd": "k-d tree",
    "verify": "verify",
    "total": "in all",
}


def _over_n(panels: list[Axes], rows: list[Row], y: str) -> None:
    """Both axes in powers; as both are, the times of one curve stay comparable."""
    for axes in panels:
        axes.set_yscale("log")
        axes.set_xlabel(TUPLES)
        axes.tick_params(labelleft=True, labelbottom=True)
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


def _several(rows: list[Row], name: str, by: str) -> list:
    """The values of `name` that have rows of more than one value of `by`."""
    values = archives.values_of(rows, name)
    return [v for v in values if len(archives.values_of(archives.where(rows, **{name: v}), by)) > 1]


def _timed(archive: Archive) -> list[Row]:
    """The rows of builds, on the GPU and on its host."""
    return archive.timed_rows(BUILDS) + archives.where(archive.cpu_rows(), variant="cpu")


def _uniform(archive: Archive) -> list[Row]:
    return archives.where(_timed(archive), distribution="uniform")


def build(archive: Archive) -> Figure:
    """Time of a build over n, a panel for each number of coordinates."""
    rows = _uniform(archive)
    dimensions = _several(rows, "d", "n") or archives.values_of(rows, "d")
    columns = min(2, len(dimensions))
    figure, panels = style.new_figure(
        columns, -(-len(dimensions) // columns), width=4.6, height=3.4, sharey=True, sharex=True
    )
    drawn = []
    for axes, d in zip(panels, dimensions, strict=False):
        here = archives.where(rows, d=d)
        drawn += here
        style.lines(axes, _builds(here), "n", lambda _, ms: ms)
        axes.set_title(f"{d} coordinates")
    for axes in panels[len(dimensions) :]:
        axes.axis("off")
    _over_n(panels[: len(dimensions)], drawn, style.CALL_MS)
    for axes in panels[columns : len(dimensions) : columns]:
        axes.set_ylabel(style.CALL_MS)
    return style.finish(figure, archive, drawn, "Building a balanced k-d tree")


def memory(archive: Archive) -> Figure:
    """Memory that a build allocates beside tuples and median stores, over their coordinates."""
    rows = [row for row in _uniform(archive) if row.variant != "cpu"]
    n = max(archives.values_of(rows, "n"), key=lambda n: (len(_dimensions(rows, n)), n))
    rows = archives.where(rows, n=n)
    figure, (axes,) = style.new_figure(1, width=5.4, height=3.4)
    of = [(look, here) for look, here in _builds(rows) if len(here) > 1]
    drawn = [row for _, here in of for row in here]
    style.lines(axes, of, "d", lambda row, _: _counter(row, "allocated_per_tuple"), is_counted=True)
    d = _dimensions(rows, n)
    tuples = style.Look("the tuples themselves", style.PEER, "D", ":")
    style.line(axes, style.published_points(d, [4 * each for each in d]), tuples)
    style.from_zero(axes, "number of coordinates", "allocated for each tuple (bytes)")
    title = f"Memory of a build, n = {style.power_of_two(n)} tuples of floats"
    return style.finish(figure, archive, drawn, title)


def _dimensions(rows: list[Row], n: int) -> list[int]:
    return archives.values_of(archives.where(rows, n=n), "d")


def _counter(row: Row, name: str) -> float | None:
    return row.counters.get(f"{name}_bytes")


def clusters(archive: Archive) -> Figure:
    """Builds of clustered tuples beside those of uniform ones."""
    rows = archive.timed_rows(("fast", "four_partitioners"))
    kinds = [
        (n, d)
        for n in archives.values_of(rows, "n")
        for d in archives.values_of(rows, "d")
        if archives.where(rows, n=n, d=d, distribution="clustered")
    ]
    if not kinds:
        raise NothingToDraw(f"{archive.name} has no clustered tuples")
    names, of = [], []
    for n, d in kinds:
        for distribution in ("uniform", "clustered"):
            names.append(f"{distribution}, {n:,} of {d}")
            of.append(archives.where(rows, n=n, d=d, distribution=distribution))
    return _categories(archive, "tuples", names, of, "Builds of uniform and of clustered tuples")


def types(archive: Archive) -> Figure:
    """Time of a build for each type of coordinates."""
    rows = archive.timed_rows(BUILDS)
    names = archives.values_of(rows, "type")
    of = [archives.where(rows, type=name) for name in names]
    size = style.power_of_two(rows[0].params["n"])
    title = f"Builds by type, n = {size}, {rows[0].params['d']} coordinates"
    return _categories(archive, "type of coordinates", names, of, title)


def _categories(
    archive: Archive, what: str, names: list[str], of: list[list[Row]], title: str
) -> Figure:
    """A line of dots for each category, the first on top: the times of its builds."""
    height = 1.4 + 0.18 * sum(map(len, of))
    figure, (axes,) = style.new_figure(1, width=7.0, height=height)
    for y, rows in enumerate(of):
        axes.axhspan(y - 0.5, y + 0.5, color="#F4F4F4" if y % 2 else "white", zorder=0)
        for place, (variant, look) in enumerate(BUILDS.items()):
            here = y + (place - (len(BUILDS) - 1) / 2) * 0.8 / len(BUILDS)
            for row in archives.where(rows, variant=variant):
                style.dot_across(axes, here, style.timed(row.timing.median, row), look)
    _name_categories(axes, what, names)
    axes.set_xlabel(style.CALL_MS)
    return style.finish(figure, archive, [row for rows in of for row in rows], title)


def _name_categories(axes: Axes, what: str, names: list[str]) -> None:
    axes.set_ylabel(what)
    axes.set_xscale("log")
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(False, axis="y")


def duplicates(archive: Archive) -> Figure:
    """Time of a build that removes duplicates, over their share."""
    rows = archive.timed_rows(BUILDS)
    figure, panels = style.new_figure(1, width=5.4, height=3.4)
    style.lines(panels[0], _builds(rows), "duplicates", lambda _, ms: ms)
    style.from_zero(panels[0], "share of tuples that are copies (ratio)", style.CALL_MS)
    size = style.power_of_two(rows[0].params["n"])
    title = f"Builds without duplicates, n = {size}, {rows[0].params['d']} coordinates"
    return style.finish(figure, archive, rows, title)


def published(archive: Archive) -> Figure:
    """The source's table: each of its columns, on machines of its time and on this one."""
    rows = _timed(archive)
    systems = [
        (look, {c: row.counters.get(f"{c}_ms") for c in COLUMNS}, (row,))
        for look, of in _builds(rows)
        for row in of
    ]
    with PUBLISHED.open() as file:
        table = list(csv.DictReader(file, delimiter="\t"))
    for machine in dict.fromkeys((cell["machine"], cell["kind"]) for cell in table):
        cells = [cell for cell in table if (cell["machine"], cell["kind"]) == machine]
        look = PUBLISHED_LOOKS.get(machine[0]) if machine[1] == "GPU" else PUBLISHED_CPUS
        systems.append((look, {cell["column"]: float(cell["ms"]) for cell in cells}, ()))
    figure, (axes,) = style.new_figure(1, width=7.0, height=5.2)
    for y, column in enumerate(COLUMNS):
        axes.axhspan(y - 0.5, y + 0.5, color="#F4F4F4" if y % 2 else "white", zorder=0)
        for place, (look, cells, of) in enumerate(systems):
            if cells.get(column):
                here = y + (place - (len(systems) - 1) / 2) * 0.8 / len(systems)
                point = style.Point(cells[column], cells[column], rows=of)
                style.dot_across(axes, here, point, look)
    _name_categories(axes, "column of the table", list(COLUMNS.values()))
    axes.set_xlabel("time, duplicates removed (ms)")
    size = style.power_of_two(rows[0].params["n"])
    title = f"The source's table, {size} tuples of {rows[0].params['d']} int32"
    return style.finish(figure, archive, rows, title)


def levels(archive: Archive) -> Figure:
    """Time of each level of a build; of `fast`, the last ones together."""
    rows = [row for row in archive.timed_rows(BUILDS) if row.variant != "cpu"]
    figure, (axes,) = style.new_figure(1, width=6.2, height=3.8)
    for look, of in _builds(rows):
        for row in of:
            style.line(axes, _points_of_levels(row), look)
            _note_subtrees(axes, row)
    style.from_zero(axes, "number of levels above this one", "time of the level (ms)")
    size = style.power_of_two(rows[0].params["n"])
    title = f"Levels of a build, {size} tuples of {rows[0].params['d']} int32"
    return style.finish(figure, archive, rows, title)


def _steps(row: Row, step: str) -> dict[int, float]:
    """The times of a step, by its number."""
    names = [name for name in row.counters if name.startswith(f"{step}_") and name.endswith("_ms")]
    numbers = {name: name.removeprefix(f"{step}_").removesuffix("_ms") for name in names}
    return {int(digits): row.counters[name] for name, digits in numbers.items() if digits.isdigit()}


def _points_of_levels(row: Row) -> list[style.Point]:
    times = _steps(row, "partition")
    for step in ("select", "move"):
        for level, ms in _steps(row, step).items():
            times[level] = times.get(level, 0) + ms
    return [style.Point(level, ms, rows=(row,)) for level, ms in sorted(times.items())]


def _note_subtrees(axes: Axes, row: Row) -> None:
    """Of `fast`, the levels that are made in shared memory: their time, shared out among them."""
    for level, ms in _steps(row, "finish").items():
        last = row.params["n"].bit_length() - 1
        each = ms / (last - level + 1)
        axes.plot([level, last], [each, each], color=style.STRONG, linewidth=1.6, linestyle=":")
        text = f"fast, levels {level} to {last}: {ms:.2f} ms in all"
        style.note_above(axes, (level + last) / 2, each, text)


def _queries_over_n(archive: Archive) -> list[Row]:
    return archives.where(archive.timed_rows(FORMS), distribution="uniform")


def _nanoseconds(row: Row, ms: float) -> float:
    return 1e6 * ms / row.params["queries"]


def _forms(axes: Axes, rows: list[Row], x: str) -> None:
    """A line for each form of the tree, and order of queries."""
    for (variant, order), look in LOOKS_OF_QUERIES.items():
        of = archives.where(rows, variant=variant, query_order=order)
        style.lines(axes, [(look, of)], x, _nanoseconds)


def queries(archive: Archive) -> Figure:
    """Time of a query over n, uniform tuples: a panel an operation and number of coordinates."""
    rows = _queries_over_n(archive)
    dimensions = _several(rows, "d", "n") or archives.values_of(rows, "d")
    kinds = [(operation, d) for operation in OPERATIONS for d in dimensions]
    columns = len(dimensions)
    figure, panels = style.new_figure(
        columns, len(OPERATIONS), width=3.4, height=3.2, sharey="row", sharex=True
    )
    drawn = []
    for axes, (operation, d) in zip(panels, kinds, strict=True):
        here = archives.where(rows, operation=operation, d=d)
        drawn += here
        _forms(axes, here, "n")
        k = here[0].params["k"] if here else ""
        axes.set_title(f"{OPERATIONS[operation].format(k=k)}, {d} coordinates")
    _over_n(panels, drawn, "time of a query (ns)")
    panels[columns].set_ylabel("time of a query (ns)")
    return style.finish(figure, archive, drawn, "Queries over a balanced k-d tree")


def query_kinds(archive: Archive) -> Figure:
    """Queries of clustered tuples, and of many coordinates, beside those of uniform ones."""
    rows = archives.where(archive.timed_rows(FORMS), n=1000000)
    names, of = [], []
    for operation in OPERATIONS:
        for distribution, d in (("uniform", 3), ("clustered", 3), ("uniform", 8)):
            here = archives.where(
                rows, operation=operation, distribution=distribution, d=d, query_order="random"
            )
            if here:
                k = here[0].params["k"]
                names.append(
                    f"the {OPERATIONS[operation].format(k=k)}, {distribution}, {d} coordinates"
                )
                of.append(here)
    if not names:
        raise NothingToDraw(f"{archive.name} has no million of tuples")
    figure, (axes,) = style.new_figure(1, width=7.0, height=1.4 + 0.18 * sum(map(len, of)))
    looks = {v: look for (v, order), look in LOOKS_OF_QUERIES.items() if order == "random"}
    for y, here in enumerate(of):
        axes.axhspan(y - 0.5, y + 0.5, color="#F4F4F4" if y % 2 else "white", zorder=0)
        for place, (variant, look) in enumerate(looks.items()):
            at = y + (place - 1.5) * 0.2
            for row in archives.where(here, variant=variant):
                point = style.timed(_nanoseconds(row, row.timing.median), row, _nanoseconds)
                style.dot_across(axes, at, point, look)
    _name_categories(axes, "queries", names)
    axes.set_xlabel("time of a query (ns)")
    drawn = [row for here in of for row in here]
    return style.finish(figure, archive, drawn, "Queries of several kinds, a million of tuples")


def neighbours(archive: Archive) -> Figure:
    """Time of a query for the k nearest, over k."""
    rows = archive.timed_rows(FORMS)
    for name in ("d", "queries"):
        (value, *_) = _several(rows, name, "k") or archives.values_of(rows, name)
        rows = archives.where(rows, **{name: value})
    figure, (axes,) = style.new_figure(1, width=5.4, height=3.6)
    _forms(axes, rows, "k")
    axes.set_yscale("log")
    axes.set_xlabel("number of neighbours, k")
    axes.set_ylabel("time of a query (ns)")
    style.log2_axis(axes.xaxis, archives.values_of(rows, "k"))
    title = f"The k nearest of {rows[0].params['n']:,}, {rows[0].params['d']} coordinates"
    return style.finish(figure, archive, rows, title)


def ranges(archive: Archive) -> Figure:
    """Time of a query for all within a radius, or in a box, over how many they are."""
    rows = archive.timed_rows(FORMS)
    (n, *_) = _several(rows, "n", "found") or archives.values_of(rows, "n")
    rows = archives.where(rows, n=n)
    operations = [name for name in RANGES if archives.where(rows, operation=name)]
    figure, panels = style.new_figure(len(operations), width=4.2, height=3.6, sharey=True)
    for axes, operation in zip(panels, operations, strict=True):
        _forms(axes, archives.where(rows, operation=operation), "found")
        axes.set_title(RANGES[operation])
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.tick_params(labelleft=True)
        axes.set_xlabel("number of tuples found, on average")
    panels[0].set_ylabel("time of a query (ns)")
    title = f"Ranges of {n:,} tuples, {rows[0].params['d']} coordinates: counts, then tuples"
    return style.finish(figure, archive, rows, title)


def verify(archive: Archive) -> Figure:
    """Time of a verification over n, of either form of the tree."""
    rows = archive.timed_rows(VERIFIED)
    rows = archives.where(rows, d=(_several(rows, "d", "n") or archives.values_of(rows, "d"))[0])
    figure, panels = style.new_figure(1, width=5.4, height=3.6)
    style.lines(panels[0], style.by_variant(rows, VERIFIED), "n", lambda _, ms: ms)
    _over_n(panels, rows, style.CALL_MS)
    title = f"Verifying a tree, {rows[0].params['d']} coordinates"
    return style.finish(figure, archive, rows, title)


def devices(archive: Archive) -> Figure:
    """How many times as fast as on one GPU a build is, over the number of GPUs."""
    rows = [row for row in archive.timed_rows(BUILDS) if _way(row) in ON_DEVICES]
    kinds = sorted({_kind(row) for row in rows if row.params["devices"] > 1})
    if not kinds:
        raise NothingToDraw(f"{archive.name} has no build on several GPUs")
    columns = min(len(kinds), 3)
    figure, panels = style.new_figure(
        columns, -(-len(kinds) // columns), width=4.2, height=3.2, sharex=True, sharey=True
    )
    drawn = []
    for axes, kind in zip(panels, kinds, strict=False):
        here = [row for row in rows if _kind(row) == kind]
        for way, look in ON_DEVICES.items():
            series = archives.along([row for row in here if _way(row) == way], "devices")
            if len(series) < 2 or series[0].params["devices"] != 1:
                continue
            drawn += series
            points = [style.time_ratio(row.params["devices"], series[0], row) for row in series]
            style.line(axes, points, look, ("devices",))
        n, d, of_type = kind
        counts = archives.values_of(rows, "devices")
        style.over_gpus(axes, counts, f"{n:,} tuples of {d} {TYPES[of_type]}")
    style.from_zero(panels[0])  # of all panels, once all lines are there
    for axes in panels[len(kinds) :]:
        axes.axis("off")
    return style.finish(figure, archive, drawn, "Building a balanced k-d tree on several GPUs")


def _way(row: Row) -> tuple[str, str]:
    return row.variant, row.params["sort"]


def _kind(row: Row) -> tuple[int, int, str]:
    return row.params["n"], row.params["d"], row.params["type"]


FIGURES = [
    FigureSpec("kd_tree_build", "build", build),
    FigureSpec("kd_tree_memory", "build", memory),
    FigureSpec("kd_tree_clusters", "build", clusters),
    FigureSpec("kd_tree_types", "types", types),
    FigureSpec("kd_tree_duplicates", "duplicates", duplicates),
    FigureSpec("kd_tree_published", "published", published),
    FigureSpec("kd_tree_levels", "published", levels),
    FigureSpec("kd_tree_queries", "queries", queries),
    FigureSpec("kd_tree_query_kinds", "queries", query_kinds),
    FigureSpec("kd_tree_neighbours", "neighbours", neighbours),
    FigureSpec("kd_tree_ranges", "ranges", ranges),
    FigureSpec("kd_tree_verify", "verify", verify),
    FigureSpec("kd_tree_devices", "devices", devices),
]
