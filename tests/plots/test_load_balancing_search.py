"""What the figures of load_balancing_search show, from made-up archives."""

import figure_checks
import pytest


@pytest.fixture
def draw(tmp_path):
    return figure_checks.drawer("load_balancing_search", tmp_path)


def test_the_published_figure_has_the_gpus_of_then_and_every_point(draw):
    drawn = draw("published")
    sizes = {}
    for axes in drawn.axes:
        for line in axes.get_lines():
            sizes.setdefault(line.get_label(), []).append(len(line.get_xdata()))
    assert sizes["GTX Titan, 2013"] == [11, 10]
    assert sizes["GTX 480, 2013"] == [11, 10]
    # 10K to 10M, a quarter objects; 10M by objects: the point that both have is no point twice.
    assert sizes["output_aligned"] == [4, 4]
