"""The figures of biased_binary_search, from made-up archives of its configurations' shape."""

import archive as archives
import figure
import figure_checks
import pytest
import style
import synthetic

FIGURES = figure.figures_of("biased_binary_search")


def row(variant, backend, levels=4, **params):
    point = {"n": 10**8, "run_length": 10, "searches": 2**20, "positions": "random"}
    point |= {"seed": 42, "levels": levels} | params
    made = synthetic.row("single_pass", backend)
    made |= {"variant": variant, "params": point, "bytes_min": 8 * point["searches"]}
    if variant != "thrust":
        made["counters"] = {"probes_per_search": 25.0 - 3 * levels * (variant == "biased")}
    return made


def rows(backend, **params):
    made = [row("biased", backend, levels, **params) for levels in (1, 2, 3, 4)]
    return made + [row(variant, backend, **params) for variant in ("plain", "thrust")]


def run_length(backend):
    return [made for run in (1, 1000, 10**6) for made in rows(backend, run_length=run)]


def array_size(backend):
    return [made for n in (10**3, 10**6, 10**9) for made in rows(backend, n=n)]


def worked_example(backend):
    return rows(backend, n=5_000_001, positions="end")


ROWS = {"run_length": run_length, "array_size": array_size, "worked_example": worked_example}


def read(folder, experiment, backend="cuda"):
    rows = ROWS[experiment](backend)
    return figure_checks.read(folder, "biased_binary_search", experiment, rows, backend)


@pytest.mark.parametrize("spec", FIGURES, ids=lambda spec: spec.name)
def test_every_figure_is_drawn(tmp_path, spec):
    figure_checks.is_drawn(spec, read(tmp_path, spec.experiment), tmp_path)


@pytest.mark.parametrize("spec", FIGURES, ids=lambda spec: spec.name)
def test_nothing_is_drawn_from_the_emulated_backend(tmp_path, spec):
    figure_checks.is_refused_without_a_gpu(spec, read(tmp_path, spec.experiment, "emulated"))


def test_probes_are_those_of_the_archive(tmp_path):
    spec = next(spec for spec in FIGURES if spec.experiment == "run_length")
    drawn = spec.draw(read(tmp_path, "run_length"))
    lines = {line.get_label(): list(line.get_ydata()) for line in drawn.axes[0].get_lines()}
    assert lines["4 levels (source)"] == [13.0] * 3
    assert lines["halves alone"] == [25.0] * 3
    assert "Thrust: lower bound" not in lines
    style.plt.close(drawn)


def test_a_counter_that_is_no_number_is_an_error(tmp_path):
    made = run_length("cuda")
    made[0]["counters"] = {"probes_per_search": "many"}
    content = synthetic.archive("run_length", made, "cuda", technique="biased_binary_search")
    path = synthetic.write(tmp_path, content)
    with pytest.raises(archives.ArchiveError, match=r"counters\.probes_per_search is a text"):
        archives.load(path)
