"""What the figures of partitioners show, from made-up archives."""

import figure
import figure_checks
import pytest
import synthetic

TECHNIQUE = "partitioners"


@pytest.fixture
def draw(tmp_path):
    return figure_checks.drawer(TECHNIQUE, tmp_path)


def labels(axes) -> set[str]:
    return {line.get_label() for line in axes.get_lines() if not line.get_label().startswith("_")}


def test_levels_have_a_line_a_variant_and_the_source_one_for_each_number_of_warps(draw):
    drawn = draw("levels")
    titles = [axes.get_title(loc="left") for axes in drawn.axes]
    assert titles == ["n = 12,345,678", "n = 16,777,216"]
    for axes in drawn.axes:
        assert {"source, 2048 warps", "source, 8192 warps"} < labels(axes)


def test_noted_sides_have_a_line_of_their_own(draw):
    _, large = draw("levels").axes
    lines = {line.get_label(): line for line in large.get_lines()}
    noted = lines["source, 4096 warps, sides noted"]
    assert len({noted.get_color(), lines["source, 2048 warps"].get_color()}) == 2


def test_aims_of_a_level_stand_at_their_n(tmp_path):
    aim = {"kind": "aim", "where": {"n": 16777216, "warps": 2048}, "metric": "time_ms"}
    aim |= {"at_most": 0.25, "measured": 0.3, "verdict": "MISSED"}
    rows = figure_checks.rows_of(TECHNIQUE, "levels")
    content = synthetic.archive("levels", rows, technique=TECHNIQUE, verdicts=[aim])
    archive = figure_checks.archives.load(synthetic.write(tmp_path / "in", content))
    drawn = figure.figures_of(TECHNIQUE)[0].draw(archive)
    aims = [[t.get_text() for t in axes.texts if "aim" in t.get_text()] for axes in drawn.axes]
    assert aims == [[], ["aim of the best"]]


def test_each_partitioner_has_a_line_over_the_levels_that_it_can_take(draw):
    few, many = draw("ranges").axes
    assert labels(few) == {"multi_warp", "warp_per_array", "sub_warp", "leaf"}
    assert labels(many) == {"multi_warp", "warp_per_array", "sub_warp"}
    lines = {line.get_label(): list(line.get_xdata()) for line in few.get_lines()}
    assert lines["sub_warp"] == [20, 21, 22, 23]
    assert lines["leaf"] == [23]


def test_partitions_are_held_against_cub_at_every_share(draw):
    drawn = draw("partition_speedup")
    assert len(drawn.axes) == 3
    for axes in drawn.axes:
        assert labels(axes) == {f"{share} % selected" for share in (0, 10, 50, 90, 100)}


@pytest.mark.parametrize("experiment", ["levels", "ranges", "partition"])
def test_every_point_is_in_a_figure_of_its_configuration(tmp_path, experiment):
    """Whatever is lost is then in one, too."""
    rows = figure_checks.rows_of(TECHNIQUE, experiment)
    archive = figure_checks.read(tmp_path, TECHNIQUE, experiment, rows)
    drawn = {
        (row.variant, row.problem)
        for spec in figure.figures_of(TECHNIQUE)
        if spec.experiment == experiment
        for row in figure_checks.rows_in(spec.draw(archive))
    }
    assert drawn == {(row.variant, row.problem) for row in archive.rows}
