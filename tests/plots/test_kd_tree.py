"""What the figures of kd_tree show, from made-up archives."""

import figure_checks
import pytest

TECHNIQUE = "kd_tree"


@pytest.fixture
def draw(tmp_path):
    return figure_checks.drawer(TECHNIQUE, tmp_path)


def labels(axes) -> set[str]:
    return {line.get_label() for line in axes.get_lines() if not line.get_label().startswith("_")}


def titles(drawn) -> list[str]:
    return [axes.get_title(loc="left") for axes in drawn.axes]


def test_builds_have_a_panel_for_each_number_of_coordinates_that_has_several_sizes(draw):
    drawn = draw("build")
    assert titles(drawn) == ["3 coordinates", "4 coordinates"]
    of_three, of_four = map(labels, drawn.axes)
    assert of_three == {"fast", "four_partitioners (source)", "half_sorts (source)"}
    cpu = {"CPU, Brown's build, 8 threads", "CPU, Brown's build, 16 threads"}
    assert of_four == of_three | cpu


def test_builds_that_remove_duplicates_are_not_among_the_others(draw):
    (axes,) = draw("duplicates").axes
    assert labels(axes) == {"fast", "four_partitioners (source)"}
    for line in axes.get_lines():
        if not line.get_label().startswith("_"):
            assert list(line.get_xdata()) == [0.1, 0.5, 0.9]
    _, of_four = draw("build").axes
    lines = {line.get_label(): line for line in of_four.get_lines()}
    sizes = list(lines["fast"].get_xdata())
    assert len(sizes) == len(set(sizes))


def test_queries_have_a_panel_for_each_operation_and_number_of_coordinates(draw):
    drawn = draw("queries")
    assert titles(drawn) == [
        "nearest, 2 coordinates",
        "nearest, 3 coordinates",
        "nearest, 4 coordinates",
        "8 nearest, 2 coordinates",
        "8 nearest, 3 coordinates",
        "8 nearest, 4 coordinates",
    ]
    for axes in drawn.axes:
        assert len(labels(axes)) == 5


def test_verifications_have_a_line_a_form(draw):
    (axes,) = draw("verify").axes
    assert labels(axes) == {"median stores", "nodes"}
