"""What the figures of warp_compaction show, from made-up archives."""

import archive as archives
import figure
import pytest
import style
import synthetic

TECHNIQUE = "warp_compaction"
FIGURES = figure.figures_of(TECHNIQUE)


def read(tmp_path, content):
    return archives.load(synthetic.write(tmp_path / "in", content | {"technique": TECHNIQUE}))


def drawn_lines(drawn) -> list:
    """The data lines of a figure: those with markers."""
    lines = (line for axes in drawn.axes for line in axes.get_lines())
    return [line for line in lines if line.get_marker() not in ("None", None, "")]


def texts(drawn) -> str:
    drawn.canvas.draw()
    return "\n".join(text.get_text() for text in drawn.findobj(style.matplotlib.text.Text))


def test_throughput_draws_what_was_measured(tmp_path):
    archive = read(tmp_path, synthetic.throughput())
    drawn = FIGURES[0].draw(archive)
    panel = next(axes for axes in drawn.axes if axes.get_title(loc="left") == "select_if")
    for line in drawn_lines(drawn):
        assert list(line.get_xdata()) == synthetic.SIZES
    cub = next(line for line in panel.get_lines() if line.get_label() == "CUB")
    expected = [synthetic.row("cub", n=n)["gb_per_s"] for n in synthetic.SIZES]
    assert list(cub.get_ydata()) == pytest.approx(expected)
    assert any(set(line.get_ydata()) == {synthetic.COPY_GB_PER_S} for line in panel.get_lines())


def test_an_operation_without_peer_has_no_peer_line(tmp_path):
    drawn = FIGURES[0].draw(read(tmp_path, synthetic.throughput()))
    panel = next(axes for axes in drawn.axes if axes.get_title(loc="left") == "remove_duplicates")
    assert "CUB" not in [line.get_label() for line in panel.get_lines()]


def test_selectivity_is_drawn_at_the_largest_n(tmp_path):
    spec = next(spec for spec in FIGURES if spec.name.endswith("selectivity"))
    drawn = spec.draw(read(tmp_path, synthetic.throughput()))
    titles = [axes.get_title(loc="left") for axes in drawn.axes]
    assert titles[:2] == ["select_if, n = $2^{28}$", "select_flagged, n = $2^{28}$"]
    expected = [
        synthetic.row("single_pass", n=2**28, selectivity=kept)["gb_per_s"]
        for kept in (0.0, 0.1, 0.5, 0.9, 1.0)
    ]
    line = next(line for line in drawn_lines(drawn) if line.get_label() == "single_pass")
    assert list(line.get_ydata()) == pytest.approx(expected)


def test_selectivity_is_drawn_where_it_was_swept(tmp_path):
    """The largest n may have been run at one selectivity only."""
    content = synthetic.throughput()
    content["rows"] = [
        row
        for row in content["rows"]
        if row["params"]["n"] != 2**28 or row["params"]["selectivity"] == 0.5
    ]
    spec = next(spec for spec in FIGURES if spec.name.endswith("selectivity"))
    drawn = spec.draw(read(tmp_path, content))
    assert drawn.axes[0].get_title(loc="left") == "select_if, n = $2^{24}$"


def test_selectivity_is_drawn_of_each_operation_at_its_own_largest_n(tmp_path):
    """An operation that was run at smaller n only is not left out."""
    content = synthetic.throughput()
    content["rows"] = [
        row
        for row in content["rows"]
        if row["params"]["operation"] != "remove_duplicates" or row["params"]["n"] <= 2**20
    ]
    spec = next(spec for spec in FIGURES if spec.name.endswith("selectivity"))
    panels = spec.draw(read(tmp_path, content)).axes
    assert panels[0].get_title(loc="left") == "select_if, n = $2^{28}$"
    assert panels[4].get_title(loc="left") == "remove_duplicates, n = $2^{20}$"


def test_the_aims_stand_beside_what_was_measured(tmp_path):
    content = synthetic.throughput()
    where = {"operation": "remove_duplicates", "n": 2**28, "variant": "single_pass"}
    aim = content["verdicts"][0] | {"metric": "time_ms", "where": where, "at_most": 0.5}
    content["verdicts"] = [aim | {"at_least": None, "baseline": {}}]
    spec = next(spec for spec in FIGURES if spec.name.endswith("selectivity"))
    panels = spec.draw(read(tmp_path, content)).axes
    (line,) = (each for each in panels[4].get_lines() if "aim" in each.get_label())
    kept = [0.0, 0.1, 0.5, 0.9, 1.0]
    assert list(line.get_xdata()) == kept
    assert list(line.get_ydata()) == pytest.approx(
        [4 * 2**28 * (1 + share) / 0.5e6 for share in kept], rel=1e-6
    )
    assert not any("aim" in each.get_label() for each in panels[0].get_lines())


def test_a_panel_far_below_the_ceiling_has_its_own_scale(tmp_path):
    content = synthetic.throughput()
    for row in content["rows"]:
        if row["params"]["operation"] == "remove_duplicates":
            synthetic.timed(row, row["bytes_min"] / (0.1 * synthetic.COPY_GB_PER_S * 1e6))
    panels = FIGURES[0].draw(read(tmp_path, content)).axes
    assert panels[4].get_ylim()[1] == pytest.approx(1.25 * 0.1 * synthetic.COPY_GB_PER_S)
    assert "own scale" in panels[4].texts[0].get_text()
    assert {axes.get_ylim() for axes in panels[:4]} == {panels[0].get_ylim()}
    assert panels[0].get_ylim()[1] > synthetic.COPY_GB_PER_S


def test_coalescing_is_the_throughput_with_over_without(tmp_path):
    spec = next(spec for spec in FIGURES if spec.name.endswith("coalescing"))
    content = synthetic.coalescing()
    for row in content["rows"]:
        median = 1.0 if row["params"]["coalescing"] == "on" else 1.25
        row["time_ms"].update(median=median, min=median, p10=median, p90=median)
    lines = drawn_lines(spec.draw(read(tmp_path, content)))
    assert len(lines) == 8, "two variants in each of four panels"
    for line in lines:
        assert list(line.get_ydata()) == pytest.approx([1.25] * len(synthetic.SIZES))


def test_coalescing_without_the_other_half_is_left_out(tmp_path):
    content = synthetic.coalescing()
    content["rows"] = [row for row in content["rows"] if row["params"]["coalescing"] == "on"]
    drawn = figure.draw_all(read(tmp_path, content), tmp_path / "out")
    assert [each.svg for each in drawn] == [None]
    assert "both on and off" in drawn[0].why_not


def test_speedup_is_cubs_time_over_ours(tmp_path):
    spec = next(spec for spec in FIGURES if spec.name == "warp_compaction_speedup")
    drawn = spec.draw(read(tmp_path, synthetic.throughput()))
    titles = [axes.get_title(loc="left") for axes in drawn.axes]
    assert titles[:4] == ["select_if", "select_flagged", "unique", "unique_by_key"]
    line = next(line for line in drawn.axes[0].get_lines() if line.get_label() == "50 % kept")
    times = {
        variant: [synthetic.row(variant, n=n)["time_ms"]["median"] for n in synthetic.SIZES]
        for variant in ("cub", "single_pass")
    }
    ratios = [cub / ours for cub, ours in zip(*times.values(), strict=True)]
    assert list(line.get_ydata()) == pytest.approx(ratios)


def test_failed_and_skipped_points_are_not_drawn(tmp_path):
    content = synthetic.passes()
    for row in content["rows"]:
        if row["params"]["n"] == 2**24:
            row.update(time_ms=None, verified="failed", error="element 7 differs")
        if row["params"]["n"] == 2**28:
            row.update(time_ms=None, verified="not_verified", skipped="does not fit")
    drawn = FIGURES[-1].draw(read(tmp_path, content))
    for line in drawn_lines(drawn):
        assert list(line.get_xdata()) == [2**16, 2**20]


def test_without_a_ceiling_none_is_drawn(tmp_path):
    drawn = FIGURES[-1].draw(read(tmp_path, synthetic.passes() | {"ceilings": {}}))
    assert "measured copy" not in texts(drawn)


def test_a_partial_archive_is_drawn_without_what_is_missing(tmp_path):
    content = synthetic.passes() | {"complete": False}
    content["rows"] = [
        row
        for row in content["rows"]
        if not (row["variant"] == "two_pass_copy" or row["params"]["n"] == 2**28)
    ]
    drawn = figure.draw_all(read(tmp_path, content), tmp_path / "out")
    assert drawn[0].svg.exists()


def test_records_are_compared_size_by_size(tmp_path):
    """A panel for each size of the input and offset; numbers are aligned to their size."""
    spec = next(spec for spec in FIGURES if spec.name.endswith("records"))
    drawn = spec.draw(read(tmp_path, synthetic.records()))
    titles = [axes.get_title(loc="left") for axes in drawn.axes]
    assert titles[:2] == ["600 MB", "12 MB"]
    assert titles[2:] == [f"{mb} MB, offset of the arrays: 1 (elements)" for mb in (600, 12)]
    labels = [label.get_text() for label in drawn.axes[0].get_xticklabels()]
    assert labels == ["1 / 1", "12 / 1", "12 / 4", "20 / 4"]
    assert [label.get_text() for label in drawn.axes[2].get_xticklabels()] == ["4 / 4", "12 / 4"]
