"""How tests of figures come to an archive of a technique, and what no figure may do (`faults`).

What is drawn is made up. A technique says how in `rows/<slug>.py`, by either
  - `ROWS`: for each experiment, a function from the backend to rows, or
  - `PEERS`, the variants that are peers, and `finish(row)`, which completes a row. The rows are the
    points that configs/<slug>/<experiment>.json sweeps.

`ARCHIVE` is what its archives have beside their rows, if anything.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import archive as archives
import figure
import seen
import style
import synthetic
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text

import configs

TECHNIQUES = sorted({name.split("/")[0] for name in configs.NAMES})


def rows_of(technique: str, experiment: str, backend: str = "cuda") -> list[dict[str, Any]]:
    """The made-up rows of an experiment."""
    script = importlib.import_module(f"rows.{technique}")
    if hasattr(script, "ROWS"):
        return script.ROWS[experiment](backend)
    rows = []
    for place, point in enumerate(configs.points(configs.read(f"{technique}/{experiment}.json"))):
        params = {"seed": 42} | point
        variant = params.pop("variant")
        is_peer = variant in script.PEERS
        made = synthetic.row("cub" if is_peer else "single_pass", backend)
        made |= {"variant": variant, "role": "peer" if is_peer else "technique", "params": params}
        script.finish(made)
        rows.append(synthetic.timed(made, 0.1 + 0.01 * place))
    return rows


def read(
    folder: Path, technique: str, experiment: str, rows: list[dict[str, Any]], backend: str = "cuda"
) -> archives.Archive:
    """A made-up archive of those rows, written and read again."""
    made = getattr(importlib.import_module(f"rows.{technique}"), "ARCHIVE", {})
    content = synthetic.archive(experiment, rows, backend, technique=technique, **made)
    return archives.load(synthetic.write(folder / "in", content))


def drawer(technique: str, folder: Path) -> Callable[[str], Figure]:
    """Draws a figure by its name without the technique, from made-up rows."""
    specs = {spec.name: spec for spec in figure.figures_of(technique)}

    def draw(name: str) -> Figure:
        spec = specs[f"{technique}_{name}"]
        return spec.draw(
            read(folder, technique, spec.experiment, rows_of(technique, spec.experiment))
        )

    return draw


TOLD_APART = 7
"""The least CIEDE2000 between colours that must be told apart without a second look.

About 1 is seen where two areas touch; lines are thin, and lie inches away from their legend. Eight
colours that stand out from white can be about 7.5 apart in grey, and no more.
"""
FROM_PAPER = 12
"""The least CIEDE2000 between a colour and the white paper."""
TIME_UNITS = "ms|ns|GB/s|million [a-z ]+/s"
UNIT = re.compile(rf"\((?:{TIME_UNITS}|bytes|%|count|ratio|million)\)|^number of ")


def faults(drawn: Figure) -> list[str]:
    """What is wrong with a figure; nothing, if it may be shown."""
    panels = [axes for axes in drawn.axes if axes.axison]
    found = [fault for axes in panels for fault in _faults_of_panel(axes)]
    return found + unnamed_axes(panels) + clipped_texts(drawn)


def _faults_of_panel(axes: Axes) -> list[str]:
    return bars_on_a_log_axis(axes) + alike(axes) + spreads_of_counts(axes)


def values_in(axes: Axes) -> list[Artist]:
    """The lines, bars and dots of a panel that show values."""
    return [artist for artist in axes.get_children() if hasattr(artist, "points")]


def rows_in(drawn: Figure) -> Iterator[archives.Row]:
    """The rows whose values a figure shows."""
    for axes in drawn.axes:
        for artist in values_in(axes):
            for point in artist.points:
                yield from point.rows


def bars_on_a_log_axis(axes: Axes) -> list[str]:
    """A bar's length says how much; on a logarithmic axis it says nothing."""
    bars = [bar for container in axes.containers for bar in container if isinstance(bar, Rectangle)]
    if bars and "log" in (axes.get_xscale(), axes.get_yscale()):
        return [f"{axes.get_title(loc='left')}: bars stand on a logarithmic axis"]
    return []


def _kind(artist: Artist) -> str:
    if not isinstance(artist, Line2D):
        return "bar"
    return "dot" if artist.get_linestyle() == "None" else "line"


def _role(artist: Artist) -> str | None:
    """The role of all rows of a line, bar or dot, if they have one."""
    roles = {row.role for point in artist.points for row in point.rows}
    return roles.pop() if len(roles) == 1 else None


def are_told_apart(kind: str, one: style.Look, two: style.Look, ours_and_a_peer: bool) -> bool:
    """Whether two looks differ to every reader, and of ours and of a peer in two ways.

    Two lines, or dots, differ in two of colour, marker and dashes; two bars in colour or hatch.
    """
    colour = seen.apart(one.color, two.color)[0] >= TOLD_APART
    marker, dashes = one.marker != two.marker, one.dashes != two.dashes
    hatch = one.hatch != two.hatch
    if ours_and_a_peer:
        return colour and (hatch if kind == "bar" else marker)
    if kind == "bar":
        return colour or hatch
    return colour + marker + (dashes and kind == "line") >= 2


def alike(axes: Axes) -> list[str]:
    """The values of one panel that some reader cannot tell apart, or not see."""
    roles: dict[tuple[str, style.Look], str | None] = {}
    for artist in values_in(axes):
        roles[_kind(artist), artist.look] = _role(artist)
    found = [
        f"{look.label}: {look.color} is too pale"
        for _, look in roles
        if seen.apart(look.color, "white")[0] < FROM_PAPER
    ]
    for ((kind, one), role), ((_, two), other) in combinations(roles.items(), 2):
        if not are_told_apart(kind, one, two, {role, other} == {"technique", "peer"}):
            least, view = seen.apart(one.color, two.color)
            found.append(f"{one.label} and {two.label} are alike: {least:.1f} apart {view}")
    return found


def spreads_of_counts(axes: Axes) -> list[str]:
    """What is counted is the same in every run: only times, and what comes of them, spread."""
    names = axes.get_xlabel() + " " + style.label_of(axes, "y")
    if style.has_spread(axes) and not re.search(rf"\((?:{TIME_UNITS})\)|time|throughput", names):
        return [f"{names}: a spread of what is not timed"]
    return []


def unnamed_axes(panels: list[Axes]) -> list[str]:
    """The axes whose name is missing, or has neither a unit nor words for a count or ratio."""
    found = []
    for axes in panels:
        for letter in "xy":
            name = style.label_of(axes, letter)
            axis = getattr(axes, f"{letter}axis")
            ticks = [text.get_text() for text in axis.get_ticklabels()]
            words = all(re.match(r"[A-Za-z]|\d+ levels?", text) for text in ticks if text)
            if not name or not (UNIT.search(name) or words):
                found.append(f"{axes.get_title(loc='left')}: {letter} axis is named {name!r}")
    return found


def _texts(drawn: Figure) -> list[Text]:
    """All texts of a figure but the labels of ticks, which matplotlib places."""
    found = [*drawn.texts, *(text for legend in drawn.legends for text in legend.get_texts())]
    for axes in drawn.axes:
        found += axes.texts
        if axes.axison:
            found += [axes.xaxis.label, axes.yaxis.label, axes.title, axes._left_title]
        if axes.get_legend():
            found += axes.get_legend().get_texts()
    return [text for text in found if text.get_text() and text.get_visible()]


def clipped_texts(drawn: Figure) -> list[str]:
    """The texts that stand out of the picture, and those that the figure's title covers."""
    drawn.canvas.draw()
    picture, title = drawn.bbox.padded(1), drawn._suptitle
    found = []
    for text in _texts(drawn):
        box = text.get_window_extent()
        if not (picture.contains(*box.min) and picture.contains(*box.max)):
            found.append(f"{text.get_text()!r} is clipped")
        elif title and text is not title and title.get_window_extent().overlaps(box):
            found.append(f"{text.get_text()!r} touches the title")
    return found


def undrawn_losses(archive: archives.Archive, drawn: list[Figure]) -> list[str]:
    """The points where we lose, and that no figure shows.

    A loss is a problem at which a peer is faster than the fastest of our variants (it is shown by
    the peer and any of ours), and the point that decided a verdict on times which is MISSED or
    DIFFERS.
    """
    rows = [row for figure in drawn for row in rows_in(figure)]
    shown = {(row.variant, row.problem) for row in rows}
    shown |= {("ours", row.problem) for row in rows if row.role == "technique"}
    best: dict[tuple, archives.Row] = {}
    for row in archive.gpu_rows():
        before = best.get(row.problem)
        if row.role == "technique" and (not before or row.timing.median < before.timing.median):
            best[row.problem] = row
    beaten = [row for row in best.values() if (archive.speedup_over_peer(row) or 1) < 1]
    lost = [(row, "ours") for row in beaten]
    lost += [(peer, peer.variant) for peer in map(archive.peer_of, beaten)]
    for verdict in archive.verdicts:
        if verdict.verdict in ("MISSED", "DIFFERS") and verdict.metric != "counter":
            lost += [(row, row.variant) for row in archives.where(archive.gpu_rows(), **verdict.at)]
    return [
        f"{archive.name}: {row.variant} at {row.params} is lost, and in no figure"
        for row, what in lost
        if (what, row.problem) not in shown
    ]
