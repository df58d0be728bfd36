"""What the figures of balanced_path_sets show, from made-up archives."""

import figure_checks
import pytest


@pytest.fixture
def draw(tmp_path):
    return figure_checks.drawer("balanced_path_sets", tmp_path)


def test_every_published_table_is_beside_ours(draw):
    drawn = draw("published")
    assert len(drawn.axes) == 16
    for axes in drawn.axes:
        sizes = {line.get_label(): len(line.get_xdata()) for line in axes.get_lines()}
        assert sizes["GTX Titan, 2013"] == 10
        assert sizes["GTX 480, 2013"] == 10
        assert sizes["single_pass"] == 2


def test_the_inputs_of_99_to_1_are_a_line_of_their_own(draw):
    drawn = draw("distributions")
    labels = [line.get_label() for line in drawn.axes[0].get_lines()]
    assert len([label for label in labels if not label.startswith("_")]) == 6
