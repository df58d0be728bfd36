"""What the figures of kd_tree show, from made-up archives."""

import figure
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
    assert titles(drawn) == [f"{d} coordinates" for d in (2, 3, 4, 8)]
    of_two, of_three, of_four, of_eight = map(labels, drawn.axes)
    assert of_two == of_eight == {"fast", "four_partitioners (source)"}
    assert of_three == of_two | {"half_sorts (source)"}
    cpu = {"CPU, Brown's build, 8 threads", "CPU, Brown's build, 16 threads"}
    assert of_four == of_three | cpu
    # Clustered tuples of the same number would be a second point there.
    for line in drawn.axes[2].get_lines():
        assert len(line.get_xdata()) == len(set(line.get_xdata()))


def test_memory_is_drawn_over_coordinates_beside_the_tuples(draw):
    (axes,) = draw("memory").axes
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert list(lines["fast"].get_xdata()) == [2, 3, 4, 8]
    assert list(lines["fast"].get_ydata()) == [22, 33, 44, 88]
    assert list(lines["the tuples themselves"].get_ydata()) == [8, 12, 16, 32]
    assert axes.figure._suptitle.get_text() == "Memory of a build, n = $2^{24}$ tuples of floats"


def test_clusters_and_types_have_a_line_a_category(draw):
    (axes,) = draw("clusters").axes
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert names[:2] == ["uniform, 1,000,000 of 3", "clustered, 1,000,000 of 3"]
    assert len(names) == 8
    (axes,) = draw("types").axes
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert sorted(names) == ["double", "float", "int32", "int64"]


def test_builds_that_remove_duplicates_are_over_their_share(draw):
    (axes,) = draw("duplicates").axes
    assert labels(axes) == {"fast", "four_partitioners (source)", "half_sorts (source)"}
    for line in axes.get_lines():
        if not line.get_label().startswith("_"):
            assert list(line.get_xdata()) == [0, 0.1, 0.3, 0.5, 0.7, 0.9]


def test_the_sources_table_has_what_was_published_beside_what_was_measured(draw):
    (axes,) = draw("published").axes
    of = {}
    for line in axes.get_lines():
        of.setdefault(line.get_label(), []).append(float(line.get_xdata()[0]))
    assert of["GTX Titan Black (source)"] == [48, 388, 920, 80, 1437]
    assert of["three CPUs, 8 threads each (source)"][-3:] == [11880, 14770, 17790]
    assert of["fast"] == of["CPU, Brown's build, 8 threads"] == [3] * 5


def test_levels_are_partitions_or_selections_with_the_moves_after_them(draw):
    (axes,) = draw("levels").axes
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert list(lines["four_partitioners (source)"].get_xdata()) == list(range(24))
    assert list(lines["half_sorts (source)"].get_xdata()) == list(range(1, 24))
    assert list(lines["fast"].get_ydata()) == [0.2, 0.2, 0.5]
    notes = [text.get_text() for text in axes.texts]
    assert notes == ["fast, levels 3 to 24: 1.10 ms in all"]


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


def test_query_kinds_have_a_line_a_kind(draw):
    (axes,) = draw("query_kinds").axes
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert names[:3] == [
        "the nearest, uniform, 3 coordinates",
        "the nearest, clustered, 3 coordinates",
        "the nearest, uniform, 8 coordinates",
    ]
    assert len(names) == 5


def test_neighbours_and_ranges_have_a_line_a_form(draw):
    forms = {
        "nodes, at random",
        "median stores, at random",
        "put in order, at random",
        "and queries sorted",
    }
    (axes,) = draw("neighbours").axes
    assert labels(axes) == forms
    drawn = draw("ranges")
    assert titles(drawn) == ["within a radius", "in a box"]
    for axes in drawn.axes:
        assert labels(axes) == forms
        for line in axes.get_lines():
            assert list(line.get_xdata()) == [1, 8, 64]


def test_neighbours_are_of_as_many_queries_and_coordinates(tmp_path):
    rows = figure_checks.rows_of(TECHNIQUE, "neighbours")
    few_queries = [row for row in rows if row["params"]["d"] == 8]
    assert few_queries
    # As the profile `full` has them: of each number of coordinates, twice with k = 8.
    rows += [row | {"params": row["params"] | {"d": 3}} for row in few_queries]
    (spec,) = (spec for spec in figure.figures_of(TECHNIQUE) if spec.experiment == "neighbours")
    (axes,) = spec.draw(figure_checks.read(tmp_path, TECHNIQUE, "neighbours", rows)).axes
    for line in axes.get_lines():
        assert list(line.get_xdata()) == [2, 4, 8, 16, 32, 64, 128]


def test_verifications_have_a_line_a_form(draw):
    (axes,) = draw("verify").axes
    assert labels(axes) == {"median stores", "nodes"}


def test_builds_on_several_gpus_are_beside_those_of_one(draw):
    drawn = draw("devices")
    kinds = [title for title in titles(drawn) if title]
    assert kinds == [
        "1,000,000 tuples of 4 floats",
        "1,000,000 tuples of 4 32-bit integers",
        "16,777,216 tuples of 4 floats",
        "16,777,216 tuples of 4 32-bit integers",
        "134,217,728 tuples of 3 floats",
    ]
    for axes in drawn.axes[: len(kinds)]:
        assert labels(axes) == {
            "fast",
            "four_partitioners, splitter_merge",
            "four_partitioners, swap_merge (source)",
        }
        for line in axes.get_lines():
            if not line.get_label().startswith("_"):
                assert list(line.get_xdata()) == [1, 2, 4]
                assert line.get_ydata()[0] == 1
