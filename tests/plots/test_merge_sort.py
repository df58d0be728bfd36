"""What the figures of merge_sort show, from made-up archives."""

import figure
import figure_checks
import pytest
import synthetic

TECHNIQUE = "merge_sort"
PANELS = ["references by superkey", "float keys, 4-byte values", "4-byte keys"]


@pytest.fixture
def draw(tmp_path):
    return figure_checks.drawer(TECHNIQUE, tmp_path)


def with_times(tmp_path, name, milliseconds, verdicts=()):
    """The figure of an archive whose rows have these times, by variant; 1 ms of others."""
    spec = next(spec for spec in figure.figures_of(TECHNIQUE) if spec.name == f"{TECHNIQUE}_{name}")
    rows = figure_checks.rows_of(TECHNIQUE, spec.experiment)
    for row in rows:
        synthetic.timed(row, milliseconds.get(row["variant"], 1.0))
    content = synthetic.archive(
        spec.experiment, rows, technique=TECHNIQUE, verdicts=list(verdicts)
    )
    return spec.draw(figure_checks.archives.load(synthetic.write(tmp_path / "in", content)))


def lines(axes) -> dict[str, object]:
    return {line.get_label(): line for line in axes.get_lines()}


def test_each_thing_that_is_sorted_has_a_panel(draw):
    for name in ("throughput", "speedup", "orders"):
        assert [axes.get_title(loc="left") for axes in draw(name).axes] == PANELS


def test_throughput_is_items_over_time(tmp_path):
    drawn = with_times(tmp_path, "throughput", {"multiway_merge": 2.0})
    line = lines(drawn.axes[0])["multiway_merge"]
    assert list(line.get_ydata()) == pytest.approx([n / 2e3 for n in line.get_xdata()])


def test_aims_of_time_stand_at_their_n_alone(tmp_path):
    aim = {"kind": "aim", "where": {"operation": "pairs", "n": 16777216}, "metric": "time_ms"}
    aim |= {"at_most": 0.8, "measured": 1.0, "verdict": "MISSED"}
    drawn = with_times(tmp_path, "throughput", {}, [aim])
    found = [lines(axes).get("aim, its time as a rate") for axes in drawn.axes]
    assert [line is not None for line in found] == [False, True, False]
    assert list(found[1].get_xdata()) == [16777216]
    assert list(found[1].get_ydata()) == pytest.approx([16777.216 / 0.8])


def test_speedup_is_the_time_of_cubs_merge_sort_over_the_time(tmp_path):
    times = {"cub_merge": 3.0, "multiway_merge": 2.0, "cub_radix": 1.5, "binary_merge": 4.0}
    drawn = with_times(tmp_path, "speedup", times)
    found = lines(drawn.axes[1])
    ratios = {"multiway_merge": 1.5, "CUB radix sort (numbers only)": 2.0}
    ratios |= {"binary_merge (source)": 0.75, "binary_merge by rank search (source)": 0.75}
    for label, ratio in ratios.items():
        assert set(found[label].get_ydata()) == {ratio}, label
    assert "CUB merge sort" not in found


def test_passes_are_those_of_the_archive(draw):
    counts = lines(draw("passes").axes[0])
    assert set(counts["multiway_merge"].get_ydata()) == {3}
    assert set(counts["binary_merge (source)"].get_ydata()) == {12}
    assert "CUB merge sort" not in counts


def test_passes_are_held_against_a_copy(tmp_path):
    drawn = with_times(tmp_path, "passes", {"binary_merge": 1.0})
    line = lines(drawn.axes[1])["binary_merge (source)"]
    moved = [16 * 12 * n / 1e6 for n in line.get_xdata()]
    assert list(line.get_ydata()) == pytest.approx(
        [100 * rate / synthetic.COPY_GB_PER_S for rate in moved]
    )


def test_ties_are_counted_beside_the_times(draw):
    axes = draw("ties").axes[-1]
    assert {bar.get_height() for bar in axes.patches} == {63.2}
    assert len(axes.patches) == 8


@pytest.mark.parametrize("name", ["throughput", "ties", "types", "orders"])
def test_every_point_is_in_the_figure_of_its_configuration(tmp_path, name):
    """Whatever is lost is then in one, too."""
    rows = [
        row
        for row in figure_checks.rows_of(TECHNIQUE, name)
        if row["variant"] == "binary_merge" or row["params"]["low_level"] == "merge_path"
    ]
    archive = figure_checks.read(tmp_path, TECHNIQUE, name, rows)
    spec = next(spec for spec in figure.figures_of(TECHNIQUE) if spec.experiment == name)
    drawn = {(row.variant, row.problem) for row in figure_checks.rows_in(spec.draw(archive))}
    assert drawn == {(row.variant, row.problem) for row in archive.rows}
