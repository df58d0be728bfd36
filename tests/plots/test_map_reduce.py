"""The figures of map_reduce, from made-up archives of its configurations' shape."""

from __future__ import annotations

import math

import archive as archives
import figure
import figure_checks
import pytest
import style
import synthetic

FIGURES = figure.figures_of("map_reduce")
SPECS = {spec.name.removeprefix("map_reduce_"): spec for spec in FIGURES}

HOST = ("cpu", "cpu_openmp")
PEERS = ("keops_1d", "keops_2d", "triton")
ROLES = {"naive": "naive"} | dict.fromkeys(HOST, "oracle") | dict.fromkeys(PEERS, "peer")
# Invented: pairs a millisecond with many rows, the rows that are many, and the least time.
SPEEDS = {
    "gpu_1d": (1.0e9, 3e4, 0.01),
    "gpu_2d": (6.0e8, 1, 0.02),
    "tuned_1d": (1.9e9, 4e4, 0.01),
    "tuned_2d": (1.8e9, 2, 0.012),
    "tensor": (4.0e9, 40, 0.015),
    "automatic": (3.9e9, 20, 0.012),
    "naive": (5.0e7, 1, 0.03),
    "keops_1d": (9.0e8, 3e4, 0.06),
    "keops_2d": (4.0e8, 1, 0.08),
    "triton": (1.7e9, 4e4, 0.03),
    "cpu": (1.0e5, 1, 0),
    "cpu_openmp": (1.2e6, 1, 0.01),
}
OURS = ("gpu_1d", "gpu_2d", "tuned_1d", "tuned_2d", "tensor", "automatic")
ERRORS = {"plain": 3e-8, "block": 2e-8, "kahan": 6e-8}


def median_of(variant, m, n):
    rate, many, least = SPEEDS[variant]
    return least + max(m, many) * n / rate


def row(variant, backend="cuda", accuracy="block", **params):
    """A row as the harness writes it, of a Gaussian sum where nothing else is said."""
    point = {"m": 10**5, "n": 10**5, "d": 3, "formula": "gaussian", "reduction": "sum"}
    point |= {"number": "float32", "seed": 42, "block_threads": 192, "rows_per_thread": 0}
    point |= {"splits": 0, "accuracy": accuracy} | params
    m, n = point["m"], point["n"]
    kind = "std" if variant in HOST else "cub" if variant in PEERS else "single_pass"
    made = synthetic.timed(synthetic.row(kind, backend), median_of(variant, m, n))
    made |= {"variant": variant, "role": ROLES.get(variant, "technique"), "params": point}
    if variant in HOST:
        return made
    growth = math.sqrt(n) / 10 if accuracy == "plain" else 1
    needed = {"gpu_2d": 4 * m * -(-n // 192), "naive": 4 * m * n, "tuned_2d": 4 * m * 8}
    made |= {"cache": "warm", "launches": 20}
    share = 1 + 0.3 * list(SPEEDS).index(variant)
    made["counters"] = {"relative_error": ERRORS[accuracy] * growth * share}
    if variant not in PEERS:
        made["counters"]["workspace_bytes"] = needed.get(variant, 0)
    if variant == "automatic":
        made["choices"] = {"variant": "tuned_2d" if m < 200 else "tensor"}
    return made


def does_not_fit(made):
    why = "does not fit: needs 4000 GB of memory, and there are 139 GB"
    return made | {"time_ms": None, "verified": "not_verified", "skipped": why, "counters": {}}


def squares(backend, variants, sizes):
    made = [row(variant, backend, m=n, n=n) for n in sizes for variant in variants]
    return [
        does_not_fit(each) if each["variant"] == "naive" and each["params"]["n"] > 150_000 else each
        for each in made
    ]


def published(backend):
    variants = ("automatic", "gpu_1d", "gpu_2d", "naive", *PEERS)
    return squares(backend, variants, (10**4, 10**5, 10**6))


def variants(backend):
    sizes = [m for e in range(6) for m in (10**e, 3 * 10**e)] + [10**6]
    return [row(name, backend, m=m, n=10**6) for m in sizes for name in (*OURS, *PEERS)]


def block_size(backend):
    made = []
    for threads in (32, 64, 96, 128, 192, 256, 384, 512, 768, 1024):
        for name in ("gpu_1d", "gpu_2d"):
            each = row(name, backend, block_threads=threads)
            made.append(synthetic.timed(each, median_of(name, 10**5, 10**5) + threads / 100))
    return made


def memory(backend):
    variants = ("naive", "gpu_1d", "gpu_2d", "tuned_2d", "tensor", "automatic")
    return squares(backend, variants, (10**3, 10**4, 10**5, 2 * 10**5, 10**6))


def claims(backend):
    return squares(backend, ("automatic", "naive", *HOST), (10**3, 10**4, 10**5, 10**6))


def cases(backend):
    kinds = [{"formula": "log_gaussian", "reduction": "log_sum_exp", "m": 10**6, "n": 10**6}]
    kinds += [{"formula": "squared_distance", "reduction": "argmin", "m": 10**6, "n": 10**6}]
    kinds += [{"formula": "squared_distance", "reduction": "argkmin"}, {"d": 64}, {"d": 10}]
    kinds += [{"formula": "laplacian"}, {"formula": "inner_product"}, {"number": "float64"}]
    kinds += [{"formula": "energy_distance", "reduction": "sum", "m": 10**3, "n": 10**6}]
    variants = ("automatic", "gpu_1d", "keops_1d")
    made = [row(name, backend, **kind) for kind in kinds for name in variants]
    return [*made, row("triton", backend, d=64), row("triton", backend, d=10)]


def accuracy(backend):
    made = []
    for n in (10**3, 10**4, 10**5, 10**6, 10**7):
        ways = [(name, way) for name in ("gpu_1d", "tuned_1d") for way in ERRORS]
        ways += [("automatic", "block"), ("tensor", "block"), ("keops_1d", "plain")]
        made += [row(name, backend, way, m=1000, n=n) for name, way in ways]
    return made


ROWS = {"published": published, "variants": variants, "block_size": block_size}
ROWS |= {"memory": memory, "claims": claims, "cases": cases, "accuracy": accuracy}


def read(folder, experiment, backend="cuda", rows=None):
    rows = ROWS[experiment](backend) if rows is None else rows
    return figure_checks.read(folder, "map_reduce", experiment, rows, backend)


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

    yield of
    style.plt.close("all")


@pytest.mark.parametrize("spec", FIGURES, ids=lambda spec: spec.name)
def test_every_figure_is_drawn(tmp_path, spec):
    figure_checks.is_drawn(spec, read(tmp_path, spec.experiment), tmp_path)


@pytest.mark.parametrize("spec", FIGURES, ids=lambda spec: spec.name)
def test_nothing_is_drawn_from_the_emulated_backend(tmp_path, spec):
    figure_checks.is_refused_without_a_gpu(spec, read(tmp_path, spec.experiment, "emulated"))


@pytest.mark.parametrize("spec", FIGURES, ids=lambda spec: spec.name)
def test_missing_peers_are_tolerated(tmp_path, spec):
    rows = [made for made in ROWS[spec.experiment]("cuda") if made["role"] != "peer"]
    figure_checks.is_drawn(spec, read(tmp_path, spec.experiment, rows=rows), tmp_path)


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


def test_claims_are_times_over_autos_time(draw):
    drawn = draw("claims")
    texts = texts_of(drawn)
    for variant in ("naive", "cpu", "cpu_openmp"):
        expected = median_of(variant, 10**4, 10**4) / median_of("automatic", 10**4, 10**4)
        assert (f"{expected:,.0f}x" if expected >= 100 else f"{expected:.2g}x") in texts
    assert texts.count("does\nnot fit") == 1
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
    assert len(axes.patches) == 9 * 3 + 2


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
