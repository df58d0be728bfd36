"""The figures of the technique `sample`, which only the tests have: GB/s over n of each variant."""

import style
from figure import FigureSpec

LOOKS = {
    "single_pass": style.Look("single_pass", style.STRONG),
    "two_pass_recount": style.Look("two_pass_recount", style.MIDDLE),
    "two_pass_copy": style.Look("two_pass_copy", style.LIGHT),
    "cub": style.Look("CUB", style.PEER),
}


def over_n(archive):
    """GB/s over n."""
    # Of the rows at one n, the last: what else a test varies is not drawn.
    last = {(row.variant, row.params["n"]): row for row in archive.timed_rows(LOOKS)}
    rows = list(last.values())
    figure, (axes,) = style.new_figure(1)
    style.throughput_lines(axes, rows, "n", LOOKS)
    style.ceiling(axes, archive.ceilings.get("copy_gb_per_s"), "measured copy")
    style.from_zero(axes, "n", "useful GB/s")
    return style.finish(figure, archive, rows, archive.title)


EXPERIMENTS = ("throughput", "element_sizes", "coalescing", "passes")
FIGURES = [FigureSpec(f"sample_{experiment}", experiment, over_n) for experiment in EXPERIMENTS]
