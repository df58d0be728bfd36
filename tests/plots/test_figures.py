"""What the figures of every technique must do, whatever they show; and what all share."""

import re
from functools import cache

import archive as archives
import figure
import figure_checks
import pytest
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
    for said in (synthetic.GPU, synthetic.COMMIT[:12], "2000-01-02", "p10 to p90"):
        assert said in found
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
