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
    # Of each variant, what differs from its last row in n alone; what else is varied is not drawn.
    timed = archive.timed_rows(LOOKS)
    rest = {row.variant: row.params | {"n": None} for row in timed}
    rows = [row for row in timed if row.params | {"n": None} == rest[row.variant]]
    figure, (axes,) = style.new_figure(1)
    style.throughput_lines(axes, rows, "n", LOOKS)
    style.ceiling(axes, archive.ceilings.get("copy_gb_per_s"), "measured copy")
    style.from_zero(axes, "number of elements, n", style.USEFUL_GB_PER_S)
    return style.finish(figure, archive, rows, archive.title)


EXPERIMENTS = ("throughput", "element_sizes", "coalescing", "passes")
FIGURES = [FigureSpec(f"sample_{experiment}", experiment, over_n) for experiment in EXPERIMENTS]
