"""What the figures of balanced_path_sets show, from made-up archives."""

import figure
import figure_checks
import pytest
import synthetic


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


def test_thrust_is_held_against_what_has_its_count_too(tmp_path):
    """Where single_pass was run with its count on the host, as Thrust's calls have theirs."""
    rows = figure_checks.rows_of("balanced_path_sets", "distributions")
    waiting = [
        synthetic.timed(made | {"variant": "single_pass_get", "time_ms": made["time_ms"] | {}}, 50)
        for made in rows
        if made["variant"] == "single_pass"
    ]
    archive = figure_checks.read(tmp_path, "balanced_path_sets", "distributions", rows + waiting)
    spec = next(
        spec
        for spec in figure.figures_of("balanced_path_sets")
        if spec.experiment == "distributions"
    )
    drawn = {row.variant for row in figure_checks.rows_in(spec.draw(archive))}
    assert drawn == {"single_pass_get", "thrust"}
