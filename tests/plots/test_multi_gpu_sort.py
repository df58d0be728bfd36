"""What the figures of multi_gpu_sort show, from made-up archives."""

import archive as archives
import figure
import figure_checks
import pytest
import synthetic

import configs

TECHNIQUE = "multi_gpu_sort"


@pytest.fixture
def draw(tmp_path):
    return figure_checks.drawer(TECHNIQUE, tmp_path)


def panels(drawn) -> list[str]:
    return [axes.get_title(loc="left") for axes in drawn.axes if axes.get_title(loc="left")]


def test_each_number_of_gpus_has_a_panel(draw):
    assert panels(draw("speedup")) == ["1 GPU", "2 GPUs", "3 GPUs", "4 GPUs"]
    assert panels(draw("distributions")) == ["1 GPU", "2 GPUs"]


def test_one_gpu_has_the_peers_beside_it(draw):
    first = {line.get_label() for line in draw("speedup").axes[0].get_lines()}
    assert {"radix_exchange", "CUB radix sort, one GPU", "CUB merge sort, one GPU"} <= first


def test_steps_are_those_of_two_gpus(draw):
    drawn = draw("steps")
    assert "on 2 GPUs" in drawn._suptitle.get_text()
    assert {row.params["devices"] for row in figure_checks.rows_in(drawn)} == {2}
    assert [tick.get_text() for tick in drawn.axes[0].get_yticklabels()] == [
        "sort",
        "split",
        "exchange",
        "merge",
    ]


def test_no_rate_is_above_the_panels(draw):
    for axes in draw("speedup").axes:
        values = [point.middle for artist in figure_checks.values_in(axes) for point in artist.points]
        assert 0 < max(values) < axes.get_ylim()[1]


def test_speedups_are_over_the_same_variant_on_one_gpu(draw):
    drawn = draw("scaling")
    assert panels(drawn) == [f"$2^{{{exponent}}}$ keys" for exponent in (20, 22, 24, 26, 28, 30)]
    for axes in drawn.axes:
        for artist in figure_checks.values_in(axes):
            assert (artist.points[0].x, artist.points[0].middle) == (1, 1)
            for point in artist.points:
                one, several = point.rows
                assert one.params | {"devices": point.x} == several.params
                assert point.middle == one.timing.median / several.timing.median


def test_what_the_source_claims_is_beside_the_speedups(tmp_path):
    rows = figure_checks.rows_of(TECHNIQUE, "speedup")
    content = synthetic.archive("speedup", rows, "cuda", technique=TECHNIQUE)
    expected = configs.read(f"{TECHNIQUE}/speedup.json")["expected"]
    claims = [each for each in expected if each["kind"] == "claim"]
    content["verdicts"] = [
        each | {"measured": 1.0, "at": each["where"], "verdict": "REPRODUCED"} for each in claims
    ]
    archive = archives.load(synthetic.write(tmp_path / "in", content))
    (spec,) = (spec for spec in figure.figures_of(TECHNIQUE) if spec.name.endswith("scaling"))
    of = {
        axes.get_title(loc="left"): list(line.get_ydata())
        for axes in spec.draw(archive).axes
        for line in axes.get_lines()
        if line.get_label() == "Tanasic et al., 2013 (source)"
    }
    assert of == {"$2^{28}$ keys": [1.9, 3.3]}


def test_exchanges_are_shares_of_the_measured_links(draw):
    drawn = draw("links")
    assert panels(drawn) == ["2 GPUs", "3 GPUs", "4 GPUs"]
    for gpus, axes in zip((2, 3, 4), drawn.axes, strict=True):
        said = f"measured all to all: {380 - gpus} GB/s out of each"
        assert [text.get_text() for text in axes.texts] == [said]
        variants = set()
        for artist in figure_checks.values_in(axes):
            for point in artist.points:
                (row,) = point.rows
                moved = point.x * 4 * 0.5 / gpus
                rate = moved / row.counters["exchange_ms"] / 1e6
                assert point.middle == pytest.approx(100 * rate / (380 - gpus))
                variants.add((row.variant, row.params["exchange"]))
        swaps = {("swap_merge", "copy"), ("swap_merge", "direct")} if gpus == 2 else set()
        assert variants == swaps | {("splitter_merge", "copy"), ("radix_exchange", "direct")}


@pytest.mark.parametrize("measured", [None, {"not_measured": "no memory"}])
def test_no_share_is_drawn_of_links_that_were_not_measured(tmp_path, measured):
    rows = figure_checks.rows_of(TECHNIQUE, "speedup")
    content = synthetic.archive("speedup", rows, "cuda", technique=TECHNIQUE)
    if measured:
        content["links"] = measured
    archive = archives.load(synthetic.write(tmp_path / "in", content))
    (spec,) = (spec for spec in figure.figures_of(TECHNIQUE) if spec.name.endswith("links"))
    with pytest.raises(archives.NothingToDraw, match="no exchange and measured link"):
        spec.draw(archive)


def test_types_have_a_figure_for_each_n(tmp_path):
    """So whatever is lost at either is in one."""
    rows = figure_checks.rows_of(TECHNIQUE, "types")
    archive = figure_checks.read(tmp_path, TECHNIQUE, "types", rows)
    specs = [spec for spec in figure.figures_of(TECHNIQUE) if spec.experiment == "types"]
    drawn = [row for spec in specs for row in figure_checks.rows_in(spec.draw(archive))]
    assert {(row.variant, row.problem) for row in drawn} == {
        (row.variant, row.problem) for row in archive.rows
    }


def test_virtual_devices_have_a_panel_for_each_n(tmp_path):
    rows = figure_checks.rows_of(TECHNIQUE, "virtual_devices")
    rows += [row | {"params": row["params"] | {"n": 2**20}} for row in rows]  # as in profile full
    archive = figure_checks.read(tmp_path, TECHNIQUE, "virtual_devices", rows)
    (spec,) = (s for s in figure.figures_of(TECHNIQUE) if s.experiment == "virtual_devices")
    assert panels(spec.draw(archive)) == ["$2^{20}$ keys", "$2^{24}$ keys"]


def test_host_memory_is_sorted_beside_copies_of_it(draw):
    drawn = draw("host_input")
    assert panels(drawn) == ["1 GPU", "2 GPUs"]
    names = [tick.get_text() for tick in drawn.axes[0].get_yticklabels()]
    assert names[:2] == ["in all memory,\n$2^{28}$ keys", "in 1 GiB a GPU,\n$2^{28}$ keys"]
    for axes in drawn.axes:
        rows = [p.rows[0] for artist in figure_checks.values_in(axes) for p in artist.points]
        sizes = {
            variant: [row.params["n"] for row in rows if row.variant == variant]
            for variant in ("host_sort", "copy_only")
        }
        # The same copies beside the sorts in each limit of memory.
        assert sizes["host_sort"] == sizes["copy_only"]
        assert len(sizes["host_sort"]) == len(names)


@pytest.mark.parametrize("name", ["speedup", "distributions", "virtual_devices", "host_input", "ranks"])
def test_every_point_is_in_the_figure_of_its_configuration(tmp_path, name):
    """Whatever is lost is then in one, too."""
    rows = figure_checks.rows_of(TECHNIQUE, name)
    archive = figure_checks.read(tmp_path, TECHNIQUE, name, rows)
    spec = next(spec for spec in figure.figures_of(TECHNIQUE) if spec.name.endswith(name))
    drawn = {(row.variant, row.problem) for row in figure_checks.rows_in(spec.draw(archive))}
    assert drawn == {(row.variant, row.problem) for row in archive.rows}
