"""What the figures of every technique must do, and what they share."""

import re
from dataclasses import replace
from functools import cache
from itertools import combinations
from types import SimpleNamespace

import archive as archives
import figure
import figure_checks
import pytest
import seen
import style
import synthetic
from matplotlib.image import imread

import configs

SPECS = [
    (technique, spec)
    for technique in figure_checks.TECHNIQUES
    for spec in figure.figures_of(technique)
]
every_figure = pytest.mark.parametrize(
    ("technique", "spec"), SPECS, ids=[spec.name for _, spec in SPECS]
)
rows_of = cache(figure_checks.rows_of)


def read(folder, technique, spec, backend="cuda"):
    rows = rows_of(technique, spec.experiment, backend)
    return figure_checks.read(folder, technique, spec.experiment, rows, backend)


def texts(drawn) -> str:
    return "\n".join(text.get_text() for text in drawn.findobj(style.matplotlib.text.Text))


@every_figure
def test_is_drawn_and_says_of_what(tmp_path, technique, spec):
    drawn = spec.draw(read(tmp_path, technique, spec))
    found = texts(drawn)
    for said in (synthetic.GPU, synthetic.COMMIT[:12], "2000-01-02"):
        assert said in found
    assert ("p10 to p90" in found) == any(map(style.has_spread, drawn.axes))
    assert figure_checks.faults(drawn) == []
    svg, png = style.save(drawn, tmp_path / "out" / spec.name)
    assert svg.read_text().rstrip().endswith("</svg>")
    picture = imread(png)
    assert min(picture.shape[:2]) > 300
    assert picture[..., :3].std() > 0.02, "the picture is blank"


@every_figure
def test_is_refused_of_the_emulated_backend(tmp_path, technique, spec):
    archive = read(tmp_path, technique, spec, "emulated")
    with pytest.raises(archives.NothingToDraw, match="timed on a GPU"):
        spec.draw(archive)


@every_figure
def test_peers_may_be_missing(tmp_path, technique, spec):
    """The figure is drawn without them, or it says that it compares with them."""
    rows = [row for row in rows_of(technique, spec.experiment) if row["role"] != "peer"]
    archive = figure_checks.read(tmp_path, technique, spec.experiment, rows)
    try:
        assert spec.draw(archive).axes
    except archives.NothingToDraw as reason:
        assert re.search("beside it|to compare with", str(reason))


@pytest.mark.parametrize("technique", figure_checks.TECHNIQUES)
def test_every_configuration_s_figure_is_drawn_from_it(technique):
    specs = figure.figures_of(technique)
    assert len({spec.name for spec in specs}) == len(specs)
    for name in configs.NAMES:
        config = configs.read(name)
        if name.startswith(f"{technique}/") and "figure" in config:
            fed = [spec.name for spec in specs if spec.experiment == config["experiment"]]
            assert config["figure"] in fed


ARCHIVED = [
    path
    for path in sorted(configs.ROOT.glob("results/*/*.*.json"))
    if path.parent.name != "runs" and path.name.split(".")[0] in figure_checks.TECHNIQUES
]


@pytest.mark.parametrize("path", ARCHIVED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_archived_results_make_figures_without_faults_that_show_every_loss(path):
    archive = archives.load(path)
    specs = figure.figures_of(archive.technique)
    drawn = [spec.draw(archive) for spec in specs if spec.experiment == archive.experiment]
    assert [fault for each in drawn for fault in figure_checks.faults(each)] == []
    if drawn:
        assert figure_checks.undrawn_losses(archive, drawn) == []


def sample(folder, content):
    """The figure of an archive of passes of the technique `sample`."""
    spec = figure.figures_of(synthetic.TECHNIQUE)[-1]
    return spec.draw(archives.load(synthetic.write(folder / "in", content)))


@pytest.mark.parametrize(
    ("launches", "expected"),
    [((1, 1), None), ((20, 20), "20 launches a sample"), ((1, 20), "1 to 20 launches a sample")],
)
def test_the_footer_names_launches_where_there_are_several(tmp_path, launches, expected):
    content = synthetic.passes()
    for place, row in enumerate(content["rows"]):
        row |= {"cache": "warm", "launches": launches[place % 2]}
    found = texts(sample(tmp_path, content))
    if expected is None:
        assert "launches" not in found
    else:
        assert f"warm L2  ·  {expected}" in found.replace("\n", "  ·  ")


def test_the_same_archive_gives_the_same_svg(tmp_path):
    archive = archives.load(synthetic.write(tmp_path / "in", synthetic.passes()))
    first, second = (figure.draw_all(archive, tmp_path / name)[0] for name in ("a", "b"))
    assert first.svg.read_bytes() == second.svg.read_bytes()


def test_a_technique_without_plot_script_has_no_figures():
    assert figure.figures_of("no_such_technique") == []


@pytest.mark.parametrize(("value", "text"), [(65536, "$2^{16}$"), (1, "$2^{0}$"), (100, "100")])
def test_powers_of_two_are_written_as_such(value, text):
    assert style.power_of_two(value) == text


def test_a_loss_that_no_figure_shows_is_found(tmp_path):
    content = synthetic.passes()
    for made in content["rows"]:
        if made["variant"] == "cub" and made["params"]["n"] == 2**24:
            synthetic.timed(made, 1e-3)
    archive = archives.load(synthetic.write(tmp_path / "in", content))
    shown = figure.figures_of(synthetic.TECHNIQUE)[-1].draw(archive)
    assert figure_checks.undrawn_losses(archive, [shown]) == []
    found = figure_checks.undrawn_losses(archive, [])
    assert [text.split(" at ")[0] for text in found] == ["sample/passes: single_pass"] + [
        "sample/passes: cub"
    ]
    content["verdicts"] = synthetic.coalescing()["verdicts"]
    content["verdicts"][0] |= {"at": {"variant": "two_pass_copy", "n": 2**28}}
    archive = archives.load(synthetic.write(tmp_path / "in", content))
    assert len(figure_checks.undrawn_losses(archive, [])) == 3


# ---------------------------------------------------------------- what no figure may do


def test_the_palette_is_told_apart_by_every_reader():
    for one, two in combinations(style.PALETTE, 2):
        least, view = seen.apart(one, two)
        assert least >= figure_checks.TOLD_APART, f"{one} and {two} {view}"


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        # Pairs of Sharma, Wu and Dalal's table 1: 1, 7, 13, 17, 20, 34.
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 0, 0), (50, -1, 2), 2.3669),
        ((50, 2.49, -0.001), (50, -2.49, 0.0011), 7.2195),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((50, 2.5, 0), (58, 24, 15), 19.4535),
        ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_differences_are_those_of_the_formula_s_authors(one, two, expected):
    for pair in ((one, two), (two, one)):
        assert seen.ciede2000(*pair) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("one", "two", "view"),
    [
        ("#C00000", "#6B6B00", "with protanopia"),
        ("#C00000", "#7A7A00", "with deuteranopia"),
        ("#0072B2", "#6E6E6E", "in grey"),
    ],
)
def test_who_confuses_what(one, two, view):
    """Red and olive, blue and grey: far apart in colour, and not in that view."""
    assert seen.ciede2000(seen.lab(one), seen.lab(two)) > 3 * seen.ciede2000(
        seen.lab(one, view), seen.lab(two, view)
    )


BLUE, GREY = (style.Look(name, color) for name, color in (("a", style.STRONG), ("b", style.PEER)))
NEAR_BLUE = style.Look("near", "#005592")


def panel(*of, draw=style.line):
    """A panel with a line, or a bar, of each look."""
    drawn, (axes,) = style.new_figure(1)
    for place, (look, role) in enumerate(of):
        row = SimpleNamespace(variant="v", role=role, params={"n": 1})
        point = style.Point(place, 1.0, rows=(row,))
        draw(axes, [point], look) if draw is style.line else draw(axes, 1, point, look)
    return axes


@pytest.mark.parametrize(
    ("two", "draw", "faults"),
    [
        (replace(GREY, marker="s"), style.line, 0),
        (GREY, style.line, 1),
        (replace(NEAR_BLUE, marker="s", dashes=":"), style.line, 1),
        (replace(GREY, hatch="//"), style.bar, 0),
        (GREY, style.bar, 1),
        (replace(NEAR_BLUE, hatch="//"), style.bar, 1),
    ],
)
def test_a_peer_differs_from_ours_in_colour_and_in_shape(two, draw, faults):
    axes = panel((BLUE, "technique"), (two, "peer"), draw=draw)
    assert len(figure_checks.alike(axes)) == faults


@pytest.mark.parametrize(
    ("two", "draw", "faults"),
    [
        (replace(GREY, marker="s"), style.line, 0),
        (replace(NEAR_BLUE, marker="s", dashes=":"), style.line, 0),
        (replace(NEAR_BLUE, marker="s"), style.line, 1),
        (GREY, style.line, 1),
        (GREY, style.bar, 0),
        (NEAR_BLUE, style.bar, 1),
        (style.Look("pale", "#EEEEEE", "s"), style.line, 1),
    ],
)
def test_variants_of_ours_differ_in_two_ways(two, draw, faults):
    axes = panel((BLUE, "technique"), (two, "technique"), draw=draw)
    assert len(figure_checks.alike(axes)) == faults


@pytest.mark.parametrize("letter", ["x", "y"])
def test_bars_on_a_logarithmic_axis_are_found(letter):
    axes = panel((BLUE, "technique"), draw=style.bar)
    assert figure_checks.bars_on_a_log_axis(axes) == []
    getattr(axes, f"set_{letter}scale")("log")
    assert len(figure_checks.bars_on_a_log_axis(axes)) == 1


@pytest.mark.parametrize(
    ("name", "is_named"),
    [
        ("time of one call (ms)", True),
        ("number of keys", True),
        ("probes (count)", True),
        ("time / single_pass (ratio)", True),
        ("time", False),
        ("", False),
    ],
)
def test_axes_have_names_with_units(name, is_named):
    axes = panel((BLUE, "technique"))
    axes.set_xlabel("number of keys")
    axes.set_ylabel(name)
    assert (figure_checks.unnamed_axes([axes]) == []) == is_named


def test_an_axis_of_words_needs_a_name_only():
    axes = panel((BLUE, "technique"))
    axes.set_ylabel("time (ms)")
    axes.set_xlabel("set operation")
    axes.set_xticks([0, 1], ["union", "difference"])
    assert figure_checks.unnamed_axes([axes]) == []
    axes.set_xlabel("")
    assert len(figure_checks.unnamed_axes([axes])) == 1


def test_counts_have_no_spread():
    axes = panel()
    style.bar(axes, 1, style.Point(0, 2.0, 1.0, 3.0), BLUE)
    axes.set_ylabel("time (ms)")
    assert figure_checks.spreads_of_counts(axes) == []
    axes.set_ylabel("probes (count)")
    assert len(figure_checks.spreads_of_counts(axes)) == 1


def test_a_text_out_of_the_picture_is_found():
    axes = panel((BLUE, "technique"))
    assert figure_checks.clipped_texts(axes.figure) == []
    axes.text(50, 1, "far away", in_layout=False)
    assert figure_checks.clipped_texts(axes.figure) == ["'far away' is clipped"]


def test_a_line_joins_points_that_differ_in_x_alone(tmp_path):
    archive = archives.load(synthetic.write(tmp_path / "in", synthetic.passes()))
    rows = archives.where(archive.gpu_rows(), variant="single_pass")
    other = archives.where(archive.gpu_rows(), variant="cub")
    axes = panel()
    style.line(axes, [style.timed(row.params["n"], row) for row in rows], BLUE, ("n",))
    with pytest.raises(archives.ArchiveError, match="differ in n: choose one value"):
        style.line(axes, [style.timed(row.params["n"], row) for row in rows], BLUE, ("seed",))
    with pytest.raises(archives.ArchiveError, match="differ in variant"):
        mixed = [style.timed(row.params["n"], row) for row in (rows[0], other[1])]
        style.line(axes, mixed, BLUE, ("n",))
    one, two = rows[0], replace(rows[1], params=rows[1].params | {"selectivity": 0.9})
    with pytest.raises(archives.ArchiveError, match="differ in selectivity"):
        style.lines(axes, [(BLUE, [one, two])], "n", lambda _, ms: ms)
