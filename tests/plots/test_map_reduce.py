"""The figures of map_reduce, from made-up archives of its configurations' shape."""

from pathlib import Path

import archive as archives
import figure
import figure_checks
import history
import pytest
import style
import synthetic
from conftest import ROOT
from rows.map_reduce import (
    ERRORS,
    HOST,
    ROWS,
    block_size,
    claims,
    median_of,
    memory,
    row,
    variants,
)

FIGURES = figure.figures_of("map_reduce")
SPECS = {spec.name.removeprefix("map_reduce_"): spec for spec in FIGURES}


def read(folder, experiment, rows=None):
    rows = ROWS[experiment]("cuda") if rows is None else rows
    return figure_checks.read(folder, "map_reduce", experiment, rows)


def lines_of(drawn):
    """The labelled lines of a figure, all panels."""
    lines = [line for axes in drawn.axes for line in axes.get_lines()]
    return {line.get_label(): line for line in lines if not line.get_label().startswith("_")}


def texts_of(drawn):
    return [text.get_text() for text in drawn.findobj(style.matplotlib.text.Text)]


@pytest.fixture
def draw(tmp_path):
    """Draws a figure of made-up rows, and closes it after the test."""

    def of(name, rows=None):
        spec = SPECS[name]
        return spec.draw(read(tmp_path, spec.experiment, rows=rows))

    return of


@pytest.mark.parametrize("spec", FIGURES, ids=lambda spec: spec.name)
def test_skipped_peers_are_not_drawn(draw, spec):
    rows = ROWS[spec.experiment]("cuda")
    for made in rows:
        if made["role"] == "peer":
            made.update(time_ms=None, verified="not_verified", skipped="torch is not installed")
    drawn = draw(spec.name.removeprefix("map_reduce_"), rows)
    assert not any("KeOps GPU" in text or text == "Triton" for text in texts_of(drawn))


def test_the_published_table_is_the_source_s(draw):
    table = figure.sys.modules["figures_of_map_reduce"].published_times()
    assert table["PyTorch"] == ([10**4], [9])
    assert table["TF-XLA"] == ([10**4, 10**5], [13, 89])
    assert table["Halide"] == ([10**4, 10**5, 10**6], [1.0, 34.1, 3800])
    assert table["TVM"] == ([10**4, 10**5, 10**6], [3.8, 36.8, 2790])
    assert table["PyKeOps"] == ([10**4, 10**5, 10**6], [0.7, 15.0, 1390])
    assert table["KeOps++"] == ([10**4, 10**5, 10**6], [0.40, 14.6, 1380])
    lines = lines_of(draw("published"))
    for system, (n, ms) in table.items():
        line = lines[f"{system}, 2020"]
        assert (list(line.get_xdata()), list(line.get_ydata())) == (n, ms)
        assert line.get_linestyle() == "-."


def test_published_draws_what_was_measured(draw):
    lines = lines_of(draw("published"))
    assert list(lines["automatic"].get_xdata()) == [10**4, 10**5, 10**6]
    expected = [median_of("automatic", n, n) for n in (10**4, 10**5, 10**6)]
    assert list(lines["automatic"].get_ydata()) == pytest.approx(expected)
    assert list(lines["naive, tensorized"].get_xdata()) == [10**4, 10**5]


def crossing(times_2d, times_1d):
    """Rows at m = 1, 100, 10,000, ... with these times of gpu_2d and gpu_1d."""
    made = []
    for place, times in enumerate(zip(times_2d, times_1d, strict=True)):
        for name, median in zip(("gpu_2d", "gpu_1d"), times, strict=True):
            made.append(synthetic.timed(row(name, m=100**place, n=10**6), median))
    return made


@pytest.mark.parametrize(
    ("times_2d", "times_1d", "expected"),
    [
        # Half as long at 100 and twice as long at 10,000: in the middle, in logarithms.
        ((1, 1, 8), (4, 2, 4), 1000),
        # 1/2 at 1 and 8 at 100: a quarter of the way.
        ((1, 8, 8), (2, 1, 1), 100**0.25),
        # As fast at a measured point: that point.
        ((1, 2, 8), (2, 2, 4), 100),
        # More than once: the last.
        ((1, 4, 1, 4), (2, 2, 2, 2), 10**5),
        ((1, 1, 1), (2, 2, 2), None),
        ((2, 2, 2), (1, 1, 1), None),
    ],
)
def test_the_crossover(draw, times_2d, times_1d, expected):
    drawn = draw("variants", crossing(times_2d, times_1d))
    marks = [line for line in drawn.axes[0].get_lines() if len(set(line.get_xdata())) == 1]
    always = all(two < one for two, one in zip(times_2d, times_1d, strict=True))
    assert any("at every m" in text for text in texts_of(drawn)) == always
    if expected is None:
        assert marks == []
        assert not any("gpu_2d faster" in text for text in texts_of(drawn))
    else:
        assert [line.get_xdata()[0] for line in marks] == [pytest.approx(expected)]
        assert sum("gpu_2d faster" in text for text in texts_of(drawn)) == 1


def test_without_gpu_2d_there_is_no_crossover(draw):
    rows = [made for made in variants("cuda") if made["variant"] != "gpu_2d"]
    assert not any("faster" in text for text in texts_of(draw("variants", rows)))


def test_auto_is_held_against_the_best_of_ours(draw):
    rows = [
        synthetic.timed(row(name, m=m, n=10**6), median)
        for m, times in {
            1: {"automatic": 3.0, "tuned_2d": 2.0, "gpu_2d": 4.0, "keops_2d": 1.0, "naive": 0.5},
            1000: {"automatic": 2.0, "tuned_2d": 4.0, "tensor": 2.5},
            10**6: {"automatic": 2.0},
        }.items()
        for name, median in times.items()
    ]
    drawn = draw("automatic", rows)
    line = lines_of(drawn)["automatic"]
    assert list(line.get_xdata()) == [1, 1000]
    assert list(line.get_ydata()) == pytest.approx([1.5, 0.8])
    assert any(set(each.get_ydata()) == {1.1} for each in drawn.axes[0].get_lines())
    texts = texts_of(drawn)
    assert (texts.count("tuned_2d"), texts.count("tensor")) == (1, 1)


def test_auto_alone_is_held_against_nothing(draw):
    with pytest.raises(archives.NothingToDraw, match="another variant beside it"):
        draw("automatic", [row("automatic", m=m, n=10**6) for m in (1, 10)])


def test_block_sizes_have_a_panel_a_problem(draw):
    rows = block_size("cuda")
    rows += [row(name, m=100, n=10**6) for name in ("gpu_1d", "gpu_2d")]
    titles = [axes.get_title(loc="left") for axes in draw("block_size", rows).axes]
    assert titles == ["m = 100, n = 1M", "m = 100k, n = 100k"]


def test_memory_is_that_of_the_archive(draw):
    drawn = draw("memory")
    lines = lines_of(drawn)
    assert list(lines["naive, tensorized"].get_ydata()) == [4e6, 4e8, 4e10]
    refused = lines["naive: does not fit"]
    assert list(refused.get_xdata()) == [2 * 10**5, 10**6]
    assert list(refused.get_ydata()) == [1.6e11, 4e12]
    assert refused.get_markerfacecolor() == "white"
    assert list(lines["automatic"].get_ydata()) == [1] * 5
    assert list(lines["tuned_2d"].get_ydata()) == [32 * n for n in (1e3, 1e4, 1e5, 2e5, 1e6)]
    assert "gpu_1d, tensor, automatic" in texts_of(drawn)


def test_naive_for_another_reason_is_not_drawn_as_too_large(draw):
    rows = [made | {} for made in memory("cuda")]
    for made in rows:
        if "skipped" in made:
            made["skipped"] = "interrupted"
    assert "naive: does not fit" not in lines_of(draw("memory", rows))


def test_claims_are_times_over_those_of_ours(draw):
    drawn = draw("claims")
    texts = texts_of(drawn)
    for ours in ("automatic", "gpu_1d"):
        for variant in ("naive", "cpu", "cpu_openmp", "torch_cdist", "numpy_tensorized"):
            timed = [made for made in claims("cuda") if made["time_ms"]]
            n = max(made["params"]["n"] for made in timed if made["variant"] == variant)
            expected = median_of(variant, n, n) / median_of(ours, n, n)
            shown = f"{expected:,.0f}x" if expected >= 100 else f"{expected:.2g}x"
            assert shown in texts
    assert texts.count("naive\ndoes\nnot fit") == 2
    assert {"source: 30x", "source: 10,000x"} <= set(texts)
    assert any("Synthetic CPU, 2 cores" in text for text in texts)


def test_claims_without_a_host_time_are_drawn(draw):
    rows = [made for made in claims("cuda") if made["variant"] not in HOST]
    assert "source: 10,000x" in texts_of(draw("claims", rows))
    with pytest.raises(archives.NothingToDraw, match="tensorized code"):
        draw("claims", [made for made in rows if made["variant"] == "automatic"])


def test_cases_show_the_faster_keops(draw):
    rows = [
        synthetic.timed(row(name, m=m, n=m), median)
        for m, times in {
            1000: {"automatic": 1.0, "keops_1d": 7.0, "keops_2d": 5.0},
            2000: {"automatic": 1.0, "keops_1d": 6.0, "keops_2d": 8.0},
            3000: {"automatic": 1.0, "keops_1d": 9.0},
        }.items()
        for name, median in times.items()
    ]
    drawn = draw("cases", rows)
    shown = texts_of(drawn)
    assert "KeOps, the faster scheme" in shown
    assert [text in shown for text in "56789"] == [True, True, False, False, True]


def test_cases_have_short_names(draw):
    axes = draw("cases").axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "LogSumExp 1M",
        "argmin 1M",
        "argkmin 100k",
        "Gaussian D = 64 100k",
        "Gaussian D = 10 100k",
        "Laplacian 100k",
        "inner product 100k",
        "Gaussian float64 100k",
        "energy distance 1k x 1M",
    ]
    assert len(figure_checks.values_in(axes)) == 9 * 3 + 2


def test_an_unusual_formula_is_named(draw):
    rows = [row("automatic", formula="laplacian", reduction="max")]
    (label,) = draw("cases", rows).axes[0].get_yticklabels()
    assert label.get_text() == "max of Laplacian 100k"


def test_accuracy_has_a_line_a_way_to_add(draw):
    lines = lines_of(draw("accuracy"))
    ways = {f"{name}, {way}" for name in ("gpu_1d (source)", "tuned_1d") for way in ERRORS}
    assert set(lines) == ways | {"automatic", "tensor", "KeOps GPU_1D"}
    kahan = row("tuned_1d", accuracy="kahan")["counters"]["relative_error"]
    assert list(lines["tuned_1d, kahan"].get_ydata()) == [kahan] * 5


def test_accuracy_joins_no_points_of_several_m(draw):
    """Of 1,000 rows over n; and of as many rows as columns, which are another line."""
    squares, of_1000_rows = draw("accuracy").axes
    assert squares.get_xlabel() == "number of rows and of columns, m = n"
    assert of_1000_rows.get_xlabel() == "number of columns, n (of 1k rows)"
    for axes, sizes in ((squares, (3, 4, 5)), (of_1000_rows, (3, 4, 5, 6, 7))):
        for artist in figure_checks.values_in(axes):
            assert [point.x for point in artist.points] == [10**e for e in sizes]


def test_few_rows_are_drawn_by_problem(draw):
    axes = draw("few_rows").axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["1k", "1 x 1M", "128 x 1M"]
    assert len(figure_checks.values_in(axes)) == 3 * 6


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("many_dimensions", "D = 16, E = 1, 20k"),
        ("nearest", "D = 16, 20k"),
        ("k_nearest", "K = 10, D = 64, 20k"),
    ],
)
def test_many_dimensions_are_drawn_by_problem(draw, name, first):
    axes = draw(name).axes[0]
    problems = [label.get_text() for label in axes.get_yticklabels()]
    assert problems[0] == first and len(set(problems)) == len(problems)
    assert len(figure_checks.values_in(axes)) == 3 * len(problems)


@pytest.mark.parametrize("name", ["published", "memory", "claims"])
def test_without_squares_there_is_nothing_over_n(draw, name):
    with pytest.raises(archives.NothingToDraw, match="no point with m = n"):
        draw(name, [row("automatic", m=10, n=1000)])


def test_without_counters_there_is_neither_memory_nor_accuracy(draw):
    rows = [row("automatic") | {"counters": {}}]
    with pytest.raises(archives.NothingToDraw, match="what workspace"):
        draw("memory", rows)
    with pytest.raises(archives.NothingToDraw, match="no relative error"):
        draw("accuracy", rows)


def test_two_problems_at_one_point_are_refused(draw):
    rows = [row(name, d=d) for d in (3, 10) for name in ("automatic", "gpu_1d")]
    with pytest.raises(archives.ArchiveError, match="differ in d"):
        draw("published", rows)


def test_its_python_peers_make_an_archive_stale():
    measured = history.measured_files(ROOT, "map_reduce", "claims")
    peers = {Path(name).stem for name in measured if name.endswith(".py")}
    programs = {"keops", "triton_gaussian", "torch_gaussian", "numpy_gaussian"}
    assert peers == programs | {"gaussian_kernels", "torch_forms", "numpy_forms", "peer_inputs"}
