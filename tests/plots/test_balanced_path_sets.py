"""The figures of balanced_path_sets, from made-up archives of its configurations' shape."""

import itertools

import figure
import figure_checks
import pytest
import style
import synthetic

FIGURES = figure.figures_of("balanced_path_sets")
# Invented: share of the copy bandwidth at large n.
SPEEDS = {"single_pass": 0.6, "compact": 0.2, "count_scan_stream": 0.15, "thrust": 0.35}
OPERATIONS = ("intersection", "union", "difference", "symmetric_difference")
TYPES = (("i32", "off"), ("i32", "on"), ("i64", "off"), ("i64", "on"))


def row(variant, backend, **params):
    point = {"n": 10**6, "a_percent": 50, "key": "i32", "values": "off", "distribution": "doc"}
    point |= {"seed": 42, "operation": "intersection"} | params
    made = synthetic.row("single_pass", backend, n=point["n"])
    size = 4 if point["key"] == "i32" else 8
    made |= {"variant": variant, "params": point, "bytes_min": 2 * size * point["n"]}
    made["role"] = "peer" if variant == "thrust" else "technique"
    if variant == "thrust":
        made["runs"] = "gpu"
    return synthetic.timed(
        made, 0.01 + made["bytes_min"] / (SPEEDS[variant] * synthetic.COPY_GB_PER_S * 1e6)
    )


def throughput(backend):
    rows = [
        row(variant, backend, n=2 * 10**8, key=key, values=values, operation=operation)
        for variant, (key, values), operation in itertools.product(SPEEDS, TYPES, OPERATIONS)
    ]
    return rows + [
        row(variant, backend, n=n, operation=operation)
        for variant, operation, n in itertools.product(SPEEDS, OPERATIONS, (10**6, 10**7, 10**8))
    ]


def distributions(backend):
    kinds = [("doc", 50), ("few", 50), ("unique", 50), ("heavy1000", 50), ("huge16", 50)]
    return [
        row(variant, backend, n=n, operation=operation, distribution=kind, a_percent=percent)
        for variant, (kind, percent), operation, n in itertools.product(
            ("single_pass", "thrust"), [*kinds, ("doc", 99)], OPERATIONS, (10**6, 10**7, 2 * 10**8)
        )
    ]


def published(backend):
    return [
        row(variant, backend, n=n, key=key, values=values, operation=operation)
        for variant, (key, values), operation, n in itertools.product(
            ("single_pass", "count_scan_stream", "thrust"), TYPES, OPERATIONS, (10**4, 10**6)
        )
    ]


ROWS = {"throughput": throughput, "distributions": distributions, "published": published}


def read(folder, experiment, backend="cuda"):
    rows = ROWS[experiment](backend)
    return figure_checks.read(folder, "balanced_path_sets", experiment, rows, backend)


@pytest.mark.parametrize("spec", FIGURES, ids=lambda spec: spec.name)
def test_every_figure_is_drawn(tmp_path, spec):
    figure_checks.is_drawn(spec, read(tmp_path, spec.experiment), tmp_path)


@pytest.mark.parametrize("spec", FIGURES, ids=lambda spec: spec.name)
def test_nothing_is_drawn_from_the_emulated_backend(tmp_path, spec):
    figure_checks.is_refused_without_a_gpu(spec, read(tmp_path, spec.experiment, "emulated"))


def test_every_published_table_is_beside_ours(tmp_path):
    spec = next(spec for spec in FIGURES if spec.experiment == "published")
    drawn = spec.draw(read(tmp_path, "published"))
    assert len(drawn.axes) == 16
    for axes in drawn.axes:
        sizes = {line.get_label(): len(line.get_xdata()) for line in axes.get_lines()}
        assert sizes["GTX Titan, 2013"] == 10
        assert sizes["GTX 480, 2013"] == 10
        assert sizes["single_pass"] == 2
    style.plt.close(drawn)


def test_the_inputs_of_99_to_1_are_a_line_of_their_own(tmp_path):
    spec = next(spec for spec in FIGURES if spec.experiment == "distributions")
    drawn = spec.draw(read(tmp_path, "distributions"))
    labels = [line.get_label() for line in drawn.axes[0].get_lines()]
    assert len([label for label in labels if not label.startswith("_")]) == 6
    style.plt.close(drawn)
