"""How tests of figures come to an archive of a technique.

What is drawn is made up. A technique says how in `rows/<slug>.py`, by either
  - `ROWS`: for each experiment, a function from the backend to rows, or
  - `PEERS`, the variants that are peers, and `finish(row)`, which completes a row. The rows are the
    points that configs/<slug>/<experiment>.json sweeps.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import archive as archives
import figure
import synthetic
from matplotlib.figure import Figure

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
    content = synthetic.archive(experiment, rows, backend, technique=technique)
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
