"""The benchmark workbook of Modern GPU 1.1, November 2013: rates on the GPUs of its time."""

from __future__ import annotations

import csv
from pathlib import Path

import style

PUBLISHED = Path(__file__).resolve().parent / "published" / "mgpu_2013.tsv"
LOOKS = {
    "GTXTitan": style.Look("GTX Titan, 2013", style.CLAIM, "P", "-.", 1.3),
    "GTX480": style.Look("GTX 480, 2013", style.NAIVE, "X", (0, (6, 1, 1, 1, 1, 1)), 1.3),
}


def rates(table: str, gpu: str, **fixed: str) -> tuple[list[float], list[float]]:
    """The sizes of one line of a table, ascending, and its rates there in million elements/s.

    `fixed`: the line's `key` and `op`, where the table has several.
    """
    units = {"K": 1e3, "M": 1e6}
    with PUBLISHED.open() as file:
        rows = sorted(
            (float(row["n"][:-1]) * units[row["n"][-1]], float(row["M_per_s"]))
            for row in csv.DictReader(file, delimiter="\t")
            if row["table"] == table
            and row["gpu"] == gpu
            and all(row[name] == value for name, value in fixed.items())
        )
    return [n for n, _ in rows], [rate for _, rate in rows]
